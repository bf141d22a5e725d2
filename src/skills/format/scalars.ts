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

const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
export const SINGLE_QUOTE = 0x27;
export const DASH = 0x2d;
export const COLON = 0x3a;

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

/** Characters that need a closer look. A native test of the whole line is faster than a loop over its characters. */
const ODD_IN_PLAIN = /[\0-\x1f]|:(?= |$)| (?=#|$)/;
const ODD_IN_CONTENT = /[\0-\x1f]|:(?= |$)/;

/** An unquoted value, folded over the lines below it that are indented deeper than `indent`. */
export function readPlainScalar(cursor: Cursor, start: number, indent: number): ScalarNode | undefined {
  const { text, end } = cursor;
  let value = '';
  let from = start;
  let blankLines = -1;
  for (;;) {
    const feed = text.indexOf('\n', from);
    const line = text.slice(from, feed);
    let contentEnd = feed;
    let commented = false;
    if (ODD_IN_PLAIN.test(line)) {
      const comment = line.indexOf(' #');
      commented = comment !== -1;
      contentEnd = commented ? from + comment : line.endsWith('\r') ? feed - 1 : feed;
      while (text.charCodeAt(contentEnd - 1) === SPACE) contentEnd -= 1;
      if (ODD_IN_CONTENT.test(text.slice(from, contentEnd))) return undefined;
    }
    const piece = text.slice(from, contentEnd);
    value = blankLines < 0 ? piece : `${value}${blankLines === 0 ? ' ' : '\n'.repeat(blankLines)}${piece}`;

    blankLines = 0;
    let below = feed + 1;
    let first = below;
    while (below < end) {
      first = skipSpaces(text, below);
      const next = endOfBlankLine(text, first);
      if (next === -1) break;
      blankLines += 1;
      below = next;
    }
    cursor.at = below;
    if (below >= end || first - below <= indent || text.charCodeAt(first) === HASH) {
      return { type: 'scalar', value, style: 'plain', start, end: contentEnd };
    }
    if (commented || !isPlainStart(text, first)) return undefined;
    from = first;
  }
}

const SINGLE_QUOTED = /'([^'\0-\x1f]*(?:''[^'\0-\x1f]*)*)'(?!')/y;
const DOUBLE_QUOTED = /"([^"\\\0-\x1f]*(?:\\[ "/\\nt][^"\\\0-\x1f]*)*)"/y;

/** A quoted value on one line, with the common escapes. The cursor does not move; continue at `end`. */
export function readQuoted(text: string, start: number): ScalarNode | undefined {
  const style = text.charCodeAt(start) === DOUBLE_QUOTE ? 'double' : 'single';
  const pattern = style === 'double' ? DOUBLE_QUOTED : SINGLE_QUOTED;
  pattern.lastIndex = start;
  const inner = pattern.exec(text)?.[1];
  if (inner === undefined) return undefined;
  const value = style === 'double' ? inner.replaceAll(/\\(.)/g, escaped) : inner.replaceAll("''", "'");
  return { type: 'scalar', value, style, start, end: start + inner.length + 2 };
}

function escaped(_: string, letter: string): string {
  return letter === 'n' ? '\n' : letter === 't' ? '\t' : letter;
}

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
