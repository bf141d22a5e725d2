/**
 * The plain reader parses the subset of YAML that almost all frontmatter uses, without the YAML library, which takes 45 ms to load
 * and several hundred microseconds per file. It returns `undefined` for everything else. Its results equal those of the library
 * (`test/skills/format/plain.test.ts`).
 */
import { isNull, type ListNode, type MapEntry, type MapNode, type ScalarNode, type YamlNode } from './node.ts';
import {
  CARRIAGE_RETURN,
  COLON,
  DASH,
  DOUBLE_QUOTE,
  HASH,
  LINE_FEED,
  SINGLE_QUOTE,
  SPACE,
  endOfBlankLine,
  endOfLineAfter,
  isPlainStart,
  readBlockScalar,
  readPlainScalar,
  readQuoted,
  skipSpaces,
  type Cursor,
} from './scalars.ts';

const MAX_DEPTH = 8;

/** Null, as opposed to `undefined`, which means that the library is needed. */
const NULL_NODE: ScalarNode = { type: 'scalar', value: '', style: 'plain', start: 0, end: 0 };

/** Reads the lines from `start` to `end`, which is the start of a line, as a map of fields. */
export function readPlain(text: string, start: number, end: number): MapNode | undefined {
  const cursor: Cursor = { text, end, at: start };
  const first = nextContent(cursor);
  if (first === -1) return undefined;
  return first === cursor.at ? readMap(cursor, 0, first, 0) : undefined;
}

/** Moves to the next line that is neither blank nor a comment; returns the offset of its first character, or -1 at the end. */
function nextContent(cursor: Cursor): number {
  const { text, end } = cursor;
  while (cursor.at < end) {
    const first = skipSpaces(text, cursor.at);
    if (text.charCodeAt(first) === HASH) cursor.at = text.indexOf('\n', first) + 1;
    else {
      const next = endOfBlankLine(text, first);
      if (next === -1) return first;
      cursor.at = next;
    }
  }
  return -1;
}

/** The map with its first key at `first`; `indent` is the column of its keys. */
function readMap(cursor: Cursor, indent: number, first: number, depth: number): MapNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const entries: MapEntry[] = [];
  let key = first;
  let end = first;
  for (;;) {
    const keyEnd = endOfKey(cursor.text, key);
    if (keyEnd === -1) return undefined;
    const value = readValue(cursor, keyEnd + 1, indent, depth);
    if (value === undefined) return undefined;
    const absent = value.type === 'scalar' && isNull(value);
    end = absent ? keyEnd : value.end;
    entries.push({ key: cursor.text.slice(key, keyEnd), keyStart: key, keyEnd, value: absent ? undefined : value });

    key = nextContent(cursor);
    if (key === -1 || key - cursor.at < indent) return { type: 'map', entries, flow: false, start: first, end };
    if (key - cursor.at > indent) return undefined;
  }
}

/** Almost every key, with a space or a line end after its colon. Sticky, and set before each use. */
const SIMPLE_KEY = /[A-Za-z_][\w-]*:(?=[ \n])/y;

/** The colon after a key of letters, digits, `_`, `-`, `.`, `/` and anything beyond ASCII, if a value may follow it; otherwise -1. */
function endOfKey(text: string, start: number): number {
  SIMPLE_KEY.lastIndex = start;
  if (SIMPLE_KEY.test(text)) return SIMPLE_KEY.lastIndex - 1;
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === COLON) break;
    const letter =
      (code >= 0x61 && code <= 0x7a) ||
      (code >= 0x41 && code <= 0x5a) ||
      code === 0x5f ||
      (code > 0x7f && code !== 0xfeff);
    const inner = (code >= 0x30 && code <= 0x39) || code === DASH || code === 0x2e || code === 0x2f;
    if (!letter && (!inner || at === start)) return -1;
    at += 1;
  }
  const next = text.charCodeAt(at + 1);
  const spaced = next === SPACE || next === LINE_FEED || endOfBlankLine(text, at + 1) !== -1;
  return at > start && spaced ? at : -1;
}

/** The value after a key's colon or a list item's dash, in a collection whose column is `indent`. */
function readValue(cursor: Cursor, from: number, indent: number, depth: number): YamlNode | undefined {
  const { text } = cursor;
  const start = skipSpaces(text, from);
  const below = endOfLineAfter(text, from);
  if (below !== -1) {
    cursor.at = below;
    return readBelow(cursor, indent, depth);
  }
  return start > from ? readInline(cursor, start, indent) : undefined;
}

/** A value that starts on this line. */
function readInline(cursor: Cursor, start: number, indent: number): YamlNode | undefined {
  const { text } = cursor;
  const code = text.charCodeAt(start);
  if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE || code === OPEN_LIST) {
    const node = code === OPEN_LIST ? readFlowList(text, start, indent) : readQuoted(text, start);
    if (node === undefined) return undefined;
    const next = endOfLineAfter(text, node.end);
    if (next === -1) return undefined;
    cursor.at = next;
    return node;
  }
  if (code === 0x7c || code === 0x3e) return readBlockScalar(cursor, start, indent);
  return isPlainStart(text, start) ? readPlainScalar(cursor, start, indent) : undefined;
}

/** A value on the lines below its key: a map, a list or text. Null if those lines belong to another key. */
function readBelow(cursor: Cursor, indent: number, depth: number): YamlNode | undefined {
  const { text, at: below } = cursor;
  const first = nextContent(cursor);
  if (first === -1) return NULL_NODE;
  const column = first - cursor.at;
  const dashed = isDash(text, first);
  if (column < indent || (column === indent && !dashed)) return NULL_NODE;
  if (dashed) return readList(cursor, column, first, { depth: depth + 1, beside: column === indent });
  if (endOfKey(text, first) !== -1) return readMap(cursor, column, first, depth + 1);
  // The library reads text below an unindented comment as part of a key.
  const comment = text.indexOf('#', below);
  if (comment !== -1 && comment < first) return undefined;
  const code = text.charCodeAt(first);
  const simple = code === OPEN_LIST || code === DOUBLE_QUOTE || code === SINGLE_QUOTE || isPlainStart(text, first);
  return simple ? readInline(cursor, first, indent) : undefined;
}

/** `beside`: the list is in the same column as its key. */
function readList(
  cursor: Cursor,
  indent: number,
  firstDash: number,
  { depth, beside }: { readonly depth: number; readonly beside: boolean },
): ListNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const { text } = cursor;
  const items: YamlNode[] = [];
  let dash = firstDash;
  for (;;) {
    const item = readItem(cursor, dash, indent, depth);
    if (item === undefined || (item.type === 'scalar' && isNull(item))) return undefined;
    items.push(item);

    dash = nextContent(cursor);
    const column = dash - cursor.at;
    if (dash === -1 || column < indent || (beside && column === indent && !isDash(text, dash))) break;
    if (column > indent || !isDash(text, dash)) return undefined;
  }
  return {
    type: 'list',
    items,
    flow: false,
    start: items[0]?.start ?? firstDash,
    end: items.at(-1)?.end ?? firstDash + 1,
  };
}

function readItem(cursor: Cursor, dash: number, indent: number, depth: number): YamlNode | undefined {
  const { text } = cursor;
  const start = skipSpaces(text, dash + 1);
  if (endOfLineAfter(text, dash + 1) !== -1) return undefined;
  if (endOfKey(text, start) !== -1) return readMap(cursor, indent + (start - dash), start, depth + 1);
  return readInline(cursor, start, indent);
}

function isDash(text: string, at: number): boolean {
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) <= SPACE;
}

const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** A list in brackets that starts at `start`; its further lines must be indented deeper than `indent`. */
function readFlowList(text: string, start: number, indent: number, depth = 0): ListNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const items: YamlNode[] = [];
  let at = skipBlank(text, start + 1, indent);
  for (;;) {
    if (at === -1) return undefined;
    if (text.charCodeAt(at) === CLOSE_LIST) return { type: 'list', items, flow: true, start, end: at + 1 };
    const item = readFlowItem(text, at, indent, depth);
    if (item === undefined) return undefined;
    if (item.type !== 'scalar' || !isNull(item)) items.push(item);
    at = afterItem(text, item.end, indent);
  }
}

function readFlowItem(text: string, start: number, indent: number, depth: number): YamlNode | undefined {
  const code = text.charCodeAt(start);
  if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) return readQuoted(text, start);
  if (code === OPEN_LIST) return readFlowList(text, start, indent, depth + 1);
  return isPlainStart(text, start) ? readFlowPlain(text, start) : undefined;
}

function readFlowPlain(text: string, start: number): YamlNode | undefined {
  let at = start;
  let end = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_LIST || code === LINE_FEED || code === CARRIAGE_RETURN) break;
    // A colon may make the item a map.
    if (code < SPACE || code === HASH || code === COLON || isBracket(code) || Number.isNaN(code)) return undefined;
    at += 1;
    if (code !== SPACE) end = at;
  }
  return { type: 'scalar', value: text.slice(start, end), style: 'plain', start, end };
}

function isBracket(code: number): boolean {
  return code === OPEN_LIST || code === OPEN_MAP || code === CLOSE_MAP;
}

/** The start of the next item, or of the closing bracket; -1 at any other character. */
function afterItem(text: string, from: number, indent: number): number {
  const at = skipBlank(text, from, indent);
  if (at === -1) return -1;
  const code = text.charCodeAt(at);
  if (code === CLOSE_LIST) return at;
  if (code !== COMMA) return -1;
  const next = skipBlank(text, at + 1, indent);
  // A comma right after another has no item between them.
  return next !== -1 && text.charCodeAt(next) === COMMA ? -1 : next;
}

/** Skips spaces and line ends; -1 on a line that is not indented enough, a tab, a comment or the end. */
function skipBlank(text: string, from: number, indent: number): number {
  let at = skipSpaces(text, from);
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== LINE_FEED && code !== CARRIAGE_RETURN) return code > SPACE && code !== HASH ? at : -1;
    if (code === CARRIAGE_RETURN) {
      if (text.charCodeAt(at + 1) !== LINE_FEED) return -1;
      at += 1;
    }
    const line = at + 1;
    at = skipSpaces(text, line);
    const first = text.charCodeAt(at);
    if (first !== LINE_FEED && first !== CARRIAGE_RETURN && at - line <= indent) return -1;
  }
}
