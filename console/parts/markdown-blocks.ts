/** Reads Markdown into blocks. Markup of strangers stays text: raw HTML has no meaning here. Every step is linear in the text. */

export type Block =
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly type: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly type: 'rule' };

const MAX_DEPTH = 6;

export function readBlocks(text: string): readonly Block[] {
  return parseBlocks(text.split('\n'), 0);
}

function parseBlocks(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at, depth);
    blocks.push(block);
    at = Math.max(next, at + 1);
  }
  return blocks;
}

function readBlock(lines: readonly string[], at: number, depth: number): readonly [Block, number] {
  const line = lines[at] ?? '';
  const trimmed = line.trimStart();
  if (trimmed.startsWith('```') || trimmed.startsWith('~~~')) return readCode(lines, at, trimmed.slice(0, 3));
  const heading = /^(#{1,6})\s+(.*)$/.exec(trimmed);
  if (heading !== null)
    return [
      { type: 'heading', level: heading[1]?.length ?? 1, text: (heading[2] ?? '').replace(/\s#+\s*$/, '') },
      at + 1,
    ];
  if (isRule(trimmed)) return [{ type: 'rule' }, at + 1];
  if (depth < MAX_DEPTH && trimmed.startsWith('>')) return readQuote(lines, at, depth);
  if (depth < MAX_DEPTH && readMarker(line) !== undefined) return readList(lines, at, depth);
  if (line.includes('|') && isTableRule(lines[at + 1] ?? '')) return readTable(lines, at);
  return readParagraph(lines, at);
}

function readCode(lines: readonly string[], at: number, fence: string): readonly [Block, number] {
  const first = (lines[at] ?? '').trim();
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(fence)) end += 1;
  return [{ type: 'code', language: first.slice(3).trim(), text: lines.slice(at + 1, end).join('\n') }, end + 1];
}

function isRule(line: string): boolean {
  const bare = line.replaceAll(' ', '');
  return bare.length >= 3 && (bare === '-'.repeat(bare.length) || bare === '*'.repeat(bare.length));
}

function readQuote(lines: readonly string[], at: number, depth: number): readonly [Block, number] {
  const inside: string[] = [];
  let end = at;
  while (end < lines.length && (lines[end] ?? '').trimStart().startsWith('>')) {
    inside.push((lines[end] ?? '').trimStart().slice(1).replace(/^ /, ''));
    end += 1;
  }
  return [{ type: 'quote', blocks: parseBlocks(inside, depth + 1) }, end];
}

interface Marker {
  readonly isOrdered: boolean;
  readonly indent: number;
  readonly width: number;
}

function readMarker(line: string): Marker | undefined {
  const found = /^(\s{0,24})([-*+]|\d{1,9}[.)])(\s+|$)/.exec(line);
  if (found === null) return undefined;
  const [whole, indent = '', sign = ''] = found;
  return { isOrdered: /\d/.test(sign), indent: indent.length, width: whole.length };
}

function readList(lines: readonly string[], at: number, depth: number): readonly [Block, number] {
  const first = readMarker(lines[at] ?? '');
  const items: (readonly Block[])[] = [];
  let item: string[] = [];
  let width = first?.width ?? 2;
  let end = at;
  const finish = (): void => {
    if (item.length > 0) items.push(parseBlocks(item, depth + 1));
    item = [];
  };
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const marker = readMarker(line);
    if (marker !== undefined && marker.indent <= (first?.indent ?? 0)) {
      if (marker.isOrdered !== first?.isOrdered || marker.indent < first.indent) break;
      finish();
      ({ width } = marker);
      item.push(line.slice(marker.width));
    } else if (line.trim() === '') {
      const next = lines[end + 1] ?? '';
      if (next.trim() !== '' && readMarker(next) === undefined && !next.startsWith('  ')) break;
      item.push('');
    } else if (line.startsWith(' ') || item.at(-1) !== '') item.push(line.slice(countIndent(line, width)));
    else break;
  }
  finish();
  return [{ type: 'list', isOrdered: first?.isOrdered ?? false, items }, end];
}

function countIndent(line: string, most: number): number {
  let indent = 0;
  while (indent < most && line[indent] === ' ') indent += 1;
  return indent;
}

function isTableRule(line: string): boolean {
  return line.includes('-') && line.includes('|') && /^[\s|:-]+$/.test(line);
}

function readTable(lines: readonly string[], at: number): readonly [Block, number] {
  const rows: (readonly string[])[] = [];
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) {
    rows.push(splitCells(lines[end] ?? ''));
    end += 1;
  }
  return [{ type: 'table', head: splitCells(lines[at] ?? ''), rows }, end];
}

function splitCells(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim());
}

function readParagraph(lines: readonly string[], at: number): readonly [Block, number] {
  let end = at + 1;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    const trimmed = line.trimStart();
    if (trimmed === '' || /^(?:#{1,6}\s|```|~~~|>)/.test(trimmed) || readMarker(line) !== undefined) break;
    end += 1;
  }
  return [{ type: 'paragraph', text: lines.slice(at, end).join('\n') }, end];
}
