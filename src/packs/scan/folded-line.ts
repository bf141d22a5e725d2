/**
 * Lines as rules look at them: what can be varied without changing what a reader understands (emphasis, runs of white space, invisible
 * characters, full width, case) is gone, so that a rule need not think of it. Where something stood is worked out only for findings.
 */
import { codePointAt } from '../../core/text/code-point.ts';
import { isVisible } from '../../core/text/text.ts';

/** Words of ASCII with one blank between them: nothing to fold. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** Neither ASCII nor a letter that stays as it is: looked at one by one. */
const DOUBTFUL = /[^\0-\x7e\u00c0-\u024f\u0400-\u04ff\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]/gu;
const BLANKS = /[\0-\x20\s]+/g;
const UNUSUAL = /[^\t\n\x20-\x7e]/;
const WORD = /[\p{L}\p{N}]/u;
const QUOTES: ReadonlyMap<string, string> = new Map([
  ['\u2018', "'"],
  ['\u2019', "'"],
  ['\u201c', '"'],
  ['\u201d', '"'],
  ['\u2013', '-'],
  ['\u2014', '-'],
  ['\u2026', '...'],
]);

export type LineKind = 'prose' | 'code';

/** The line folded; `*` is emphasis in prose and a sign in code. Letter case stays. */
export function foldLine(line: string, kind: LineKind): string {
  const inner = kind === 'prose' && line.includes('*') ? line.replaceAll('*', '').trim() : line.trim();
  if (inner === '' || PLAIN.test(inner)) return inner;
  if (!UNUSUAL.test(inner)) return inner.replaceAll(BLANKS, ' ');
  const known = line.replaceAll(DOUBTFUL, (character) => (isSpace(character) ? ' ' : foldCharacter(character, kind)));
  return (kind === 'prose' ? known.replaceAll('*', '') : known).replaceAll(BLANKS, ' ').trim();
}

/** What a text is made of: much need not be asked of most. */
export interface TextLook {
  /** ASCII that shows, blanks, tabs and line feeds. */
  readonly isPlain: boolean;
  /** Of plain text: its lines have nothing to fold but blanks at their ends. */
  readonly isSingle: boolean;
}

const BLANK = 1;
const FOLDED = 2;
const UNUSUAL_BYTE = 4;
const MADE_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x20) return BLANK;
  if (byte === 0x09 || byte === 0x2a) return FOLDED;
  return byte === 0x0a || (byte > 0x20 && byte < 0x7f) ? 0 : UNUSUAL_BYTE;
});

/**
 * A way to look at one text after the other, whose memory serves the next. Byte by byte, because a look for two blanks stops at each of them,
 * and an expression for the rest takes longer than this does for all.
 */
export function openTextLook(): (text: string) => TextLook {
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(FIRST_ROOM);
  return (text) => {
    if (bytes.length < text.length) bytes = new Uint8Array(Math.ceil(1.25 * text.length));
    // What is not ASCII takes more bytes than there are, and is not read to its end.
    const { read } = encoder.encodeInto(text, bytes.subarray(0, text.length));
    if (read < text.length) return { isPlain: false, isSingle: false };
    const parts = partsOf(bytes, text.length);
    return { isPlain: (parts & UNUSUAL_BYTE) === 0, isSingle: parts <= BLANK };
  };
}

const FIRST_ROOM = 16_384;

function partsOf(bytes: Uint8Array, length: number): number {
  let parts = 0;
  let before = 0;
  for (let at = 0; at < length; at += 1) {
    const part = MADE_OF[bytes[at] ?? 0] ?? 0;
    parts |= part | ((part & before & BLANK) << 3);
    before = part;
  }
  return parts;
}

/** As `foldLine`, for the lines of one text: what all of it has not, is not looked for in each. */
export function foldFor({ isPlain, isSingle }: TextLook): typeof foldLine {
  if (isSingle) return trimmed;
  return isPlain ? foldPlainLine : foldLine;
}

function trimmed(line: string): string {
  return line.trim();
}

function foldPlainLine(line: string, kind: LineKind): string {
  const inner = kind === 'prose' && line.includes('*') ? line.replaceAll('*', '').trim() : line.trim();
  return inner.includes('  ') || inner.includes('\t') ? inner.replaceAll(BLANKS, ' ') : inner;
}

/** The 1-based column of `line` that became offset `at` of the folded line. */
export function columnBefore(line: string, kind: LineKind, at: number): number {
  let length = 0;
  let column = 1;
  walk(line, kind, (folded, index) => {
    column = index + 1;
    length += folded.length;
    return length <= at;
  });
  return column;
}

function walk(line: string, kind: LineKind, take: (folded: string, index: number) => boolean): void {
  let hasText = false;
  let space = -1;
  for (let index = 0; index < line.length;) {
    const character = String.fromCodePoint(codePointAt(line, index));
    const start = index;
    index += character.length;
    if (isSpace(character)) {
      if (space === -1) space = start;
      continue;
    }
    const folded = foldCharacter(character, kind);
    if (folded === '') continue;
    if (space !== -1 && hasText && !take(' ', space)) return;
    space = -1;
    hasText = true;
    if (!take(folded, start)) return;
  }
}

function isSpace(character: string): boolean {
  return character <= ' ' || (character > '~' && /\s/.test(character) && character !== '\ufeff');
}

function foldCharacter(character: string, kind: LineKind): string {
  if (character === '*') return kind === 'prose' ? '' : '*';
  if (character <= '~') return character;
  const quote = QUOTES.get(character);
  if (quote !== undefined) return quote;
  if (!isVisible(character)) return '';
  const wide = character.normalize('NFKC');
  // Only what becomes one sign that people type: the rest would change how words look for no gain.
  return wide.length === 1 && wide <= '~' && (WORD.test(wide) || character >= '\uff00') ? wide : character;
}

/** Lower case, one to one: an offset means the same place in both. */
export function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
