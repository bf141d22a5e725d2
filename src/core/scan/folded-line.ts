/**
 * Lines as rules look at them: what can be varied without changing what a reader understands (emphasis, runs of white space, invisible
 * characters, full width, case) is gone, so that a rule need not think of it. Where something stood is worked out only for findings.
 */
import { codePointAt } from '../code-point.ts';
import { isVisible } from '../text.ts';

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
  const known = line.replaceAll(DOUBTFUL, (character) => (isSpace(character) ? ' ' : foldCharacter(character, kind)));
  return (kind === 'prose' ? known.replaceAll('*', '') : known).replaceAll(BLANKS, ' ').trim();
}

/** A text of ASCII that shows, blanks, tabs and line feeds: most are, and much need not be asked of such. */
export function isPlainText(text: string): boolean {
  return !UNUSUAL.test(text);
}

/** As `foldLine`, for the lines of one plain text: what all of it has not, is not looked for in each. */
export function openPlainFold(text: string): typeof foldLine {
  const hasStars = text.includes('*');
  const hasRuns = hasStars || text.includes('  ') || text.includes('\t');
  return (line, kind) => {
    const inner = hasStars && kind === 'prose' ? line.replaceAll('*', '').trim() : line.trim();
    return hasRuns && (inner.includes('  ') || inner.includes('\t')) ? inner.replaceAll(BLANKS, ' ') : inner;
  };
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
