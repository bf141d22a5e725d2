/** Nests the blocks of a Markdown text in quotes and lists. */
import { readMarkdown } from '#core';

type MarkdownBlock = ReturnType<typeof readMarkdown>[number];

export type Block =
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly type: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly type: 'rule' };

export function readBlocks(text: string): readonly Block[] {
  return nestBlocks(
    readMarkdown(text).filter(({ type }) => type !== 'blank'),
    0,
    0,
  );
}

/** `quotes` and `depth` count the quotes and list items around all of the blocks. */
function nestBlocks(flat: readonly MarkdownBlock[], quotes: number, depth: number): readonly Block[] {
  const nested: Block[] = [];
  for (let at = 0; at < flat.length;) {
    const first = flat[at];
    if (first === undefined) break;
    const marker = first.items[depth]?.marker;
    const isPart = (block: MarkdownBlock): boolean => {
      if (first.quotes > quotes) return block.quotes > quotes;
      if (marker !== undefined) return isOrdered(block.items[depth]?.marker) === isOrdered(marker);
      return isCode(first) && isCode(block) && block.type !== 'fence' && block.items.length === depth;
    };
    let end = at + 1;
    for (let block = flat[end]; block !== undefined && isPart(block); block = flat[end]) end += 1;
    const part = flat.slice(at, end);
    if (first.quotes > quotes) nested.push({ type: 'quote', blocks: nestBlocks(part, quotes + 1, depth) });
    else if (marker !== undefined) nested.push(nestList(part, quotes, depth));
    else nested.push(...leafBlock(first, part));
    at = end;
  }
  return nested;
}

function isOrdered(marker: string | undefined): boolean | undefined {
  return marker === undefined ? undefined : /\d/.test(marker);
}

function isCode({ type }: MarkdownBlock): boolean {
  return type === 'fence' || type === 'code' || type === 'fence-end' || type === 'indented';
}

function nestList(part: readonly MarkdownBlock[], quotes: number, depth: number): Block {
  const items: MarkdownBlock[][] = [];
  for (const block of part) {
    const startsItem = 'startsItem' in block && block.startsItem && block.items.length === depth + 1;
    if (startsItem || items.length === 0) items.push([block]);
    else items.at(-1)?.push(block);
  }
  return {
    type: 'list',
    isOrdered: isOrdered(part[0]?.items[depth]?.marker) === true,
    items: items.map((item) => nestBlocks(item, quotes, depth + 1)),
  };
}

/** `part` is the block, or all lines of a block of code. */
function leafBlock(block: MarkdownBlock, part: readonly MarkdownBlock[]): readonly Block[] {
  switch (block.type) {
    case 'heading':
      return [{ type: 'heading', level: block.level, text: block.text }];
    case 'paragraph':
      return [{ type: 'paragraph', text: block.lines.join('\n') }];
    case 'table': {
      const [head = [], , ...rows] = block.cells;
      return [{ type: 'table', head, rows }];
    }
    case 'rule':
      return [{ type: 'rule' }];
    case 'blank':
      return [];
    case 'fence':
    case 'code':
    case 'fence-end':
    case 'indented': {
      const lines = part.flatMap((one) => (one.type === 'code' || one.type === 'indented' ? [one.text] : []));
      return [{ type: 'code', language: block.type === 'fence' ? block.language : '', text: lines.join('\n') }];
    }
  }
}
