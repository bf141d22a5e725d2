import { padText, textWidth } from '#platform';
import { renderInline, type MarkdownLook } from './markdown-inline.ts';
import { closeStyles } from './styles.ts';
import { breakWords, wrapWords } from './wrap.ts';

export interface Table {
  readonly header: readonly string[];
  /** The row of hyphens, with a colon where a column is aligned. */
  readonly delimiter: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A narrower column is not readable. */
const MIN_COLUMN = 6;
const GAP = 3;

export function tableLines({ header, delimiter, rows }: Table, prefix: string, look: MarkdownLook): readonly string[] {
  const columns = header.length;
  const shown = [header, ...rows].map((row) => header.map((_, column) => renderInline(row[column] ?? '', look)));
  const room = look.width - textWidth(prefix) - GAP * (columns - 1);
  if (room < columns * MIN_COLUMN) return recordLines(shown, prefix, look);
  const natural = header.map((_, column) => Math.max(3, ...shown.map((row) => textWidth(row[column] ?? ''))));
  const widths = fitted(natural, room);
  const [separator, cross] = [look.style('dim', ' │ '), look.style('dim', '─┼─')];
  const isRight = delimiter.map((cell) => cell.endsWith(':') && !cell.startsWith(':'));
  const drawn = shown.map((row, place) => {
    const cells = row.map((cell, column) =>
      closeStyles(breakWords(place === 0 ? look.style('bold', cell) : cell, widths[column] ?? MIN_COLUMN)),
    );
    const height = Math.max(...cells.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) =>
      `${prefix}${cells.map((lines, column) => aligned(lines[line] ?? '', widths[column] ?? 0, isRight[column] === true)).join(separator)}`.trimEnd(),
    );
  });
  const ruler = `${prefix}${widths.map((width) => look.style('dim', '─'.repeat(width))).join(cross)}`;
  const [first = [], ...others] = drawn;
  return [...first, ruler, ...others.flat()];
}

function aligned(text: string, width: number, isRight: boolean): string {
  return isRight ? ' '.repeat(Math.max(0, width - textWidth(text))) + text : padText(text, width);
}

/** Makes the widest columns narrower until the table fits. */
function fitted(natural: readonly number[], room: number): readonly number[] {
  const total = natural.reduce((sum, width) => sum + width, 0);
  if (total <= room) return natural;
  // The largest cap under which the capped widths fit.
  let cap = Math.max(MIN_COLUMN, Math.floor(room / natural.length));
  const capped = (limit: number): number => natural.reduce((sum, width) => sum + Math.min(width, limit), 0);
  while (capped(cap + 1) <= room) cap += 1;
  return natural.map((width) => Math.min(width, cap));
}

/** A table that is too wide for the terminal: one line per cell. */
function recordLines(rows: readonly (readonly string[])[], prefix: string, look: MarkdownLook): readonly string[] {
  const [header = [], ...others] = rows;
  return others.flatMap((row, place) => [
    ...(place === 0 ? [] : ['']),
    ...row.flatMap((cell, column) =>
      closeStyles(
        wrapWords(`${look.style('bold', header[column] ?? '')}: ${cell}`, { width: look.width, indent: 2 }).split('\n'),
      ).map((line) => prefix + line),
    ),
  ]);
}
