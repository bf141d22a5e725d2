import { textWidth } from '#platform';

export interface WrapOptions {
  readonly width: number;
  /** Spaces before every line but the first. */
  readonly indent?: number;
  /** Columns of the first line that are already taken. */
  readonly column?: number;
}

/**
 * A line break, or a word with the spaces before it. Chinese and Japanese may break after any character. Compiled on first use, because it
 * takes long.
 */
let pieces: RegExp | undefined;

/** Wraps a text at a width, between words only. A word wider than a line stays whole. Styles take no columns. */
export function wrapWords(text: string, { width, indent = 0, column: start = 0 }: WrapOptions): string {
  let column = start;
  const place = (piece: string): string => {
    if (piece === '\n') {
      column = 0;
      return piece;
    }
    const pieceWidth = textWidth(piece);
    // A break where the next line starts no earlier gains no room.
    if (column <= indent || column + pieceWidth <= width) {
      column += pieceWidth;
      return piece;
    }
    const word = piece.trimStart();
    column = indent + textWidth(word);
    return word === '' ? '' : `\n${' '.repeat(indent)}${word}`;
  };
  pieces ??=
    /\n|[^\S\n]*(?:[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]\p{P}*|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+)|[^\S\n]+/gu;
  return (text.match(pieces) ?? []).map(place).join('');
}

const UNIT = /\u001B\[\d+m/g;

/** Breaks the words that are wider than a line too, for cells of a table. */
export function breakWords(text: string, width: number): readonly string[] {
  return wrapWords(text, { width })
    .split('\n')
    .flatMap((line) => (textWidth(line) <= width ? [line] : brokenLine(line, width)));
}

function brokenLine(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  let column = 0;
  const add = (unit: string): void => {
    const unitWidth = textWidth(unit);
    if (column > 0 && column + unitWidth > width) {
      lines.push(current);
      current = '';
      column = 0;
    }
    current += unit;
    column += unitWidth;
  };
  let from = 0;
  for (const { index, 0: code } of line.matchAll(UNIT)) {
    for (const { segment } of new Intl.Segmenter().segment(line.slice(from, index))) add(segment);
    current += code;
    from = index + code.length;
  }
  for (const { segment } of new Intl.Segmenter().segment(line.slice(from))) add(segment);
  return [...lines, current];
}
