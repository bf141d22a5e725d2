/**
 * Reads Markdown line by line into blocks, for the terminal, the console and the site of skills. Raw HTML has no meaning, so markup of strangers
 * stays text. Every step is linear in the text, and a reader that streams can keep the state after each line.
 */
import { fenceAfter } from './code-fences.ts';

/** An open list item around a block. */
interface MarkdownItem {
  /** `-`, `*`, `+`, or a number with `.` or `)`. */
  readonly marker: string;
  /** The column of its content in the source. */
  readonly column: number;
}

/** Where a block is: inside of how many quotes, and of which list items, outermost first. */
interface Around {
  readonly quotes: number;
  readonly items: readonly MarkdownItem[];
}

export type MarkdownBlock = Around &
  (
    | { readonly type: 'heading'; readonly level: number; readonly text: string }
    /** `startsItem`: the innermost list item begins here. */
    | { readonly type: 'paragraph'; readonly lines: readonly string[]; readonly startsItem: boolean }
    /** The header, the row of hyphens, and the other rows. */
    | {
        readonly type: 'table';
        readonly lines: readonly string[];
        /** Of each line. */
        readonly cells: readonly (readonly string[])[];
        readonly startsItem: boolean;
      }
    | { readonly type: 'rule' }
    /** A block of code is its first line, its lines, and its last line if there is one. */
    | { readonly type: 'fence'; readonly text: string; readonly language: string }
    | { readonly type: 'code'; readonly text: string }
    | { readonly type: 'fence-end'; readonly text: string }
    /** A line of code by its indent. */
    | { readonly type: 'indented'; readonly text: string }
    /** One or more empty lines after a block. */
    | { readonly type: 'blank' }
  );

/** The block that the next line may continue. */
type OpenBlock = Extract<MarkdownBlock, { readonly lines: readonly string[] }>;

interface MarkdownState {
  readonly block: OpenBlock | undefined;
  /** What the lines of the block count. */
  readonly size: number;
  /** The marks of an open fence, the spaces before it, which are removed from the code, and where it is. */
  readonly fence: (Around & { readonly marks: string; readonly indent: number }) | undefined;
  readonly items: readonly MarkdownItem[];
  /** The last line was empty, or there was none. */
  readonly isAfterBlank: boolean;
}

interface MarkdownStep {
  readonly state: MarkdownState;
  /** The blocks that are complete. */
  readonly blocks: readonly MarkdownBlock[];
}

const MARKDOWN_START: MarkdownState = {
  block: undefined,
  size: 0,
  fence: undefined,
  items: [],
  isAfterBlank: true,
};

/** Longer blocks are read in parts, so that a reader that streams can show the block that grows. */
const MAX_MARKDOWN_BLOCK = 8_000;
/** A table needs all of its rows for the widths of its columns. */
const MAX_TABLE = 30_000;
/** What a line counts at least. */
const LINE_SIZE = 20;
/** Deeper nesting is read at this depth. */
const MAX_DEPTH = 6;

const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const RULE = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|)$/;
const UNDERLINE = /^(?:=+|-+)[ \t]*$/;
const DELIMITER = /^ *:?-+:? *$/;

/** All blocks of a text. */
export function readMarkdown(text: string): readonly MarkdownBlock[] {
  let state: MarkdownState | undefined;
  const blocks: MarkdownBlock[] = [];
  for (const line of [...text.split(/\r\n|[\n\r\u2028\u2029]/), undefined]) {
    const step = readMarkdownLine(state, line);
    ({ state } = step);
    blocks.push(...step.blocks);
  }
  return blocks;
}

/** Reads the next line. Without a state, it is the first; without a line, the block that is still open ends. */
export function readMarkdownLine(state: MarkdownState = MARKDOWN_START, raw?: string): MarkdownStep {
  if (raw === undefined) return { state: { ...state, block: undefined }, blocks: endMarkdown(state) };
  if (state.fence !== undefined) return readCode(state, state.fence, raw.trimEnd());
  const text = raw.replaceAll('\t', '    ').trimEnd();
  if (text.length > MAX_MARKDOWN_BLOCK) return readLongLine(state, text);
  const { quotes, rest } = removeQuotes(text);
  const content = rest.trimStart();
  if (content === '') return readBlank(state);
  const line = { content, quotes, indent: rest.length - content.length };
  return (
    readHeading(state, line) ??
    readFence(state, line) ??
    readRule(state, line) ??
    readItem(state, line) ??
    continueBlock(state, line) ??
    startParagraph(state, line)
  );
}

/** The block that is still open. */
function endMarkdown({ block }: MarkdownState): readonly MarkdownBlock[] {
  return block === undefined ? [] : [block];
}

/** The cells of a row of a table; `\|` does not separate. */
function splitCells(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

interface Line {
  readonly content: string;
  readonly quotes: number;
  /** Spaces before the content. */
  readonly indent: number;
}

/** A line that no person writes: its parts are paragraphs. */
function readLongLine(state: MarkdownState, text: string): MarkdownStep {
  const parts = Array.from({ length: Math.ceil(text.length / MAX_MARKDOWN_BLOCK) }, (_, place) =>
    text.slice(place * MAX_MARKDOWN_BLOCK, (place + 1) * MAX_MARKDOWN_BLOCK),
  );
  return single(
    state,
    parts.map((part) => ({ type: 'paragraph', lines: [part], startsItem: false, quotes: 0, items: [] })),
  );
}

/** Counts and removes the `>` marks of a quote. */
function removeQuotes(text: string): { readonly quotes: number; readonly rest: string } {
  const [marks = ''] = /^(?: {0,3}> ?)*/.exec(text) ?? [];
  return { quotes: Math.min(marks.split('>').length - 1, MAX_DEPTH), rest: text.slice(marks.length) };
}

function readBlank(state: MarkdownState): MarkdownStep {
  const blank: readonly MarkdownBlock[] = state.isAfterBlank ? [] : [{ type: 'blank', quotes: 0, items: [] }];
  return { state: { ...state, block: undefined, isAfterBlank: true }, blocks: [...endMarkdown(state), ...blank] };
}

/** Blocks of one line: the block before them ends, and all lists do. */
function single(state: MarkdownState, blocks: readonly MarkdownBlock[]): MarkdownStep {
  return { state: { ...MARKDOWN_START, isAfterBlank: false }, blocks: [...endMarkdown(state), ...blocks] };
}

function readHeading(state: MarkdownState, { content, quotes }: Line): MarkdownStep | undefined {
  const [whole, marks = '', text = ''] = HEADING.exec(content) ?? [];
  if (whole === undefined) return undefined;
  return single(state, [{ type: 'heading', level: marks.length, text, quotes, items: [] }]);
}

function readRule(state: MarkdownState, { content, quotes }: Line): MarkdownStep | undefined {
  // Under a paragraph, a line of hyphens makes it a heading.
  if (!RULE.test(content) || (state.block?.type === 'paragraph' && UNDERLINE.test(content))) return undefined;
  return single(state, [{ type: 'rule', quotes, items: [] }]);
}

function readFence(state: MarkdownState, { content, quotes, indent }: Line): MarkdownStep | undefined {
  const marks = fenceAfter(content);
  if (marks === undefined) return undefined;
  const items = state.items.filter(({ column }) => indent >= column);
  const language = content.slice(marks.length).trim();
  return {
    state: { ...MARKDOWN_START, fence: { marks, indent, quotes, items }, items, isAfterBlank: false },
    blocks: [...endMarkdown(state), { type: 'fence', text: content, language, quotes, items }],
  };
}

function readCode(state: MarkdownState, fence: NonNullable<MarkdownState['fence']>, text: string): MarkdownStep {
  const { marks, indent, quotes, items } = fence;
  if (fenceAfter(text, marks) === undefined)
    return {
      state: { ...state, fence: undefined },
      blocks: [{ type: 'fence-end', text: text.trim(), quotes, items }],
    };
  const start = Math.min(indent, text.length - text.trimStart().length);
  return { state, blocks: [{ type: 'code', text: text.slice(start), quotes, items }] };
}

function readItem(state: MarkdownState, { content, quotes, indent }: Line): MarkdownStep | undefined {
  const [whole, marker = '', text = ''] = ITEM.exec(content) ?? [];
  // A number in the middle of a paragraph starts no list, unless it is the first.
  const isProse =
    state.block?.type === 'paragraph' && state.items.length === 0 && /^\d/.test(marker) && !/^1[.)]$/.test(marker);
  if (whole === undefined || isProse) return undefined;
  const around = state.items.filter(({ column }) => indent >= column).slice(-MAX_DEPTH);
  const items = [...around, { marker, column: indent + marker.length + 1 }];
  const block: OpenBlock = { type: 'paragraph', lines: [text], startsItem: true, quotes, items };
  return { state: openBlock(block, text), blocks: endMarkdown(state) };
}

/** A line that belongs to the block before it. */
function continueBlock(state: MarkdownState, { content, quotes }: Line): MarkdownStep | undefined {
  const { block } = state;
  if (block === undefined || (block.quotes !== quotes && quotes > 0)) return undefined;
  if (block.type === 'paragraph' && UNDERLINE.test(content) && state.items.length === 0) {
    const [level, text] = [content.startsWith('=') ? 1 : 2, block.lines.join(' ')];
    return {
      state: { ...state, block: undefined },
      blocks: [{ type: 'heading', level, text, quotes: block.quotes, items: [] }],
    };
  }
  const [header = ''] = block.lines;
  const isTable = block.type === 'paragraph' && block.lines.length === 1 && isDelimiterRow(header, content);
  if (block.type === 'table' && !content.includes('|')) return undefined;
  const lines = [...block.lines, content];
  const above = block.type === 'table' ? block.cells : isTable ? [splitCells(header)] : undefined;
  const next: OpenBlock =
    above === undefined
      ? { ...block, lines }
      : { ...block, type: 'table', lines, cells: [...above, splitCells(content)] };
  const size = state.size + content.length + LINE_SIZE;
  const isFull = size > (next.type === 'table' ? MAX_TABLE : MAX_MARKDOWN_BLOCK);
  return { state: { ...state, block: isFull ? undefined : next, size }, blocks: isFull ? [next] : [] };
}

/** Whether a line makes the line before it the header of a table. */
function isDelimiterRow(header: string, line: string): boolean {
  const cells = splitCells(line);
  return (
    line.includes('|') && cells.every((cell) => DELIMITER.test(cell)) && splitCells(header).length === cells.length
  );
}

function startParagraph(state: MarkdownState, { content, quotes, indent }: Line): MarkdownStep {
  // Text without an indent after an empty line ends the list.
  const items = state.items.filter(({ column }) => indent > 0 && indent + 1 >= column);
  // Four spaces outside of a list are code.
  if (indent >= 4 && items.length === 0 && state.isAfterBlank)
    return {
      state: { ...state, block: undefined, items },
      blocks: [...endMarkdown(state), { type: 'indented', text: content, quotes, items }],
    };
  const block: OpenBlock = { type: 'paragraph', lines: [content], startsItem: false, quotes, items };
  return { state: openBlock(block, content), blocks: endMarkdown(state) };
}

function openBlock(block: OpenBlock, line: string): MarkdownState {
  return { block, size: line.length, fence: undefined, items: block.items, isAfterBlank: false };
}
