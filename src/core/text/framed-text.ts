import { codePointAt } from './code-point.ts';
import { countCharacters, printable } from './text.ts';

/**
 * A stranger's text in front of a person who decides by it. Every row of it starts with a frame that our own rows never have, and no
 * row is wider than the screen, so that nothing of it can stand where only we write.
 */

export const FRAME = '  │ ';
/** The row before it was too long. */
const GOES_ON = '  │↳';

/** Four for the frame, and one because some terminals begin a new row when the last column is used. */
const MARGIN = 5;
const LEAST_COLUMNS = 20;
/** Accents on one letter; more of them would be drawn over the rows above and below. */
const MAX_MARKS = 3;

/** Looks like a space or like nothing, has no meaning of its own (private use, not assigned), or turns the direction of its row. */
const WRITTEN_OUT =
  /[\u{590}-\u{8ff}\u{fb1d}-\u{fdff}\u{fe70}-\u{feff}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\u{2800}\p{Zs}\p{Co}\p{Cn}]/u;
const MARK = /\p{M}/u;

export interface FrameOptions {
  /** Columns of the screen. */
  readonly width: number;
  /** Beyond this the middle is left out. */
  readonly maxRows: number;
  /** Line ends are written out: for names, of which each is one line. */
  readonly isOneLine?: boolean;
}

export interface FramedText {
  readonly start: readonly string[];
  /** Empty where nothing is left out. */
  readonly end: readonly string[];
  /** Characters between the two. */
  readonly leftOut: number;
}

interface Row {
  readonly text: string;
  /** How many characters of the text it shows. */
  readonly characters: number;
}

/** The start and the end of a text, every character of them visible, in rows with a frame. */
export function frameText(text: string, { width, maxRows, isOneLine = false }: FrameOptions): FramedText {
  const columns = Math.max(LEAST_COLUMNS, width - MARGIN);
  // More than the rows can hold, so that of a text of any length only this much is looked at.
  const enough = maxRows * columns * 2;
  if (text.length <= enough) {
    const rows = rowsOf(text, columns, isOneLine);
    if (rows.length <= maxRows) return { start: rows.map((row) => row.text), end: [], leftOut: 0 };
  }
  const start = rowsOf(text.slice(0, enough), columns, isOneLine).slice(0, Math.ceil(maxRows / 2));
  const end = rowsOf(endOf(text, enough), columns, isOneLine).slice(-Math.max(1, Math.floor(maxRows / 2)));
  const shown = [...start, ...end].reduce((sum, { characters }) => sum + characters, 0);
  return {
    start: start.map((row) => row.text),
    end: end.map((row) => row.text),
    leftOut: Math.max(0, countCharacters(text) - shown),
  };
}

/** Never starts with half a character. */
function endOf(text: string, length: number): string {
  const end = text.slice(-length);
  const first = end.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? end.slice(1) : end;
}

function rowsOf(text: string, columns: number, isOneLine: boolean): readonly Row[] {
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
    // A mark at the start of a row would be drawn on the frame.
    [row, width, characters, marks] = ['', 0, 0, MAX_MARKS];
  };
  for (const character of line) {
    marks = MARK.test(character) ? marks + 1 : 0;
    const cell = marks > MAX_MARKS || isWrittenOut(character) ? escaped(character) : printable(character);
    // Nobody can know how wide a terminal draws what is not ASCII; it is never more than two columns.
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

function isWrittenOut(character: string): boolean {
  return character !== ' ' && WRITTEN_OUT.test(character);
}

function escaped(character: string): string {
  return `\\u{${codePointAt(character, 0).toString(16)}}`;
}
