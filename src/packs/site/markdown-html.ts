/**
 * Renders the Markdown of a skill as HTML for people. Covers what skills use: headings, paragraphs, lists, quotes, tables as text, code,
 * emphasis and links. Every character of the source is escaped before markup is added, so the source cannot add an element or an attribute.
 */
import { closesFence, escapeXml, fenceMark, printable, sliceStart } from '#core';

/** Longer texts are cut, so that a page stays loadable. */
const MAX_CHARACTERS = 400_000;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.{0,400})/;
const ITEM = /^([ \t]{0,40})(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const TABLE = /^ {0,3}\|/;

/** Headings start at `<h2>`, because the page has its own `<h1>`. */
export function markdownHtml(text: string): string {
  const lines = sliceStart(text, MAX_CHARACTERS).split(/\r\n|[\n\r\u2028\u2029]/);
  const html: string[] = [];
  let at = 0;
  const takeWhile = (isPart: (line: string) => boolean): readonly string[] => {
    const from = at;
    while (at < lines.length && isPart(lines[at] ?? '')) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const fence = fenceMark(line);
    const heading = HEADING.exec(line);
    if (line.trim() === '') at += 1;
    else if (fence !== undefined) {
      at += 1;
      const code = takeWhile((one) => !closesFence(one, fence));
      at += 1;
      html.push(codeBlock(code));
    } else if (heading !== null) {
      at += 1;
      const level = String(Math.min(6, (heading[1] ?? '').length + 1));
      html.push(`<h${level}>${inline((heading[2] ?? '').replace(/[ \t]#+[ \t]*$/, ''))}</h${level}>`);
    } else if (TABLE.test(line)) html.push(codeBlock(takeWhile((one) => TABLE.test(one))));
    else if (QUOTE.test(line))
      html.push(
        `<blockquote><p>${takeWhile((one) => QUOTE.test(one))
          .map(quotedLine)
          .join('<br>')}</p></blockquote>`,
      );
    else if (ITEM.test(line)) html.push(list(takeWhile((one) => ITEM.test(one) || isContinued(one))));
    else html.push(`<p>${takeWhile(isParagraph).map(inline).join('\n')}</p>`);
  }
  if (text.length > MAX_CHARACTERS) html.push('<p><em>The rest is in the file.</em></p>');
  return html.join('\n');
}

function codeBlock(lines: readonly string[]): string {
  return `<pre><code>${lines.map((line) => escapeXml(visible(line))).join('\n')}</code></pre>`;
}

function quotedLine(line: string): string {
  return inline(QUOTE.exec(line)?.[1] ?? '');
}

/** One flat list; deeper items are indented, because nesting adds nothing for a reader. */
function list(lines: readonly string[]): string {
  const items: { readonly depth: number; readonly parts: string[] }[] = [];
  for (const line of lines) {
    const [, indent = '', text = ''] = ITEM.exec(line) ?? [];
    if (ITEM.test(line)) items.push({ depth: Math.min(3, Math.floor(indent.length / 2)), parts: [inline(text)] });
    else items.at(-1)?.parts.push(inline(line.trim()));
  }
  return `<ul>${items.map(({ depth, parts }) => `<li class="d${String(depth)}">${parts.join('\n')}</li>`).join('')}</ul>`;
}

/** An indented line that belongs to the item before it. */
function isContinued(line: string): boolean {
  return /^[ \t]{2,40}\S/.test(line) && fenceMark(line) === undefined;
}

function isParagraph(line: string): boolean {
  return (
    line.trim() !== '' &&
    fenceMark(line) === undefined &&
    !HEADING.test(line) &&
    !ITEM.test(line) &&
    !QUOTE.test(line) &&
    !TABLE.test(line)
  );
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
