/** Flow lists and maps of the plain reader: `[a, "b"]`, and JSON under `metadata`. */
import type { MapEntry, YamlNode } from './node.ts';
import { isNull } from './node.ts';
import {
  CARRIAGE_RETURN,
  COLON,
  DOUBLE_QUOTE,
  HASH,
  LINE_FEED,
  SINGLE_QUOTE,
  SPACE,
  isPlainStart,
  readQuoted,
  skipSpaces,
} from './scalars.ts';

const MAX_DEPTH = 8;
/** As `indent`: no line is deeper, so the value must end on its line. */
const ONE_LINE = Number.POSITIVE_INFINITY;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

export function isFlowStart(code: number): boolean {
  return code === OPEN_LIST || code === OPEN_MAP;
}

/** A flow list or map that starts at `start`; its further lines must be indented deeper than `indent`. */
export function readFlow(text: string, start: number, indent: number, depth = 0): YamlNode | undefined {
  if (depth > MAX_DEPTH) return undefined;
  return text.charCodeAt(start) === OPEN_LIST
    ? readFlowList(text, start, indent, depth)
    : readFlowMap(text, start, indent, depth);
}

function readFlowList(text: string, start: number, indent: number, depth: number): YamlNode | undefined {
  const items: YamlNode[] = [];
  let at = skipBlank(text, start + 1, indent);
  for (;;) {
    if (at === -1) return undefined;
    if (text.charCodeAt(at) === CLOSE_LIST) return { type: 'list', items, flow: true, start, end: at + 1 };
    const item = readFlowValue(text, at, indent, depth);
    if (item === undefined) return undefined;
    if (item.type !== 'scalar' || !isNull(item)) items.push(item);
    at = afterItem(text, item.end, indent, CLOSE_LIST);
  }
}

function readFlowMap(text: string, start: number, indent: number, depth: number): YamlNode | undefined {
  const entries: MapEntry[] = [];
  let at = skipBlank(text, start + 1, indent);
  for (;;) {
    if (at === -1) return undefined;
    if (text.charCodeAt(at) === CLOSE_MAP) return { type: 'map', entries, flow: true, start, end: at + 1 };
    const key = readFlowValue(text, at, indent, MAX_DEPTH);
    if (key === undefined || key.type !== 'scalar' || key.value === '') return undefined;
    if (text.charCodeAt(key.end) !== COLON) return undefined;
    // After a quoted key the colon needs no space; after a plain one it does, and the plain reader has stopped there.
    const from = skipBlank(text, key.end + 1, indent);
    if (from === -1) return undefined;
    const value = readFlowValue(text, from, indent, depth);
    if (value === undefined) return undefined;
    entries.push({
      key: key.value,
      keyStart: key.start,
      keyEnd: key.end,
      value: value.type === 'scalar' && isNull(value) ? undefined : value,
    });
    at = afterItem(text, value.end, indent, CLOSE_MAP);
  }
}

function readFlowValue(text: string, start: number, indent: number, depth: number): YamlNode | undefined {
  const code = text.charCodeAt(start);
  if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) return readQuoted(text, start, ONE_LINE);
  if (isFlowStart(code)) return readFlow(text, start, indent, depth + 1);
  return isPlainStart(text, start) ? readFlowPlain(text, start) : undefined;
}

function readFlowPlain(text: string, start: number): YamlNode | undefined {
  let at = start;
  let end = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_LIST || code === CLOSE_MAP || code === LINE_FEED || code === CARRIAGE_RETURN)
      break;
    if (code === SPACE) {
      at += 1;
      continue;
    }
    if (code === COLON) {
      const next = text.charCodeAt(at + 1);
      if (next === SPACE) break;
      if (next <= SPACE || next === COMMA || isFlowStart(next) || next === CLOSE_LIST || next === CLOSE_MAP)
        return undefined;
    } else if (code < SPACE || code === HASH || isFlowStart(code) || Number.isNaN(code)) return undefined;
    at += 1;
    end = at;
  }
  return { type: 'scalar', value: text.slice(start, end), style: 'plain', start, end };
}

/** The start of the next item, or of the closing bracket; -1 at any other character. */
function afterItem(text: string, from: number, indent: number, close: number): number {
  const at = skipBlank(text, from, indent);
  if (at === -1) return -1;
  const code = text.charCodeAt(at);
  if (code === close) return at;
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
