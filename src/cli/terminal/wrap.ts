import { textWidth } from '../../platform/text-width.ts';

export interface WordWrapper {
  /** Returns as much of the text so far as can be printed: a word that may grow is held back. */
  readonly add: (text: string) => string;
  /** Returns the word that was held back. The next text starts a new line. */
  readonly end: () => string;
}

export interface WrapOptions {
  readonly width: number;
  /** Spaces before every line but the first. */
  readonly indent?: number;
  /** Columns of the first line that are already taken. */
  readonly column?: number;
}

/** A line break, or a word with the spaces before it. Chinese and Japanese may break after any character. */
const PIECE =
  /\n|[^\S\n]*(?:[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]\p{P}*|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+)|[^\S\n]+/gu;

/** Wraps text at a width, between words only, while the text arrives in pieces. A word wider than a line stays whole. */
export function openWordWrapper({ width, indent = 0, column: start = 0 }: WrapOptions): WordWrapper {
  let column = start;
  let pending = '';
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
  const end = (): string => {
    const last = pending === '' ? '' : place(pending);
    pending = '';
    column = 0;
    return last;
  };
  return {
    add(text) {
      const pieces = (pending + text).match(PIECE) ?? [];
      pending = '';
      if (pieces.at(-1) !== '\n') pending = pieces.pop() ?? '';
      return pieces.map(place).join('');
    },
    end,
  };
}

/** The whole text, wrapped at a width. */
export function wrapWords(text: string, options: WrapOptions): string {
  const { add, end } = openWordWrapper(options);
  return add(text) + end();
}
