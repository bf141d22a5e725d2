/**
 * Renders the Markdown of a skill as HTML for people. Covers what skills use: headings, paragraphs, lists, quotes, tables as text, code,
 * emphasis and links. Every character of the source is escaped before markup is added, so the source cannot add an element or an attribute.
 */
import { escapeXml, printable, readMarkdown, sliceStart } from '#core';

type MarkdownBlock = ReturnType<typeof readMarkdown>[number];

/** Longer texts are cut, so that a page stays loadable. */
const MAX_CHARACTERS = 400_000;

/** Headings start at `<h2>`, because the page has its own `<h1>`. */
export function markdownHtml(text: string): string {
  const blocks = readMarkdown(sliceStart(text, MAX_CHARACTERS)).filter(({ type }) => type !== 'blank');
  const html = groupBlocks(blocks).map(blockHtml);
  if (text.length > MAX_CHARACTERS) html.push('<p><em>The rest is in the file.</em></p>');
  return html.join('\n');
}

/** The blocks that become one element: a list, a quote or a block of code. */
function groupBlocks(blocks: readonly MarkdownBlock[]): readonly (readonly MarkdownBlock[])[] {
  const groups: MarkdownBlock[][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    if (group !== undefined && isTogether(group, block)) group.push(block);
    else groups.push([block]);
  }
  return groups;
}

function isTogether(group: readonly MarkdownBlock[], next: MarkdownBlock): boolean {
  const [first] = group;
  if (first === undefined) return false;
  if (first.items.length > 0) return next.items.length > 0;
  if (first.quotes > 0) return next.quotes > 0 && next.items.length === 0;
  return isCode(group) && isCode([next]) && next.type !== 'fence' && next.items.length === 0;
}

function isCode([first]: readonly MarkdownBlock[]): boolean {
  return /^(?:fence|code|fence-end|indented)$/.test(first?.type ?? '');
}

function blockHtml(group: readonly MarkdownBlock[]): string {
  const [first] = group;
  if (first === undefined) return '';
  if (first.items.length > 0) return list(group);
  if (first.quotes > 0) return `<blockquote><p>${group.flatMap(textLines).map(inline).join('<br>')}</p></blockquote>`;
  switch (first.type) {
    case 'heading': {
      const level = String(Math.min(6, first.level + 1));
      return `<h${level}>${inline(first.text)}</h${level}>`;
    }
    case 'paragraph':
      return `<p>${first.lines.map(inline).join('\n')}</p>`;
    case 'rule':
      return '<hr>';
    default:
      return codeBlock(group.flatMap(textLines));
  }
}

/** The lines of a block without its marks. */
function textLines(block: MarkdownBlock): readonly string[] {
  if ('lines' in block) return block.lines;
  return block.type === 'heading' || block.type === 'code' || block.type === 'indented' ? [block.text] : [];
}

function codeBlock(lines: readonly string[]): string {
  return `<pre><code>${lines.map((line) => escapeXml(visible(line))).join('\n')}</code></pre>`;
}

/** One flat list; deeper items are indented, because nesting adds nothing for a reader. */
function list(group: readonly MarkdownBlock[]): string {
  const items: { readonly depth: number; readonly blocks: MarkdownBlock[] }[] = [];
  for (const block of group) {
    if ('startsItem' in block && block.startsItem) items.push({ depth: block.items.length - 1, blocks: [] });
    items.at(-1)?.blocks.push({ ...block, items: [], quotes: 0 });
  }
  const shown = items.map(({ depth, blocks }) => `<li class="d${String(Math.min(3, depth))}">${itemHtml(blocks)}</li>`);
  return `<ul>${shown.join('')}</ul>`;
}

/** The text of an item needs no paragraph. */
function itemHtml(blocks: readonly MarkdownBlock[]): string {
  return groupBlocks(blocks)
    .map((group) => (isCode(group) ? blockHtml(group) : group.flatMap(textLines).map(inline).join('\n')))
    .join('\n');
}

/** Bounded, so that no line takes more than linear time. */
const INLINE = /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|\[([^[\]\n]{1,300})\]\((https?:\/\/[^\s()<>"'\\]{1,1000})\)/g;

function inline(text: string): string {
  const shown = visible(text);
  let html = '';
  let from = 0;
  for (const match of shown.matchAll(INLINE)) {
    const [whole, code, strong, label = '', url] = match;
    html += escapeXml(shown.slice(from, match.index));
    if (code !== undefined) html += `<code>${escapeXml(code)}</code>`;
    else if (strong !== undefined) html += `<strong>${escapeXml(strong)}</strong>`;
    else html += `<a href="${escapeXml(url ?? '')}" rel="nofollow noreferrer">${escapeXml(label)}</a>`;
    from = match.index + whole.length;
  }
  return html + escapeXml(shown.slice(from));
}

/** Tabs stay; other control characters and invisible ones are shown as escapes. */
function visible(line: string): string {
  return line.split('\t').map(printable).join('\t');
}
