/**
 * Markdown for a terminal, while it streams: headings, lists, tables, code, quotes and emphasis, wrapped by words. The text is untrusted:
 * control characters, terminal sequences and direction marks are removed before anything is looked at, and the work is linear in its length.
 */
import { cleanText } from '#core';
import { renderInline, type MarkdownLook } from './markdown-inline.ts';
import { splitCells, isDelimiterRow, tableLines } from './markdown-table.ts';
import { closeStyles } from './styles.ts';
import { wrapWords } from './wrap.ts';

export interface MarkdownStream {
  /** Takes the next piece of the text and returns the lines that are complete. */
  readonly add: (text: string) => readonly string[];
  /** The lines of the unfinished block, as they look now. */
  readonly growing: () => readonly string[];
  /** Ends the text and returns the lines that are left. */
  readonly end: () => readonly string[];
}

/** Longer blocks are printed in parts, so that drawing the growing block stays cheap. */
const MAX_BLOCK = 8_000;
/** A table needs all of its rows for the widths of its columns. */
const MAX_TABLE = 30_000;
/** What a line counts at least. */
const LINE_SIZE = 20;

/** The block that the next line may continue. */
interface Block {
  readonly type: 'paragraph' | 'table';
  /** What is printed before the first line: spaces, quote bars, a list marker. */
  readonly first: string;
  /** What is printed before the other lines. */
  readonly rest: string;
  readonly quotes: number;
  readonly lines: readonly string[];
  readonly size: number;
}

interface Fence {
  readonly mark: string;
  readonly length: number;
  /** Spaces before the fence, which are removed from the code. */
  readonly indent: number;
  readonly prefix: string;
}

interface State {
  readonly block: Block | undefined;
  readonly fence: Fence | undefined;
  /** Open list items: the column of the content in the source, and the columns of the content on the screen. */
  readonly items: readonly { readonly source: number; readonly shown: number }[];
  /** The last printed line was empty, or nothing was printed. */
  readonly isAfterBlank: boolean;
}

const FIRST: State = { block: undefined, fence: undefined, items: [], isAfterBlank: true };

const HEADING = /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const FENCE = /^(`{3,}|~{3,})[ \t]*([^`]*)$/;
const RULE = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|)$/;
const UNDERLINE = /^(?:=+|-+)[ \t]*$/;

export function openMarkdown(look: () => MarkdownLook): MarkdownStream {
  let state = FIRST;
  let line = '';
  const take = (text: string): readonly string[] => {
    const step = nextLine(state, text, look());
    ({ state } = step);
    return step.lines;
  };
  const takeRaw = (raw: string): readonly string[] => cleanText(raw).split('\n').flatMap(take);
  return {
    add(text) {
      const [first = '', ...others] = text.split('\n');
      line += first;
      const done: string[] = [];
      for (const other of others) {
        done.push(...takeRaw(line));
        line = other;
      }
      // Nothing ends a line that never breaks.
      if (line.length > MAX_BLOCK && state.fence === undefined) {
        done.push(...takeRaw(line), ...endBlock(state, look()));
        state = { ...state, block: undefined };
        line = '';
      }
      return done;
    },
    growing() {
      const lines: string[] = [];
      let at = state;
      for (const text of line === '' ? [] : cleanText(line).split('\n')) {
        const step = nextLine(at, text, look());
        lines.push(...step.lines);
        at = step.state;
      }
      return [...lines, ...endBlock(at, look())];
    },
    end() {
      const lines = [...(line === '' ? [] : takeRaw(line)), ...endBlock(state, look())];
      line = '';
      state = FIRST;
      return lines;
    },
  };
}

/** The whole text. */
export function renderMarkdown(text: string, look: MarkdownLook): readonly string[] {
  const { add, end } = openMarkdown(() => look);
  return [...add(text), ...end()];
}

interface Step {
  readonly state: State;
  readonly lines: readonly string[];
}

function nextLine(state: State, raw: string, look: MarkdownLook): Step {
  const text = raw.replaceAll('\t', '    ').trimEnd();
  if (state.fence !== undefined) return inFence(state, state.fence, text, look);
  if (text.length > MAX_BLOCK) return longLine(state, text, look);
  const { quotes, rest } = unquoted(text);
  const content = rest.trimStart();
  const indent = rest.length - content.length;
  if (content === '') return blankLine(state, look);
  return (
    heading(state, content, quotes, look) ??
    fence(state, content, { quotes, indent }, look) ??
    rule(state, content, quotes, look) ??
    listItem(state, content, { quotes, indent }, look) ??
    continued(state, content, quotes, look) ??
    paragraph(state, content, { quotes, indent }, look)
  );
}

/** A line that no person writes: its parts are paragraphs. */
function longLine(state: State, text: string, look: MarkdownLook): Step {
  const parts = Array.from({ length: Math.ceil(text.length / MAX_BLOCK) }, (_, place) =>
    text.slice(place * MAX_BLOCK, (place + 1) * MAX_BLOCK),
  );
  return single(
    state,
    parts.flatMap((part) => wrapped(renderInline(part, look), '', '', look)),
    look,
  );
}

/** Counts and removes the `>` marks of a quote. */
function unquoted(text: string): { readonly quotes: number; readonly rest: string } {
  const [marks = ''] = /^(?: {0,3}> ?)*/.exec(text) ?? [];
  return { quotes: Math.min(marks.split('>').length - 1, MAX_DEPTH), rest: text.slice(marks.length) };
}

/** Deeper nesting is shown at this depth, so that some columns are left for the text. */
const MAX_DEPTH = 6;

function bars(quotes: number, { style }: MarkdownLook): string {
  return style('dim', '│ ').repeat(quotes);
}

function blankLine(state: State, look: MarkdownLook): Step {
  const lines = endBlock(state, look);
  const blank = state.isAfterBlank && lines.length === 0 ? [] : [''];
  return { state: { ...state, block: undefined, isAfterBlank: true }, lines: [...lines, ...blank] };
}

/** A block of one line: the block before it ends. */
function single(state: State, lines: readonly string[], look: MarkdownLook): Step {
  return {
    state: { block: undefined, fence: undefined, items: [], isAfterBlank: false },
    lines: [...endBlock(state, look), ...lines],
  };
}

function heading(state: State, content: string, quotes: number, look: MarkdownLook): Step | undefined {
  const [whole, marks = '', title = ''] = HEADING.exec(content) ?? [];
  if (whole === undefined) return undefined;
  return single(state, headingLines(marks.length, title, quotes, look), look);
}

function headingLines(depth: number, title: string, quotes: number, look: MarkdownLook): readonly string[] {
  const bar = bars(quotes, look);
  if (!look.isColored) return wrapped(`${'#'.repeat(depth)} ${renderInline(title, look)}`, bar, bar, look);
  const text = look.style('bold', renderInline(title, look));
  return wrapped(depth === 1 ? look.style('underline', text) : text, bar, bar, look);
}

function rule(state: State, content: string, quotes: number, look: MarkdownLook): Step | undefined {
  // Under a paragraph, a line of hyphens makes it a heading.
  if (!RULE.test(content) || (state.block?.type === 'paragraph' && UNDERLINE.test(content))) return undefined;
  const width = Math.max(3, Math.min(look.width, 60) - 2 * quotes);
  return single(state, [`${bars(quotes, look)}${look.style('dim', '─'.repeat(width))}`], look);
}

interface LineContext {
  readonly quotes: number;
  /** Spaces before the content. */
  readonly indent: number;
}

function fence(state: State, content: string, { quotes, indent }: LineContext, look: MarkdownLook): Step | undefined {
  const [whole, marks = '', language = ''] = FENCE.exec(content) ?? [];
  if (whole === undefined) return undefined;
  const items = state.items.filter(({ source }) => indent >= source);
  const prefix = bars(quotes, look) + ' '.repeat(items.at(-1)?.shown ?? 0);
  const opened = { mark: marks.charAt(0), length: marks.length, indent, prefix };
  const label = look.isColored ? look.style('dim', language.trim() === '' ? '' : `  ${language.trim()}`) : content;
  return {
    state: { block: undefined, fence: opened, items, isAfterBlank: false },
    lines: [
      ...endBlock(state, look),
      ...(label === '' || (look.isColored && language.trim() === '') ? [] : [prefix + label]),
    ],
  };
}

/** Code is printed as it is, line by line, so that it can be copied. */
function inFence(state: State, { mark, length, indent, prefix }: Fence, text: string, look: MarkdownLook): Step {
  const content = text.trim();
  const isEnd = content.length >= length && content === mark.repeat(content.length);
  if (isEnd) return { state: { ...state, fence: undefined }, lines: look.isColored ? [] : [prefix + content] };
  const start = Math.min(indent, text.length - text.trimStart().length);
  return { state, lines: [`${prefix}${look.isColored ? '  ' : ''}${text.slice(start)}`.trimEnd()] };
}

function listItem(
  state: State,
  content: string,
  { quotes, indent }: LineContext,
  look: MarkdownLook,
): Step | undefined {
  const [whole, marker = '', text = ''] = ITEM.exec(content) ?? [];
  // A number in the middle of a paragraph starts no list, unless it is the first.
  const isProse =
    state.block?.type === 'paragraph' && state.items.length === 0 && /^\d/.test(marker) && !/^1[.)]$/.test(marker);
  if (whole === undefined || isProse) return undefined;
  const around = state.items.filter(({ source }) => indent >= source).slice(-MAX_DEPTH);
  const column = around.at(-1)?.shown ?? 0;
  const shown = /^\d/.test(marker) ? marker : '•';
  const next = column + shown.length + 1;
  const first = `${bars(quotes, look)}${' '.repeat(column)}${look.style('dim', shown)} `;
  const rest = `${bars(quotes, look)}${' '.repeat(next)}`;
  return {
    state: {
      block: { type: 'paragraph', first, rest, quotes, lines: [text], size: text.length },
      fence: undefined,
      items: [...around, { source: indent + marker.length + 1, shown: next }],
      isAfterBlank: false,
    },
    lines: endBlock(state, look),
  };
}

/** A line that belongs to the block before it. */
function continued(state: State, content: string, quotes: number, look: MarkdownLook): Step | undefined {
  const { block } = state;
  if (block === undefined || (block.quotes !== quotes && quotes > 0)) return undefined;
  if (block.type === 'paragraph' && UNDERLINE.test(content) && state.items.length === 0)
    return {
      state: { ...state, block: undefined },
      lines: headingLines(content.startsWith('=') ? 1 : 2, block.lines.join(' '), block.quotes, look),
    };
  const [header = ''] = block.lines;
  const isTable = block.type === 'paragraph' && block.lines.length === 1 && isDelimiterRow(header, content);
  if (block.type === 'table' && !content.includes('|')) return undefined;
  const next: Block = {
    ...block,
    type: isTable ? 'table' : block.type,
    lines: [...block.lines, content],
    size: block.size + content.length + LINE_SIZE,
  };
  if (next.size <= (next.type === 'table' ? MAX_TABLE : MAX_BLOCK))
    return { state: { ...state, block: next }, lines: [] };
  return { state: { ...state, block: undefined }, lines: endBlock({ ...state, block: next }, look) };
}

function paragraph(state: State, content: string, { quotes, indent }: LineContext, look: MarkdownLook): Step {
  // Text without an indent after an empty line ends the list.
  const items = state.items.filter(({ source }) => indent > 0 && indent + 1 >= source);
  const prefix = bars(quotes, look) + ' '.repeat(items.at(-1)?.shown ?? 0);
  const lines = endBlock(state, look);
  // Four spaces outside of a list are code.
  if (indent >= 4 && items.length === 0 && state.isAfterBlank)
    return { state: { ...state, block: undefined, items }, lines: [...lines, `${prefix}    ${content}`] };
  const block: Block = {
    type: 'paragraph',
    first: prefix,
    rest: prefix,
    quotes,
    lines: [content],
    size: content.length,
  };
  return { state: { block, fence: undefined, items, isAfterBlank: false }, lines };
}

function endBlock({ block }: State, look: MarkdownLook): readonly string[] {
  if (block === undefined) return [];
  const { type, first, rest, lines } = block;
  if (type === 'table') {
    const [header = '', delimiter = '', ...rows] = lines;
    return tableLines(
      { header: splitCells(header), delimiter: splitCells(delimiter), rows: rows.map(splitCells) },
      first,
      look,
    );
  }
  const text = lines.map((line) => renderInline(line, look)).join(' ');
  return wrapped(text, first, rest, look);
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
