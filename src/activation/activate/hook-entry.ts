/** Adds one entry to the hooks in a settings file and removes it again. Everything else keeps its bytes. */
import { parseTree, plainValue, type JsonNode } from './json-tree.ts';

/** What is added: `hooks.EVENT` gets one more element. */
interface HookEntry {
  readonly event: string;
  readonly command: string;
  readonly timeout: number;
}

export interface TextInsertion {
  readonly text: string;
  /** The characters that were added, in one piece. */
  readonly inserted: string;
}

/** Inserts the entry behind the other hooks of its event. Throws SyntaxError if the text is not settings. */
export function addHookEntry(text: string, { event, command, timeout }: HookEntry): TextInsertion {
  const entry = { hooks: [{ type: 'command', command, timeout }] };
  const root = parseTree(text);
  const style = readStyle(text, root);
  const insert = (at: number, inserted: string): TextInsertion => ({
    text: `${text.slice(0, at)}${inserted}${text.slice(at)}`,
    inserted,
  });
  if (root === undefined)
    return insert(text.length, `${format({ hooks: { [event]: [entry] } }, 0, style)}${style.end}`);
  const hooks = memberOf(requireType(root, 'object', 'the settings'), 'hooks');
  if (hooks === undefined) return insert(...appendMember(root, ['hooks', { [event]: [entry] }], { level: 1, style }));
  const list = memberOf(requireType(hooks, 'object', 'hooks'), event);
  if (list === undefined) return insert(...appendMember(hooks, [event, [entry]], { level: 2, style }));
  return insert(...append(requireType(list, 'array', `hooks.${event}`), format(entry, 3, style), { level: 3, style }));
}

/** Removes the entries whose command is one of ours. The rest of the text stays, without a comma too many. */
export function removeHookEntry(
  text: string,
  { event, isOurs }: { readonly event: string; readonly isOurs: (command: string) => boolean },
): string {
  const root = parseTree(text);
  const hooks = root === undefined ? undefined : memberOf(root, 'hooks');
  const list = hooks === undefined ? undefined : memberOf(hooks, event);
  if (list?.type !== 'array') return text;
  const { items } = list;
  const isRemoved = items.map((item) => commandsOf(item).some(isOurs));
  const leading = isRemoved.includes(false) ? isRemoved.indexOf(false) : items.length;
  let rest = text;
  // From the end, so that positions before a cut stay valid. A cut takes the comma before it, at the start of the list the one behind it.
  for (let at = items.length - 1; at >= leading; at -= 1)
    if (isRemoved[at] === true) rest = cut(rest, items[at - 1]?.end, items[at]?.end);
  if (leading > 0) rest = cut(rest, items[0]?.start, items[leading]?.start ?? items[leading - 1]?.end);
  return rest;
}

function cut(text: string, start = 0, end = start): string {
  return `${text.slice(0, start)}${text.slice(end)}`;
}

/** Commands of hooks of an event. Throws SyntaxError. */
export function hookCommands(text: string, event: string): readonly string[] {
  const root = parseTree(text);
  const hooks = root === undefined ? undefined : memberOf(root, 'hooks');
  const list = hooks === undefined ? undefined : memberOf(hooks, event);
  return list?.type === 'array' ? list.items.flatMap(commandsOf) : [];
}

function commandsOf(item: JsonNode): readonly string[] {
  const own = memberOf(item, 'hooks');
  const hooks = own === undefined ? [] : plainValue(own);
  return Array.isArray(hooks) ? hooks.flatMap(commandOf) : [];
}

function commandOf(hook: unknown): readonly string[] {
  return typeof hook === 'object' && hook !== null && 'command' in hook && typeof hook.command === 'string'
    ? [hook.command]
    : [];
}

function memberOf(node: JsonNode, name: string): JsonNode | undefined {
  return node.type === 'object' ? node.members.findLast(({ key }) => key === name)?.value : undefined;
}

function requireType<T extends JsonNode['type']>(
  node: JsonNode,
  type: T,
  what: string,
): JsonNode & { readonly type: T } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type was compared
  if (node.type === type) return node as JsonNode & { readonly type: T };
  throw new SyntaxError(`${what} must be an ${type}`);
}

interface Style {
  /** Of one level; undefined for a text in one line. */
  readonly indent: string | undefined;
  readonly end: string;
}

function readStyle(text: string, root: JsonNode | undefined): Style {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  if (root === undefined) return { indent: '  ', end };
  if (!text.slice(root.start, root.end).includes('\n')) {
    const isEmpty = root.type === 'object' && root.members.length === 0;
    return { indent: isEmpty ? '  ' : undefined, end };
  }
  const first = root.type === 'object' ? root.members[0]?.start : undefined;
  const line = first === undefined ? '' : text.slice(text.lastIndexOf('\n', first) + 1, first);
  return { indent: /^[ \t]+$/.test(line) ? line : '  ', end };
}

function format(value: unknown, level: number, { indent, end }: Style): string {
  if (indent === undefined) return JSON.stringify(value);
  return JSON.stringify(value, undefined, indent).replaceAll('\n', `${end}${indent.repeat(level)}`);
}

function appendMember(
  node: JsonNode,
  [key, value]: readonly [string, unknown],
  { level, style }: Position,
): readonly [at: number, inserted: string] {
  const space = style.indent === undefined ? '' : ' ';
  return append(node, `${JSON.stringify(key)}:${space}${format(value, level, style)}`, { level, style });
}

interface Position {
  readonly level: number;
  readonly style: Style;
}

/** Where to insert another entry of an object or array, and the characters. */
function append(
  node: JsonNode,
  entry: string,
  { level, style: { indent, end } }: Position,
): readonly [at: number, inserted: string] {
  const last =
    node.type === 'object' ? node.members.at(-1)?.value : node.type === 'array' ? node.items.at(-1) : undefined;
  const line = (depth: number): string => (indent === undefined ? '' : `${end}${indent.repeat(depth)}`);
  return last === undefined
    ? [node.start + 1, `${line(level)}${entry}${line(level - 1)}`]
    : [last.end, `,${line(level)}${entry}`];
}
