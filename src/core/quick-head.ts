/**
 * The head of plain frontmatter alone, in as few steps as can be. A scan runs it over every file, most of the time in code that the
 * engine has not compiled yet: text is looked through by built-in functions, nothing is made that the head does not hold, and there
 * is nothing to tell. It says `undefined` wherever it is not sure; where it answers, `readPlainHead` gives the same head.
 */
import { isToolPattern, splitToolList } from './allowed-tools.ts';
import { isExtension, likelyField, restrictingField } from './frontmatter/fields.ts';
import { readName } from './frontmatter/name.ts';
import type { ScalarNode, YamlNode } from './frontmatter/node.ts';
import { isNothing, isUnsafeKey, jsonText } from './frontmatter/node.ts';
import { readValue } from './frontmatter/plain.ts';
import type { Cursor } from './frontmatter/scalars.ts';
import { COLON, DOUBLE_QUOTE, LINE_FEED, SINGLE_QUOTE, SPACE, isPlainStart } from './frontmatter/scalars.ts';
import { OPEN } from './frontmatter/controls.ts';
import { makeHead } from './skill.ts';
import type { SkillControls, SkillHead } from './skill.ts';
import { cleanText, isVisible } from './text.ts';

/** In bytes that is well below what frontmatter may have. */
const MAX_LENGTH = 16 * 1024;
const OPENING = '---\n';
const CLOSING = '\n---\n';

const DESCRIPTION_KEY = 'description:';

const NAME = 0;
const DESCRIPTION = 1;
const LICENSE = 2;
const COMPATIBILITY = 3;
const VERSION = 4;
const AUTHOR = 5;
const DISABLED = 6;
const INVOCABLE = 7;
const TOOLS = 8;
const METADATA = 9;
/** A field that nobody here reads: its value must be plain, and is dropped. */
const OTHER = 10;

/** All other fields of ours are left to the readers that know them. */
const SLOTS: ReadonlyMap<string, number> = new Map([
  ['name', NAME],
  ['description', DESCRIPTION],
  ['license', LICENSE],
  ['compatibility', COMPATIBILITY],
  ['version', VERSION],
  ['author', AUTHOR],
  ['disable-model-invocation', DISABLED],
  ['user-invocable', INVOCABLE],
  ['allowed-tools', TOOLS],
  ['metadata', METADATA],
]);

const NO_TEXTS: readonly (string | undefined)[] = Array.from({ length: SLOTS.size });
const TILDE = 0x7e;
const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
/** A colon that ends a key, or a comment. */
const ODD_IN_PLAIN = /: |:$| #/;
const NO_META: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** `text` is the frontmatter with both its fences, and no fence stands between them; `directory` is the folder's base name. */
export function readQuickHead(text: string, directory: string): SkillHead | undefined {
  const { length } = text;
  if (length > MAX_LENGTH || !text.startsWith(OPENING) || !text.endsWith(CLOSING)) return undefined;
  if (text.includes('\t') || !isVisible(text)) return undefined;
  const end = length - CLOSING.length + 1;
  const cursor: Cursor = { text, end, at: OPENING.length };
  const texts = [...NO_TEXTS];
  let tools: readonly string[] | undefined;
  let metadata: MetaPairs | undefined;
  let seen = 0;
  while (cursor.at < end) {
    const start = cursor.at;
    if (text.charCodeAt(start) === LINE_FEED) {
      cursor.at = start + 1;
      continue;
    }
    const colon = text.indexOf(':', start);
    const slot = text.startsWith(DESCRIPTION_KEY, start) ? DESCRIPTION : slotOf(text.slice(start, colon));
    if (slot === undefined || (seen & (1 << slot)) !== 0) return undefined;
    if (slot !== OTHER) seen |= 1 << slot;

    const feed = text.indexOf('\n', colon);
    const written =
      text.charCodeAt(feed + 1) === SPACE ? textBelow(cursor, colon + 1, feed) : textOnLine(cursor, colon + 1, feed);
    if (written !== undefined) {
      if (slot === METADATA) return undefined;
      if (slot === TOOLS) tools = toolsOf(written);
      else if (slot !== OTHER) texts[slot] = written;
      continue;
    }
    if (slot === OTHER && isSimpleList(cursor, colon + 1)) continue;
    if (slot === METADATA) {
      metadata = readMetaLines(cursor, feed) ?? metaPairs(readValue(cursor, colon + 1, 0, 0));
      if (metadata === undefined) return undefined;
      continue;
    }
    const value = readValue(cursor, colon + 1, 0, 0);
    if (value === undefined) return undefined;
    if (slot === OTHER) continue;
    if (slot === TOOLS && value.type === 'list') tools = toolsIn(value.items);
    else if (value.type !== 'scalar' || isNothing(value)) return undefined;
    else if (slot === NAME) texts[NAME] = value.value;
    else if (slot === TOOLS) tools = toolsOf(shownText(value));
    else texts[slot] = shownText(value);
    if (slot === TOOLS && tools === undefined) return undefined;
  }
  // The same text, but its own and not a piece of the frontmatter: all that compares names is faster for it.
  if (texts[NAME] === directory) texts[NAME] = directory;
  return headOf(texts, { seen, tools, metadata });
}

function slotOf(key: string): number | undefined {
  const slot = SLOTS.get(key);
  if (slot !== undefined) return slot;
  return PLAIN_KEY.test(key) && likelyField(key) === undefined ? OTHER : undefined;
}

/** The value after a colon, and the cursor after its line, where it is plain or in quotes without escapes, and nothing follows it. */
function textOnLine(cursor: Cursor, from: number, feed: number): string | undefined {
  const { text } = cursor;
  if (text.charCodeAt(from) !== SPACE) return undefined;
  const value = textOf(text.slice(from + 1, feed));
  if (value !== undefined) cursor.at = feed + 1;
  return value;
}

function textOf(line: string): string | undefined {
  const first = line.charCodeAt(0);
  if (first === DOUBLE_QUOTE) {
    const end = line.length - 1;
    return end > 0 && line.indexOf('"', 1) === end && !line.includes('\\') ? line.slice(1, end) : undefined;
  }
  if (first === SINGLE_QUOTE) {
    const end = line.length - 1;
    return end > 0 && line.indexOf("'", 1) === end ? line.slice(1, end) : undefined;
  }
  const small = first | 0x20;
  const isWord = (small >= 0x61 && small <= 0x7a) || (first >= 0x30 && first <= 0x39) || first > 0x7f;
  if (!(isWord || (first !== TILDE && isPlainStart(line, 0))) || line.charCodeAt(line.length - 1) === SPACE)
    return undefined;
  if ((line.includes(':') || line.includes('#')) && ODD_IN_PLAIN.test(line)) return undefined;
  return line === 'null' || line === 'Null' || line === 'NULL' ? undefined : line;
}

const BLOCK_SIGN = / (?:>-?|\|-?)\n/y;
const BLOCK_LINES = /(?:  [^ \n][^\n]*\n)+(?![ \n])/y;

/** A text block whose lines all stand two columns in, with none empty among them; the cursor is set after it. */
function textBelow(cursor: Cursor, from: number, feed: number): string | undefined {
  const { text } = cursor;
  BLOCK_SIGN.lastIndex = from;
  BLOCK_LINES.lastIndex = feed + 1;
  if (!BLOCK_SIGN.test(text) || !BLOCK_LINES.test(text)) return undefined;
  const end = BLOCK_LINES.lastIndex;
  cursor.at = end;
  const isFolded = text.charCodeAt(from + 1) === 0x3e;
  const value = text.slice(feed + 3, end - 1).replaceAll('\n  ', isFolded ? ' ' : '\n');
  return feed - from === 2 ? `${value}\n` : value;
}

const LIST_LINES = /\n(?:  - (?!null|Null|NULL)[A-Za-z][\w .-]*\n)+(?! )/y;
const FLOW_LIST = / \[(?:[A-Za-z][\w .-]*|"[^"\\\n]*")(?:, (?:[A-Za-z][\w .-]*|"[^"\\\n]*"))*\]\n(?! )/y;

/** A list of words that nobody reads; the cursor is set after it. */
function isSimpleList(cursor: Cursor, from: number): boolean {
  const pattern = cursor.text.charCodeAt(from) === LINE_FEED ? LIST_LINES : FLOW_LIST;
  pattern.lastIndex = from;
  const found = pattern.test(cursor.text);
  if (found) cursor.at = pattern.lastIndex;
  return found;
}

/** What a value shows to a model; nothing outside of escapes is hidden here. */
function shownText({ value, style }: ScalarNode): string {
  return style === 'double' ? cleanText(value) : value;
}

/** Keys and values in turn. */
type MetaPairs = readonly string[];

/** The lines below `metadata:`, where each is a key and its text, two columns in; the cursor is set after them. */
function readMetaLines(cursor: Cursor, feed: number): MetaPairs | undefined {
  const { text } = cursor;
  if (text.charCodeAt(feed - 1) !== COLON) return undefined;
  const pairs: string[] = [];
  let line = feed + 1;
  while (text.charCodeAt(line) === SPACE) {
    const colon = text.indexOf(':', line);
    const key = text.slice(line + 2, colon);
    const next = text.indexOf('\n', colon) + 1;
    if (text.charCodeAt(line + 1) !== SPACE || !PLAIN_KEY.test(key) || text.charCodeAt(colon + 1) !== SPACE)
      return undefined;
    const value = textOf(text.slice(colon + 2, next - 1));
    if (value === undefined) return undefined;
    pairs.push(key, value);
    line = next;
  }
  cursor.at = line;
  return pairs.length === 0 ? undefined : pairs;
}

/** The same of any map; nothing where a value is missing, which counts where its key comes again. */
function metaPairs(node: YamlNode | undefined): MetaPairs | undefined {
  if (node?.type !== 'map') return undefined;
  const pairs: string[] = [];
  for (const { key, value } of node.entries) {
    if (value === undefined) return undefined;
    pairs.push(key, value.type === 'scalar' ? shownText(value) : cleanText(jsonText(value)));
  }
  return pairs;
}

const SIMPLE_TOOLS = /^[A-Za-z_][\w.:*/@-]*(?:\([^()]+\))?(?:[ ,]+[A-Za-z_][\w.:*/@-]*(?:\([^()]+\))?)*$/;
const SIMPLE_TOOL = /[^ ,(]+(?:\([^)]+\))?/g;
/** No entry of a text so short is too long. */
const SHORT = 300;

function toolsOf(written: string): readonly string[] {
  if (written.length < SHORT && SIMPLE_TOOLS.test(written)) return [...new Set(written.match(SIMPLE_TOOL))];
  return [...new Set(splitToolList(written.trim()).filter(isToolPattern))];
}

function toolsIn(items: readonly YamlNode[]): readonly string[] | undefined {
  const tools = new Set<string>();
  for (const item of items) {
    if (item.type !== 'scalar') return undefined;
    const written = shownText(item).trim();
    if (!isToolPattern(written)) return undefined;
    tools.add(written);
  }
  return [...tools];
}

interface Found {
  readonly seen: number;
  readonly tools: readonly string[] | undefined;
  readonly metadata: MetaPairs | undefined;
}

function headOf(texts: readonly (string | undefined)[], { seen, tools, metadata }: Found): SkillHead | undefined {
  const written = texts[NAME];
  const name = written === undefined ? undefined : readName(written).name;
  const description = texts[DESCRIPTION]?.trim();
  if (name === undefined || description === undefined || description === '') return undefined;
  const controls = controlsOf(texts, seen, tools);
  const meta = metaOf(texts[VERSION], texts[AUTHOR], metadata);
  if (controls === undefined || meta === undefined) return undefined;
  const license = texts[LICENSE]?.trim();
  const compatibility = texts[COMPATIBILITY]?.trim();
  return makeHead({
    name,
    description,
    license: license === '' ? undefined : license,
    compatibility: compatibility === '' ? undefined : compatibility,
    controls,
    meta,
  });
}

const ANY_CONTROL = (1 << DISABLED) | (1 << INVOCABLE) | (1 << TOOLS);

function controlsOf(
  texts: readonly (string | undefined)[],
  seen: number,
  tools: readonly string[] | undefined,
): SkillControls | undefined {
  if ((seen & ANY_CONTROL) === 0) return OPEN;
  const disabled = texts[DISABLED]?.trim();
  const invocable = texts[INVOCABLE]?.trim();
  if (!isBoolean(disabled) || !isBoolean(invocable)) return undefined;
  const disableModelInvocation = disabled === 'true';
  const userInvocable = invocable !== 'false';
  return tools === undefined
    ? { disableModelInvocation, userInvocable, runMode: 'inline' }
    : { disableModelInvocation, userInvocable, allowedTools: tools, runMode: 'inline' };
}

function isBoolean(written: string | undefined): boolean {
  return written === undefined || written === 'true' || written === 'false';
}

function metaOf(
  version: string | undefined,
  author: string | undefined,
  metadata: MetaPairs | undefined,
): Readonly<Record<string, string>> | undefined {
  if (version === undefined && author === undefined && metadata === undefined) return NO_META;
  const meta: Record<string, string> = Object.create(null);
  if (version !== undefined) meta['version'] = version.trim();
  if (author !== undefined) meta['author'] = author.trim();
  if (metadata === undefined) return meta;
  for (let at = 0; at < metadata.length; at += 2) {
    const key = metadata[at] ?? '';
    if (isUnsafeKey(key) || carriesControl(key)) return undefined;
    if (!(key in meta)) meta[key] = (metadata[at + 1] ?? '').trim();
  }
  return meta;
}

/** A field under `metadata` that counts as if it stood outside. */
function carriesControl(key: string): boolean {
  if (key === 'version' || key === 'author') return false;
  const field = likelyField(key);
  if (field === undefined || field === 'version' || field === 'author') return false;
  return isExtension(field) || restrictingField(field) !== undefined;
}
