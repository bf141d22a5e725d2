/**
 * Normalizes lines for matching: removes emphasis, repeated white space, invisible characters and full-width variants, so that patterns need
 * not handle them and cannot be evaded with them. The original column is computed only for findings.
 */
import { codePointAt, cleanText } from '#core';

/** ASCII words with single spaces between them: already normalized. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** Characters that may need a replacement: all but ASCII and common letters. */
const REPLACEABLE = /[^\0-\x7e\u00c0-\u024f\u0400-\u04ff\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]/gu;
const WHITE_SPACE = /[\0-\x20\s]+/g;
const NOT_PLAIN = /[^\t\n\x20-\x7e]/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
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

/** Returns the normalized line. `*` is removed from prose, where it is emphasis. Letter case is kept. */
export function normalizeLine(line: string, kind: LineKind): string {
  const inner = kind === 'prose' && line.includes('*') ? line.replaceAll('*', '').trim() : line.trim();
  if (inner === '' || PLAIN.test(inner)) return inner;
  if (!NOT_PLAIN.test(inner)) return inner.replaceAll(WHITE_SPACE, ' ');
  const replaced = line.replaceAll(REPLACEABLE, (character) =>
    isSpace(character) ? ' ' : normalizeCharacter(character, kind),
  );
  return (kind === 'prose' ? replaced.replaceAll('*', '') : replaced).replaceAll(WHITE_SPACE, ' ').trim();
}

/** The 1-based column of `line` for offset `at` of the normalized line. */
export function sourceColumn(line: string, kind: LineKind, at: number): number {
  let length = 0;
  let column = 1;
  forEachNormalized(line, kind, (normalized, index) => {
    column = index + 1;
    length += normalized.length;
    return length <= at;
  });
  return column;
}

/** Calls `visit` with each normalized piece and its index in `line`, until `visit` returns false. */
function forEachNormalized(line: string, kind: LineKind, visit: (normalized: string, index: number) => boolean): void {
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
    const normalized = normalizeCharacter(character, kind);
    if (normalized === '') continue;
    if (space !== -1 && hasText && !visit(' ', space)) return;
    space = -1;
    hasText = true;
    if (!visit(normalized, start)) return;
  }
}

function isSpace(character: string): boolean {
  return character <= ' ' || (character > '~' && /\s/.test(character) && character !== '\ufeff');
}

function normalizeCharacter(character: string, kind: LineKind): string {
  if (character === '*') return kind === 'prose' ? '' : '*';
  if (character <= '~') return character;
  const quote = QUOTES.get(character);
  if (quote !== undefined) return quote;
  if (cleanText(character) === '') return '';
  const ascii = character.normalize('NFKC');
  // Other compatibility characters are kept, because replacing them would change excerpts without finding more.
  return ascii.length === 1 && ascii <= '~' && (LETTER_OR_DIGIT.test(ascii) || character >= '\uff00')
    ? ascii
    : character;
}

/** Lower case with the same length, so that offsets stay valid. */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
