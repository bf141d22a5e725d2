/**
 * Reads the fields that control what a skill may do. Restricting fields fail closed: a value that is present but not understood gets
 * the strictest meaning, and the stricter of two values applies.
 */
import { isToolPattern, quoted, type SkillHead } from '#core';
import { readDependencies, type ReadDependencies } from './dependencies.ts';
import type { FieldName, RestrictingField } from './fields.ts';
import type { ListNode, MapEntry, ScalarNode, YamlNode } from './node.ts';
import { addDiagnostic, readScalarText, STRICTEST, type Report } from './report.ts';
import { requiredEntries } from './requires.ts';
import { quoteYaml, replacing, writeYaml } from './write.ts';

/** All entries of each field, from the top level and from `metadata`. */
export type StatedFields = ReadonlyMap<FieldName, readonly MapEntry[]>;

/** The controls of a skill without any control field. */
const OPEN: SkillHead['controls'] = { disableModelInvocation: false, userInvocable: true, runMode: 'inline' };
const CONTROL_FIELDS: ReadonlySet<FieldName> = new Set([
  'allowed-tools',
  'disallowed-tools',
  'disable-model-invocation',
  'user-invocable',
  'run-mode',
  'context',
  'requires',
  'paths',
  'dependencies',
]);

/** `unreadable` are restricting fields that the file contains but no reader could parse. */
export function readControls(
  report: Report,
  stated: StatedFields,
  unreadable: ReadonlySet<RestrictingField>,
): SkillHead['controls'] {
  if (unreadable.size === 0 && !hasControls(stated)) return OPEN;

  const { allowedTools, disallowedTools } = readTools(report, stated, unreadable);
  const paths = strictest(
    findEntries(stated, 'paths').map((entry) => readPaths(report, entry)),
    unreadable.has('paths'),
    (a, b) => a.filter((glob) => b.includes(glob)),
  );
  const disabled = findEntries(stated, 'disable-model-invocation').map((entry) =>
    readBoolean(report, entry, { closed: true }),
  );
  const invocable = findEntries(stated, 'user-invocable').map((entry) => readBoolean(report, entry, { closed: false }));
  const runMode = [
    ...findEntries(stated, 'run-mode').map((entry) => readRunMode(report, entry)),
    ...findEntries(stated, 'context').map((entry) => readContext(report, entry)),
  ];
  const requires = findEntries(stated, 'requires').map((entry) => readRequires(report, entry));
  const firstRequires = requires.find((list) => list !== undefined);
  const dependencies = findEntries(stated, 'dependencies').flatMap((entry) => readNeeds(report, entry));

  const controls: Draft = {
    // Without a glob no file can activate the skill, so the model must not choose it either.
    disableModelInvocation:
      disabled.includes(true) || unreadable.has('disable-model-invocation') || paths?.length === 0,
    userInvocable: !invocable.includes(false) && !unreadable.has('user-invocable'),
    runMode: runMode.includes('subagent') ? 'subagent' : 'inline',
  };
  // Assigned and not spread: this runs for every skill of a scan.
  if (allowedTools !== undefined) controls.allowedTools = allowedTools;
  if (disallowedTools !== undefined) controls.disallowedTools = disallowedTools;
  if (paths !== undefined) controls.paths = paths;
  if (firstRequires !== undefined) controls.requires = firstRequires;
  if (dependencies.length > 0) controls.dependencies = dependencies;
  return controls;
}

type Draft = { -readonly [Field in keyof SkillHead['controls']]: SkillHead['controls'][Field] };

function hasControls(stated: StatedFields): boolean {
  for (const field of stated.keys()) if (CONTROL_FIELDS.has(field)) return true;
  return false;
}

/** The entries of a field that have a value. */
function findEntries(stated: StatedFields, field: FieldName): readonly MapEntry[] {
  return stated.get(field)?.filter((entry) => entry.value !== undefined) ?? NO_ENTRIES;
}

const NO_ENTRIES: readonly MapEntry[] = [];

function readTools(
  report: Report,
  stated: StatedFields,
  unreadable: ReadonlySet<RestrictingField>,
): { readonly allowedTools: readonly string[] | undefined; readonly disallowedTools: readonly string[] | undefined } {
  const lists = findEntries(stated, 'disallowed-tools').map((entry) =>
    readToolField(report, entry, 'no tool may be used'),
  );
  // An unreadable list might forbid any tool, so all tools are forbidden, whatever `allowed-tools` contains.
  const isClosed = unreadable.has('disallowed-tools') || lists.some((list) => list?.isWhole !== true);
  const forbidden = isClosed ? ['*'] : [...new Set(lists.flatMap((list) => list?.tools ?? []))];
  const allowed = strictest(
    findEntries(stated, 'allowed-tools').map((entry) => readToolField(report, entry, 'it is ignored')?.tools),
    isClosed || unreadable.has('allowed-tools'),
    narrowTools,
  );
  return {
    allowedTools: allowed === undefined ? undefined : withoutTools(allowed, forbidden),
    disallowedTools: isClosed || lists.length > 0 ? forbidden : undefined,
  };
}

/** Narrows the lists of several statements to one. A statement that could not be read yields the empty list. */
function strictest(
  lists: readonly (readonly string[] | undefined)[],
  isClosed: boolean,
  narrow: (a: readonly string[], b: readonly string[]) => readonly string[],
): readonly string[] | undefined {
  if (isClosed) return [];
  let [result] = lists;
  for (const list of lists) {
    if (list === undefined || result === undefined) return [];
    if (list !== result) result = narrow(result, list);
  }
  return result;
}

interface ToolList {
  readonly tools: readonly string[];
  /** Every entry was a tool pattern. */
  readonly isWhole: boolean;
}

/** `consequence` describes what happens to an invalid entry. */
function readToolField(report: Report, { key, keyEnd, value }: MapEntry, consequence: string): ToolList | undefined {
  if (value === undefined) return { tools: [], isWhole: true };
  if (value.type === 'map') return closedField(report, key, value, 'tool patterns such as Read or Bash(git:*)');
  let isWhole = true;
  const onInvalid: OnInvalidTool = (entry, at) => {
    isWhole = false;
    addDiagnostic(report, {
      code: 'allowed-tools/invalid',
      at,
      message: `${key}: ${quoted(entry)} is not a tool pattern; ${consequence}`,
    });
  };
  const entries =
    value.type === 'list' ? toolsOfList(report, key, value, onInvalid) : toolsOfText(report, key, value, onInvalid);
  if (value.type === 'list' && key === 'allowed-tools')
    reportList(report, value, keyEnd, isWhole ? entries : undefined);
  return { tools: [...new Set(entries)], isWhole };
}

function reportList(report: Report, list: ListNode, keyEnd: number, entries: readonly string[] | undefined): void {
  const { text } = report;
  const canReplace =
    entries !== undefined && text.charAt(keyEnd) === ':' && !text.slice(keyEnd, list.end).includes('#');
  addDiagnostic(report, {
    code: 'allowed-tools/list',
    at: list.start,
    message: 'allowed-tools is a list, expected text with spaces between the entries',
    edit: canReplace ? replacing({ start: keyEnd + 1, end: list.end }, ` ${writeYaml(entries.join(' '))}`) : undefined,
  });
}

type OnInvalidTool = (entry: string, at: number) => void;

function toolsOfText(report: Report, key: string, node: ScalarNode, onInvalid: OnInvalidTool): readonly string[] {
  const entries = splitToolList(readScalarText(report, node));
  const valid = entries.filter((entry) => {
    const isValid = isToolPattern(entry);
    if (!isValid) onInvalid(entry, findOffset(report, node, entry));
    return isValid;
  });
  if (valid.length === entries.length && node.value.includes(',') && hasSeparatingComma(node.value))
    reportSeparator(report, key, node, writeYaml(entries.join(' ')));
  return valid;
}

function reportSeparator(report: Report, key: string, node: ScalarNode, spaced: string): void {
  const comma = report.text.indexOf(',', node.start);
  addDiagnostic(report, {
    code: 'allowed-tools/separator',
    at: comma === -1 || comma >= node.end ? node.start : comma,
    message: `${key}: commas separate the entries, expected spaces`,
    edit: node.style === 'block' ? undefined : replacing(node, spaced),
  });
}

function toolsOfList(report: Report, key: string, list: ListNode, onInvalid: OnInvalidTool): readonly string[] {
  const tools: string[] = [];
  for (const item of list.items) {
    // YAML parses `- Bash(git: *)` as a map; its source text is a tool pattern.
    const written =
      item.type === 'scalar' ? readScalarText(report, item) : report.text.slice(item.start, item.end).trim();
    if (isToolPattern(written)) tools.push(written);
    else {
      const entries = item.type === 'scalar' ? splitToolList(written) : [];
      if (entries.length > 0 && entries.every(isToolPattern)) tools.push(...entries);
      else onInvalid(written, item.start);
      continue;
    }
    if (item.type !== 'scalar') {
      addDiagnostic(report, {
        code: 'frontmatter/unquoted',
        at: item.start,
        message: `${key}: YAML reads ${quoted(written)} as ${kindName(item)}, expected a quoted tool pattern`,
        edit: replacing(item, quoteYaml(written)),
      });
    }
  }
  return tools;
}

function readPaths(report: Report, { key, value }: MapEntry): readonly string[] | undefined {
  if (value === undefined) return [];
  const list =
    value.type === 'map'
      ? undefined
      : value.type === 'scalar'
        ? splitGlobs(readScalarText(report, value))
        : textItems(report, value);
  return list ?? closedField(report, key, value, 'globs, as a list or as text with commas');
}

/** Splits on commas outside braces: `*.{ts,js}, docs/**`. */
function splitGlobs(text: string): readonly string[] {
  const globs = splitOutside(text, '{}', /[,\n]/).map((glob) => glob.trim());
  return globs.filter((glob) => glob !== '');
}

function readRequires(report: Report, { key, value }: MapEntry): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const { entries, isWhole } = requiredEntries(report, value);
  if (!isWhole) wrongType(report, key, value, 'a list of text, or a map of such lists: bins, env, pip, npm, skills');
  return entries;
}

function readNeeds(report: Report, entry: MapEntry): ReadDependencies['needs'] {
  const { needs, isWhole } = readDependencies(report, entry);
  if (!isWhole && entry.value !== undefined)
    wrongType(report, entry.key, entry.value, 'all and any with names of tools, or of mcp, bins');
  return needs;
}

function textItems(report: Report, { items }: ListNode): readonly string[] | undefined {
  const texts: string[] = [];
  for (const item of items) {
    if (item.type !== 'scalar') return undefined;
    const text = readScalarText(report, item);
    if (text !== '') texts.push(text);
  }
  return texts;
}

function readBoolean(report: Report, { key, value }: MapEntry, { closed }: { readonly closed: boolean }): boolean {
  if (value === undefined) return !closed;
  const word = value.type === 'scalar' ? readScalarText(report, value).toLowerCase() : '';
  if (value.type === 'scalar' && (word === 'true' || word === 'false')) return word === 'true';
  if (value.type === 'scalar' && BOOLEAN_WORDS.has(word)) {
    const meant = BOOLEAN_WORDS.get(word) === true;
    addDiagnostic(report, {
      code: 'field/type',
      at: value.start,
      message: `${key}: ${quoted(value.value)} is read as ${meant}, expected true or false`,
      hint: `write ${meant}`,
      edit: value.style === 'block' ? undefined : replacing(value, String(meant)),
    });
    return meant;
  }
  closedField(report, key, value, 'true or false');
  return closed;
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

function readRunMode(report: Report, { key, value }: MapEntry): SkillHead['controls']['runMode'] | undefined {
  if (value === undefined) return undefined;
  const word = value.type === 'scalar' ? readScalarText(report, value) : '';
  if (word === 'inline' || word === 'subagent') return word;
  wrongType(report, key, value, 'inline or subagent');
  return undefined;
}

/** Claude Code's `context: fork` means a subagent; other values have no meaning here. */
function readContext(report: Report, { key, value }: MapEntry): SkillHead['controls']['runMode'] | undefined {
  if (value?.type === 'scalar' && readScalarText(report, value) === 'fork') return 'subagent';
  if (value !== undefined) wrongType(report, key, value, 'fork');
  return undefined;
}

function closedField(report: Report, key: string, value: YamlNode, expected: string): undefined {
  addDiagnostic(report, {
    code: 'field/unreadable-restriction',
    at: value.start,
    message: `${quoted(key)} is ${describe(value)}, expected ${expected}`,
    instead: STRICTEST,
  });
}

/** Reports a field with a value of the wrong type. */
export function wrongType(report: Report, key: string, value: YamlNode, expected: string): void {
  addDiagnostic(report, {
    code: 'field/type',
    at: value.start,
    message: `${quoted(key)} is ${describe(value)}, expected ${expected}`,
  });
}

function describe(node: YamlNode): string {
  return node.type === 'scalar' ? quoted(node.value) : kindName(node);
}

function kindName(node: YamlNode): string {
  return node.type === 'scalar' ? 'text' : node.type === 'list' ? 'a list' : 'a map';
}

function findOffset(report: Report, node: ScalarNode, entry: string): number {
  const found = report.text.indexOf(entry, node.start);
  return found === -1 || found >= node.end ? node.start : found;
}

/** Splits at commas and white space outside of parentheses. */
export function splitToolList(text: string): readonly string[] {
  return splitOutside(text, '()', /[, \n\t\r]/);
}

/** The parts between separators that are not inside brackets, without empty ones. */
function splitOutside(text: string, [open, close]: string, separator: RegExp): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === open) depth += 1;
    else if (character === close && depth > 0) depth -= 1;
    if (depth === 0 && separator.test(character)) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts.filter((part) => part !== '');
}

/** Whether commas separate entries; the specification requires spaces. */
export function hasSeparatingComma(text: string): boolean {
  return splitOutside(`${text}.`, '()', /,/).length > 1;
}

/** Intersects two lists by text: an entry is kept if the other list contains it or its whole tool. */
export function narrowTools(a: readonly string[], b: readonly string[]): readonly string[] {
  const kept = a.filter((entry) => covers(b, entry));
  for (const entry of b) if (covers(a, entry) && !kept.includes(entry)) kept.push(entry);
  return kept;
}

/**
 * Removes entries whose whole tool is forbidden. `Bash` stays although `Bash(rm:*)` is forbidden, so each use must be checked against both
 * lists.
 */
export function withoutTools(allowed: readonly string[], forbidden: readonly string[]): readonly string[] {
  return forbidden.length === 0 ? allowed : allowed.filter((entry) => !covers(forbidden, entry));
}

function covers(list: readonly string[], entry: string): boolean {
  return list.includes(entry) || list.includes(readToolName(entry)) || list.includes('*');
}

function readToolName(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
}
