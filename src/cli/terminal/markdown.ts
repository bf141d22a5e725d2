/**
 * Markdown for a terminal, while it streams: headings, lists, tables, code, quotes and emphasis, wrapped by words. The text is untrusted:
 * control characters, terminal sequences and direction marks are removed before anything is looked at, and the work is linear in its length.
 */
import { cleanText, readMarkdownLine } from '#core';
import { renderInline, type MarkdownLook } from './markdown-inline.ts';
import { closeStyles } from './styles.ts';
import { wrapWords, breakWords } from './wrap.ts';
import { padText, textWidth } from '#platform';

export interface MarkdownStream {
  /** Takes the next piece of the text and returns the lines that are complete. */
  readonly add: (text: string) => readonly string[];
  /** The lines of the unfinished block, as they look now. */
  readonly growing: () => readonly string[];
  /** Ends the text and returns the lines that are left. */
  readonly end: () => readonly string[];
}

/** A longer line is shown before it ends. */
const MAX_LINE = 8_000;

export function openMarkdown(look: () => MarkdownLook): MarkdownStream {
  let state: ReturnType<typeof readMarkdownLine>['state'] | undefined;
  let line = '';
  const step = (text?: string): readonly string[] => {
    const next = readMarkdownLine(state, text);
    ({ state } = next);
    return next.blocks.flatMap((block) => blockLines(block, look()));
  };
  const take = (raw: string): readonly string[] => splitRaw(raw).flatMap((text) => step(text));
  const takeLast = (): readonly string[] => [...(line === '' ? [] : take(line)), ...step()];
  return {
    add(text) {
      const [first = '', ...others] = text.split('\n');
      line += first;
      const done: string[] = [];
      for (const other of others) {
        done.push(...take(line));
        line = other;
      }
      // Nothing ends a line that never breaks.
      if (line.length > MAX_LINE && state?.fence === undefined) {
        done.push(...takeLast());
        line = '';
      }
      return done;
    },
    growing() {
      const before = state;
      const lines = takeLast();
      state = before;
      return lines;
    },
    end() {
      const lines = takeLast();
      line = '';
      state = undefined;
      return lines;
    },
  };
}

/** The lines of a piece of text as a terminal can show them. */
function splitRaw(raw: string): readonly string[] {
  return cleanText(raw).replaceAll('\t', '    ').split('\n');
}

/** The whole text. */
export function renderMarkdown(text: string, look: MarkdownLook): readonly string[] {
  const { add, end } = openMarkdown(() => look);
  return [...add(text), ...end()];
}

function blockLines(
  block: ReturnType<typeof readMarkdownLine>['blocks'][number],
  look: MarkdownLook,
): readonly string[] {
  const { quotes, items } = block;
  const bars = look.style('dim', '│ ').repeat(quotes);
  const columns = items.map(({ marker }) => showMarker(marker).length + 1);
  const prefix = bars + ' '.repeat(sum(columns));
  switch (block.type) {
    case 'blank':
      return [''];
    case 'heading':
      return headingLines(block.level, block.text, bars, look);
    case 'rule':
      return [bars + look.style('dim', '─'.repeat(Math.max(3, Math.min(look.width, 60) - 2 * quotes)))];
    // Indentation and color show where code begins.
    case 'fence':
    case 'fence-end':
      return look.isColored ? [] : [prefix + block.text];
    // Code is printed as it is, line by line, so that it can be copied.
    case 'code':
      return [`${prefix}${look.isColored ? '  ' : ''}${block.text}`.trimEnd()];
    case 'indented':
      return [`${prefix}    ${block.text}`];
    case 'paragraph':
    case 'table': {
      const shown = showMarker(items.at(-1)?.marker ?? '');
      const first = `${bars}${' '.repeat(sum(columns.slice(0, -1)))}${look.style('dim', shown)} `;
      const start = block.startsItem ? first : prefix;
      if (block.type === 'paragraph')
        return wrapped(block.lines.map((line) => renderInline(line, look)).join(' '), start, prefix, look);
      const [header = [], delimiter = [], ...rows] = block.cells;
      return tableLines({ header, delimiter, rows }, start, look);
    }
  }
}

function showMarker(marker: string): string {
  return /^\d/.test(marker) ? marker : '•';
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function headingLines(level: number, title: string, bars: string, look: MarkdownLook): readonly string[] {
  if (!look.isColored) return wrapped(`${'#'.repeat(level)} ${renderInline(title, look)}`, bars, bars, look);
  const text = look.style('bold', renderInline(title, look));
  return wrapped(level === 1 ? look.style('underline', text) : text, bars, bars, look);
}

function wrapped(text: string, first: string, rest: string, { width }: MarkdownLook): readonly string[] {
  const indent = measureWidth(rest);
  const lines = wrapWords(text, { width: Math.max(MIN_TEXT, width - indent) }).split('\n');
  return closeStyles(lines).map((line, place) => `${place === 0 ? first : rest}${line}`.trimEnd());
}

/** Columns that text gets, however deep it is nested. */
const MIN_TEXT = 16;

function measureWidth(prefix: string): number {
  // oxlint-disable-next-line no-control-regex
  return prefix.replaceAll(/\u001B\[\d+m/g, '').length;
}

interface Table {
  readonly header: readonly string[];
  /** The row of hyphens, with a colon where a column is aligned. */
  readonly delimiter: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A narrower column is not readable. */
const MIN_COLUMN = 6;

const GAP = 3;

function tableLines({ header, delimiter, rows }: Table, prefix: string, look: MarkdownLook): readonly string[] {
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
