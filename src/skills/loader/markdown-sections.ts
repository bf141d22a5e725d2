/** Finds the headings of a Markdown text and the section under one of them. */
import { cleanText, fenceAfter } from '#core';
import { findFences } from '../format/fences.ts';

export interface Section {
  /** Offset of the heading's line. */
  readonly start: number;
  /** The start of the next heading of the same or a higher level, or the end of the text. */
  readonly end: number;
  /** The title without its heading markers. */
  readonly title: string;
  /** The 1-based line number of the heading. */
  readonly line: number;
}

interface Heading {
  readonly level: number;
  readonly title: string;
  readonly start: number;
  readonly line: number;
}

/** Every heading in order, formatted as `## Title`. */
export function listHeadings(text: string): readonly string[] {
  return readHeadings(text).map(({ level, title }) => `${'#'.repeat(level)} ${title}`.trimEnd());
}

/**
 * Finds the section under a heading given as `## Setup guide`, `Setup guide` or `#setup-guide`, ignoring case, spacing and inline
 * markup. Precedence: equal title, equal anchor, title prefix; then equal level, equal case, first in the text.
 */
export function findSection(text: string, heading: string): Section | undefined {
  const headings = readHeadings(text);
  const index = bestMatch(headings, heading);
  const found = headings[index];
  if (found === undefined) return undefined;
  const { start, title, line, level } = found;
  const next = headings.find((other, at) => at > index && other.level <= level);
  return { start, end: next?.start ?? text.length, title, line };
}

/** Weights of the kind of match, the level and the case; each outweighs all smaller ones together. */
const KIND = 4;
const LEVEL = 2;
const CASE = 1;

function bestMatch(headings: readonly Heading[], asked: string): number {
  const { level, title } = readAsked(asked);
  const plain = plainTitle(title);
  if (plain === '') return -1;
  const folded = plain.toLowerCase();
  const slug = toSlug(folded);
  const seen = new Map<string, number>();
  let best = -1;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const [index, heading] of headings.entries()) {
    const candidate = plainTitle(heading.title);
    const candidateFolded = candidate.toLowerCase();
    const candidateSlug = uniqueSlug(toSlug(candidateFolded), seen);
    const kind =
      candidateFolded === folded
        ? 0
        : slug !== '' && candidateSlug === slug
          ? 1
          : candidateFolded.startsWith(folded)
            ? 2
            : 3;
    if (kind === 3) continue;
    const cost =
      kind * KIND +
      (level === undefined || level === heading.level ? 0 : LEVEL) +
      (candidate.startsWith(plain) ? 0 : CASE);
    if (cost < bestCost) {
      best = index;
      bestCost = cost;
    }
  }
  return best;
}

/** `#setup` is an anchor without a level; `# Setup` and `##Setup` have a level. */
function readAsked(asked: string): { readonly level: number | undefined; readonly title: string } {
  const text = asked.trim();
  let marks = 0;
  while (text.charCodeAt(marks) === HASH) marks += 1;
  const rest = text.slice(marks);
  const isAnchor = marks === 1 && !isBlank(rest.charCodeAt(0));
  return { level: marks === 0 || marks > 6 || isAnchor ? undefined : marks, title: withoutClosingMarks(rest) };
}

/** The rendered text of a title: without emphasis and code marks, links reduced to their text, single spaces. */
function plainTitle(title: string): string {
  const text = withoutComments(cleanText(title).normalize('NFKC'));
  if (!MARKUP.test(text)) return text.replaceAll(SPACES, ' ').trim();
  let out = '';
  let at = 0;
  // A closing character that was not found once is not searched again, so that a title of `](](](` takes linear time.
  const missing = new Set<string>();
  while (at < text.length) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === ']' && (next === '(' || next === '[')) {
      const close = next === '(' ? ')' : ']';
      const end = missing.has(close) ? -1 : text.indexOf(close, at + 2);
      if (end === -1) missing.add(close);
      at = end === -1 ? at + 1 : end + 1;
      continue;
    }
    if (!isMark(text, at, character)) out += character;
    at += 1;
  }
  return out.replaceAll(SPACES, ' ').trim();
}

const MARKUP = /[[\]*_`~\\!]/;
const SPACES = /\s+/g;
const WORD = /[\p{L}\p{N}]/u;

function withoutComments(text: string): string {
  let out = '';
  let from = 0;
  for (;;) {
    const open = text.indexOf('<!--', from);
    const close = open === -1 ? -1 : text.indexOf('-->', open + 2);
    if (close === -1) return out + text.slice(from);
    out += `${text.slice(from, open)} `;
    from = close + 3;
  }
}

function isMark(text: string, at: number, character: string): boolean {
  if (character === '!') return text.charAt(at + 1) === '[';
  // `snake_case` is a name, `_this_` is emphasis.
  if (character === '_') return !WORD.test(text.charAt(at - 1)) || !WORD.test(text.charAt(at + 1));
  return '[]*`~\\'.includes(character);
}

/** GitHub's anchor with runs of hyphens collapsed, because few people know that `A & B` becomes `a--b`. */
function toSlug(folded: string): string {
  return folded.replaceAll(NOT_IN_SLUG, '').replaceAll(HYPHENS, '-').replaceAll(OUTER_HYPHEN, '');
}

const NOT_IN_SLUG = /[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu;
const HYPHENS = /[\s-]+/g;
const OUTER_HYPHEN = /^-|-$/g;

/** The second `Examples` has the anchor `examples-1`. */
function uniqueSlug(slug: string, seen: Map<string, number>): string {
  let count = seen.get(slug);
  if (count === undefined) {
    seen.set(slug, 0);
    return slug;
  }
  let unique: string;
  do {
    count += 1;
    unique = `${slug}-${count}`;
  } while (seen.has(unique));
  seen.set(slug, count);
  seen.set(unique, 0);
  return unique;
}

const HASH = 0x23;

function readHeadings(text: string): readonly Heading[] {
  const headings: Heading[] = [];
  const body = endOfFrontmatter(text);
  let fence: string | undefined;
  let isComment = false;
  // The block that an underline would apply to. In a list, quote, table or HTML (`other`) an underline creates no heading.
  let block: { readonly start: number; readonly line: number } | 'other' | undefined;
  let start = 0;
  for (let line = 1; start < text.length; line += 1) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed;
    const written = start < body ? '' : text.slice(start, end);
    const content = written.trim();
    if (fence !== undefined) {
      fence = fenceAfter(content, fence);
    } else if (isComment) {
      isComment = !content.includes('-->');
    } else if (content === '') {
      block = undefined;
    } else if (INDENTED.test(written)) {
      // Code or a continuation of the block above; inside a list item it may be a fence.
      fence = fenceAfter(content);
    } else {
      const atx = ATX.exec(content)?.[0];
      fence = fenceAfter(content);
      isComment = content.startsWith('<!--') && !content.includes('-->', 2);
      if (atx !== undefined) {
        headings.push({ level: atx.length, title: withoutClosingMarks(content.slice(atx.length)), start, line });
        block = undefined;
      } else if (typeof block === 'object' && UNDERLINE.test(content)) {
        const title = text.slice(block.start, start).replaceAll(SPACES, ' ').trim();
        headings.push({ level: content.startsWith('=') ? 1 : 2, title, start: block.start, line: block.line });
        block = undefined;
      } else if (fence !== undefined || THEMATIC_BREAK.test(content)) block = undefined;
      else if (OTHER_BLOCK.test(content) || isTableDelimiter(content)) block = 'other';
      else block ??= { start, line };
    }
    start = end + 1;
  }
  return headings;
}

/** Quotes, tables, HTML and list items. */
const OTHER_BLOCK = /^(?:[>|<]|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))/;

/** Two `---` lines at the top with a field after the first. Without a field they are thematic breaks. */
function endOfFrontmatter(text: string): number {
  const found = findFences(text);
  if (found.type !== 'found' || found.fences.open > 1) return 0;
  const { start, close, end } = found.fences;
  let at = start;
  while (at < close && (isBlankLine(text, at) || text.charCodeAt(at) === HASH)) at = text.indexOf('\n', at) + 1;
  return FIELD.test(text.slice(at, Math.min(close, at + MAX_KEY))) ? end : 0;
}

const MAX_KEY = 100;
const FIELD = /^["']?[\w.-]+["']?[ \t]*:/;

function isBlankLine(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x0a || (unit === 0x0d && text.charCodeAt(at + 1) === 0x0a);
}

/** Four columns, or a tab before them. */
const INDENTED = /^(?: {4}| {0,3}\t)/;
const ATX = /^(#{1,6})(?=[ \t]|$)/;

/** `Setup ##` is `Setup`, `C#` stays. */
function withoutClosingMarks(title: string): string {
  const text = title.trim();
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === HASH) end -= 1;
  return end === 0 || isBlank(text.charCodeAt(end - 1)) ? text.slice(0, end).trimEnd() : text;
}

const UNDERLINE = /^(?:=+|-+)$/;
const THEMATIC_BREAK = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;

/** The second line of a table: `--- | ---`. */
function isTableDelimiter(content: string): boolean {
  return content.includes('|') && !NOT_IN_DELIMITER.test(content);
}

const NOT_IN_DELIMITER = /[^-|: \t]/;

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
