import { codePointAt, sliceEnd, sliceStart } from './code-point.ts';
import { countCharacters, printable } from './text.ts';

/**
 * Frames untrusted text in a prompt to a person. Every row starts with a frame that our own rows never have, and no row is wider than the
 * screen, so that the text cannot imitate our output.
 */

export const FRAME = '  │ ';
/** Continues a row that was too long. */
const GOES_ON = '  │↳';

/** Four columns for the frame, and one because some terminals wrap at the last column. */
const MARGIN = 5;
const LEAST_COLUMNS = 20;
/** Combining marks per character; more would be drawn over neighboring rows. */
const MAX_MARKS = 3;

/** Characters that look empty, are unassigned or private, or change the text direction. */
const WRITTEN_OUT =
  /[\u{590}-\u{8ff}\u{fb1d}-\u{fdff}\u{fe70}-\u{feff}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\u{2800}\p{Zs}\p{Co}\p{Cn}]/u;
const MARK = /\p{M}/u;

interface FrameOptions {
  /** Columns of the terminal. */
  readonly width: number;
  /** Beyond this, the middle is omitted. */
  readonly maxRows: number;
  /** Escapes line ends; for names, which take one line each. */
  readonly isOneLine?: boolean;
}

interface FramedText {
  readonly start: readonly string[];
  /** Empty if nothing is omitted. */
  readonly end: readonly string[];
  /** Number of omitted characters. */
  readonly leftOut: number;
}

interface Row {
  readonly text: string;
  /** Number of characters that the row shows. */
  readonly characters: number;
}

/** The start and the end of a text in framed rows, with all characters visible. */
export function frameText(text: string, { width, maxRows, isOneLine = false }: FrameOptions): FramedText {
  const columns = Math.max(LEAST_COLUMNS, width - MARGIN);
  // More than the rows can hold; bounds the work for long texts.
  const enough = maxRows * columns * 2;
  if (text.length <= enough) {
    const rows = wrapRows(text, columns, isOneLine);
    if (rows.length <= maxRows) return { start: rows.map((row) => row.text), end: [], leftOut: 0 };
  }
  const start = wrapRows(sliceStart(text, enough), columns, isOneLine).slice(0, Math.ceil(maxRows / 2));
  const end = wrapRows(sliceEnd(text, enough), columns, isOneLine).slice(-Math.max(1, Math.floor(maxRows / 2)));
  const shown = [...start, ...end].reduce((sum, { characters }) => sum + characters, 0);
  return {
    start: start.map((row) => row.text),
    end: end.map((row) => row.text),
    leftOut: Math.max(0, countCharacters(text) - shown),
  };
}

function wrapRows(text: string, columns: number, isOneLine: boolean): readonly Row[] {
  const lines = isOneLine ? [text] : text.split('\n');
  return lines.flatMap((line, place) => {
    const rows = rowsOfLine(line, columns);
    // The line end counts with the row that it ends.
    return place === lines.length - 1 ? rows : [...rows.slice(0, -1), ...rows.slice(-1).map(withLineEnd)];
  });
}

function withLineEnd({ text, characters }: Row): Row {
  return { text, characters: characters + 1 };
}

function rowsOfLine(line: string, columns: number): readonly Row[] {
  const rows: Row[] = [];
  let [row, width, characters, marks] = ['', 0, 0, MAX_MARKS];
  const close = (): void => {
    rows.push({ text: (rows.length === 0 ? FRAME : GOES_ON) + row, characters });
    // A combining mark at the start of a row would be drawn on the frame.
    [row, width, characters, marks] = ['', 0, 0, MAX_MARKS];
  };
  for (const character of line) {
    marks = MARK.test(character) ? marks + 1 : 0;
    const cell = marks > MAX_MARKS || isWrittenOut(character) ? escaped(character) : toCell(character, row);
    // The width of non-ASCII characters depends on the terminal; it is at most two columns.
    const cellWidth = cell.length > 2 || cell <= '~' ? cell.length : 2;
    if (width + cellWidth > columns) close();
    const isAtStart = row === '' && MARK.test(character);
    row += isAtStart ? escaped(character) : cell;
    width += isAtStart ? escaped(character).length : cellWidth;
    characters += 1;
  }
  close();
  return rows;
}

/** A tab that indents a line, also one of a diff, is an arrow: written out, code would be hard to read. */
function toCell(character: string, before: string): string {
  return character === '\t' && /^[-+ →]*$/.test(before) ? '→   ' : printable(character);
}

function isWrittenOut(character: string): boolean {
  return character !== ' ' && WRITTEN_OUT.test(character);
}

function escaped(character: string): string {
  return `\\u{${codePointAt(character, 0).toString(16)}}`;
}
