/** Reads CSV by RFC 4180, with positions; accepts a byte order mark and CRLF or LF. */
import type { Position } from '../../core/json/json-position.ts';

export interface CsvCell extends Position {
  readonly text: string;
}

export type CsvReading =
  | { readonly type: 'read'; readonly rows: readonly (readonly CsvCell[])[] }
  | { readonly type: 'broken'; readonly at: Position; readonly reason: string };

interface Cursor {
  readonly text: string;
  readonly separator: string;
  offset: number;
  line: number;
  lineStart: number;
}

/** Skips empty rows. */
export function readCsv(source: string): CsvReading {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const cursor: Cursor = { text, separator: separatorOf(text), offset: 0, line: 1, lineStart: 0 };
  const rows: CsvCell[][] = [];
  let row: CsvCell[] = [];
  while (cursor.offset < text.length) {
    const at = here(cursor);
    const cell = text[cursor.offset] === '"' ? quotedCell(cursor) : plainCell(cursor);
    if (cell === undefined) return { type: 'broken', at, reason: 'unterminated quote, or text after a closing quote' };
    row.push({ ...at, text: cell });
    if (text[cursor.offset] === cursor.separator) {
      cursor.offset += 1;
      // A separator at the end of the text is followed by an empty cell.
      if (cursor.offset === text.length) row.push({ ...here(cursor), text: '' });
      continue;
    }
    endLine(cursor);
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return { type: 'read', rows: rows.filter((cells) => cells.some(({ text: found }) => found.trim() !== '')) };
}

/** Detects semicolons and tabs, which some spreadsheets write, by the first line. */
function separatorOf(text: string): string {
  const end = text.search(/[\r\n]/);
  const first = end === -1 ? text : text.slice(0, end);
  return [',', ';', '\t'].find((separator) => first.includes(separator)) ?? ',';
}

function here({ line, offset, lineStart }: Cursor): Position {
  return { line, column: offset - lineStart + 1 };
}

function plainCell(cursor: Cursor): string {
  const start = cursor.offset;
  while (cursor.offset < cursor.text.length && !isEnd(cursor)) cursor.offset += 1;
  return cursor.text.slice(start, cursor.offset).trim();
}

function quotedCell(cursor: Cursor): string | undefined {
  const { text } = cursor;
  const pieces: string[] = [];
  for (let from = cursor.offset + 1; ;) {
    const close = text.indexOf('"', from);
    if (close === -1) return undefined;
    pieces.push(text.slice(from, close));
    countLines(cursor, from, close);
    cursor.offset = close + 1;
    if (text[close + 1] !== '"') break;
    pieces.push('"');
    from = close + 2;
  }
  while (text[cursor.offset] === ' ') cursor.offset += 1;
  return cursor.offset === text.length || isEnd(cursor) ? pieces.join('') : undefined;
}

function isEnd({ text, offset, separator }: Cursor): boolean {
  const character = text[offset];
  return character === separator || character === '\n' || character === '\r';
}

function endLine(cursor: Cursor): void {
  if (cursor.text[cursor.offset] === '\r' && cursor.text[cursor.offset + 1] === '\n') cursor.offset += 1;
  if (cursor.offset >= cursor.text.length) return;
  cursor.offset += 1;
  cursor.line += 1;
  cursor.lineStart = cursor.offset;
}

function countLines(cursor: Cursor, from: number, to: number): void {
  for (let at = cursor.text.indexOf('\n', from); at !== -1 && at < to; at = cursor.text.indexOf('\n', at + 1)) {
    cursor.line += 1;
    cursor.lineStart = at + 1;
  }
}
