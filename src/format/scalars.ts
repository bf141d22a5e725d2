/**
 * Scalars of the plain reader: a strict subset of YAML, parsed in one pass. Each function returns `undefined` if the YAML library is
 * needed.
 */
import type { ScalarNode } from './node.ts';

/** The text and the start of the first unread line, which the reading functions advance. */
export interface Cursor {
  readonly text: string;
  /** End of the frontmatter: the character before it is a line feed. */
  readonly end: number;
  at: number;
}

export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const SINGLE_QUOTE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Whether the character can start an unquoted value and has no other meaning in YAML. */
export function isPlainStart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)) return true;
  if (code > 0x7f) return code !== 0xfeff;
  switch (code) {
    case DASH: {
      const next = text.charCodeAt(at + 1);
      return next > SPACE && next !== 0x2c && next !== 0x5b && next !== 0x5d && next !== 0x7b && next !== 0x7d;
    }
    case 0x24: // $
    case 0x28: // (
    case 0x2b: // +
    case 0x2e: // .
    case 0x2f: // /
    case 0x3b: // ;
    case 0x3c: // <
    case 0x3d: // =
    case 0x5c: // \
    case 0x5e: // ^
    case 0x5f: // _
    case 0x7e: // ~
      return true;
    default:
      return false;
  }
}

/** Unquoted text with a colon that ends a key, and no comment before it. */
export const NESTED_KEY = /^(?:[^ :]| (?!#)|:(?! |$))+:(?: |$)/;

/** Characters that need the slow path. A native test of the whole line is faster than a loop over its characters. */
const ODD_IN_PLAIN = /[\0-\x1f]|:(?= |$)| (?=#|$)/;

/** An unquoted value, folded over the lines below it that are indented deeper than `indent`. */
export function readPlainScalar(cursor: Cursor, start: number, indent: number): ScalarNode | undefined {
  const { text, end } = cursor;
  let value = '';
  let from = start;
  let blankLines = -1;
  for (;;) {
    let at = from;
    let contentEnd = from;
    let commented = false;
    const feed = text.indexOf('\n', from);
    if (!ODD_IN_PLAIN.test(text.slice(from, feed))) contentEnd = at = feed;
    while (at !== feed) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) break;
      if (code === SPACE) {
        at += 1;
        continue;
      }
      if (code === COLON) {
        if (text.charCodeAt(at + 1) <= SPACE) return undefined;
      } else if (code === HASH) {
        if (text.charCodeAt(at - 1) === SPACE) {
          commented = true;
          at = text.indexOf('\n', at);
          break;
        }
      } else if (code < SPACE) {
        if (code !== CARRIAGE_RETURN || text.charCodeAt(at + 1) !== LINE_FEED) return undefined;
        at += 1;
        break;
      }
      at += 1;
      contentEnd = at;
    }
    const piece = text.slice(from, contentEnd);
    value = blankLines < 0 ? piece : `${value}${blankLines === 0 ? ' ' : '\n'.repeat(blankLines)}${piece}`;

    blankLines = 0;
    let line = at + 1;
    let first = line;
    while (line < end) {
      first = skipSpaces(text, line);
      const next = endOfBlankLine(text, first);
      if (next === -1) break;
      blankLines += 1;
      line = next;
    }
    cursor.at = line;
    if (line >= end || first - line <= indent || text.charCodeAt(first) === HASH) {
      return { type: 'scalar', value, style: 'plain', start, end: contentEnd };
    }
    if (commented || !isPlainStart(text, first)) return undefined;
    from = first;
  }
}

/** A quoted value. Its further lines must be indented deeper than `indent`. The cursor does not move; continue at `end`. */
export function readQuoted(text: string, start: number, indent: number): ScalarNode | undefined {
  return text.charCodeAt(start) === DOUBLE_QUOTE
    ? readDoubleQuoted(text, start, indent)
    : readSingleQuoted(text, start, indent);
}

/** The end of a quoted value on one line without escapes, which almost all are; -1 for any other. */
function endOfSimpleQuote(text: string, start: number, quote: string): number {
  const end = text.indexOf(quote, start + 1);
  if (end === -1 || text.charCodeAt(end + 1) === SINGLE_QUOTE) return -1;
  return ODD_IN_QUOTES.test(text.slice(start + 1, end)) ? -1 : end;
}

const ODD_IN_QUOTES = /[\0-\x1f\\]/;

function readSingleQuoted(text: string, start: number, indent: number): ScalarNode | undefined {
  const simple = endOfSimpleQuote(text, start, "'");
  if (simple !== -1)
    return { type: 'scalar', value: text.slice(start + 1, simple), style: 'single', start, end: simple + 1 };
  let value = '';
  let from = start + 1;
  let doubled = false;
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === SINGLE_QUOTE) {
      if (text.charCodeAt(at + 1) === SINGLE_QUOTE) {
        doubled = true;
        at += 1;
        continue;
      }
      value += text.slice(from, at);
      return {
        type: 'scalar',
        value: doubled ? value.replaceAll("''", "'") : value,
        style: 'single',
        start,
        end: at + 1,
      };
    }
    if (code < SPACE) {
      const next = foldedLine(text, at, indent);
      if (next === -1) return undefined;
      value += text.slice(from, endWithoutSpaces(text, from, at)) + foldedLineEnds(text, at, next);
      from = next;
      at = next - 1;
    } else if (Number.isNaN(code)) return undefined;
  }
}

function readDoubleQuoted(text: string, start: number, indent: number): ScalarNode | undefined {
  const simple = endOfSimpleQuote(text, start, '"');
  if (simple !== -1)
    return { type: 'scalar', value: text.slice(start + 1, simple), style: 'double', start, end: simple + 1 };
  let value = '';
  let from = start + 1;
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOUBLE_QUOTE) {
      return { type: 'scalar', value: value + text.slice(from, at), style: 'double', start, end: at + 1 };
    }
    if (code === BACKSLASH) {
      value += text.slice(from, at);
      const next = endOfBlankLine(text, at + 1);
      if (next === -1) {
        const length = ESCAPE_LENGTHS.get(text.charCodeAt(at + 1)) ?? 0;
        const character =
          length === 0
            ? SIMPLE_ESCAPES.get(text.charCodeAt(at + 1))
            : numbered(text.slice(at + 2, at + 2 + length), length);
        if (character === undefined) return undefined;
        value += character;
        from = at + 2 + length;
      } else {
        // An escaped line end produces no white space; the value continues at the first character of the next line.
        from = skipSpaces(text, next);
        if (from - next <= indent || text.charCodeAt(from) < SPACE) return undefined;
      }
      at = from - 1;
    } else if (code < SPACE) {
      const next = foldedLine(text, at, indent);
      if (next === -1) return undefined;
      value += text.slice(from, endWithoutSpaces(text, from, at)) + foldedLineEnds(text, at, next);
      from = next;
      at = next - 1;
    } else if (Number.isNaN(code)) return undefined;
  }
}

/** The first character of the next non-blank line after the line end at `at`; -1 if it is not indented enough. */
function foldedLine(text: string, at: number, indent: number): number {
  let line = endOfBlankLine(text, at);
  while (line !== -1) {
    const first = skipSpaces(text, line);
    const next = endOfBlankLine(text, first);
    if (next === -1) return first - line <= indent || text.charCodeAt(first) < SPACE ? -1 : first;
    line = next;
  }
  return -1;
}

/** Folds the line ends between two lines of a quoted value: one becomes a space, each further one a line feed. */
function foldedLineEnds(text: string, from: number, to: number): string {
  let feeds = -1;
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === LINE_FEED) feeds += 1;
  return feeds <= 0 ? ' ' : '\n'.repeat(feeds);
}

function endWithoutSpaces(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && text.charCodeAt(end - 1) === SPACE) end -= 1;
  return end;
}

const ESCAPE_LENGTHS: ReadonlyMap<number, number> = new Map([
  [0x78, 2], // x
  [0x75, 4], // u
  [0x55, 8], // U
]);

function numbered(digits: string, length: number): string | undefined {
  if (digits.length !== length || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const code = Number.parseInt(digits, 16);
  return code > 0x10ffff ? undefined : String.fromCodePoint(code);
}

const SIMPLE_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x20, ' '],
  [0x22, '"'],
  [0x2f, '/'],
  [0x5c, '\\'],
  [0x6e, '\n'],
  [0x74, '\t'],
]);

/** A `|` or `>` block; its lines are indented deeper than `indent`. */
export function readBlockScalar(cursor: Cursor, start: number, indent: number): ScalarNode | undefined {
  const { text, end } = cursor;
  const folded = text.charCodeAt(start) === 0x3e;
  let at = start + 1;
  const stripped = text.charCodeAt(at) === DASH;
  if (stripped) at += 1;
  const header = endOfBlankLine(text, skipSpaces(text, at));
  if (header === -1) return undefined;

  let value = '';
  let separator = '';
  let width = -1;
  let deeper = false;
  let line = header;
  while (line < end) {
    const first = skipSpaces(text, line);
    const spaces = first - line;
    const next = endOfBlankLine(text, first);
    if (next !== -1) {
      // Leading blank lines and blank lines with more spaces are part of the text, which this reader does not support.
      if (width === -1 || spaces > width) return undefined;
      if (folded && separator === ' ') separator = '\n';
      else if (folded) value += '\n';
      else separator += '\n';
      line = next;
      continue;
    }
    if (width === -1) {
      if (spaces <= indent) return undefined;
      width = spaces;
    } else if (spaces < width) {
      if (spaces > indent) return undefined;
      break;
    }
    const feed = text.indexOf('\n', first);
    const contentEnd = text.charCodeAt(feed - 1) === CARRIAGE_RETURN ? feed - 1 : feed;
    if (text.charCodeAt(first) === TAB || hasLoneReturn(text, first, contentEnd)) return undefined;
    const piece = text.slice(line + width, contentEnd);
    if (!folded) {
      value += separator + piece;
      separator = '\n';
    } else if (spaces > width) {
      if (separator === ' ') separator = '\n';
      else if (!deeper && separator === '\n') separator = '\n\n';
      value += separator + piece;
      separator = '\n';
      deeper = true;
    } else {
      value += separator + piece;
      separator = ' ';
      deeper = false;
    }
    line = feed + 1;
  }
  if (width === -1) return undefined;
  cursor.at = line;
  // The loop has added line feeds for trailing blank lines, which are not part of a folded block.
  if (folded) value = withoutTrailingFeeds(value);
  return { type: 'scalar', value: stripped ? value : `${value}\n`, style: 'block', start, end };
}

function withoutTrailingFeeds(value: string): string {
  let end = value.length;
  while (end > 0 && value.charCodeAt(end - 1) === LINE_FEED) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}

function hasLoneReturn(text: string, from: number, to: number): boolean {
  const found = text.indexOf('\r', from);
  return found !== -1 && found < to;
}

export function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at += 1;
  return at;
}

/** The start of the next line if this line ends at `at`; otherwise -1. */
export function endOfBlankLine(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === LINE_FEED) return at + 1;
  return code === CARRIAGE_RETURN && text.charCodeAt(at + 1) === LINE_FEED ? at + 2 : -1;
}

/** The start of the next line if only white space and a comment follow; otherwise -1. */
export function endOfLineAfter(text: string, at: number): number {
  const first = skipSpaces(text, at);
  if (first > at && text.charCodeAt(first) === HASH) return text.indexOf('\n', first) + 1;
  return endOfBlankLine(text, first);
}
