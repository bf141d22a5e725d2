/**
 * Splits a file into passages. A paragraph, list item or heading of Markdown is one passage however it is wrapped; a command is one
 * passage with all its continuation lines. A pattern never matches across two passages.
 */
import { fenceAfter } from '#core';
import type { ScanFile } from './finding.ts';
import { normalizeLine, type LineKind } from './normalize-line.ts';

/** `body`: prose of a document. `comment`: prose in code. `fence`: code in a document. `script`: code in its own file. */
export type PassageKind = 'body' | 'comment' | 'fence' | 'script';

export interface SourceLine {
  /** 1-based. */
  readonly line: number;
  readonly source: string;
  /** The offset in the text of the passage. */
  readonly at: number;
}

export interface Passage {
  readonly kind: PassageKind;
  /** The number of headings before the passage; a script is one section. */
  readonly section: number;
  /** The normalized text. */
  readonly text: string;
  /** The lines that the passage was made from, for `sourceLines`. */
  readonly origin: PassageOrigin;
  /** The passage is below a heading or a lead-in such as "Never:", so its wording is a prohibition. */
  readonly isProhibited: boolean;
  /** The offset of a window in its passage; 0 for a whole passage. */
  readonly skipped: number;
}

/** A range of 0-based line indexes of the file. */
interface PassageOrigin {
  readonly from: number;
  readonly to: number;
  /** The lines of the file, or the contents of comment lines. */
  readonly lines: readonly string[];
  /** The line index of the first entry of `lines`. */
  readonly first: number;
}

/** Longer passages are split into overlapping windows, so that the work stays proportional to the size of the file. */
export const WINDOW = 2_000;
const OVERLAP = 300;
/** A loop is matched together with this many of its lines, because it repeats them. */
const LOOP_LINES = 4;
const MAX_CONTINUED = 12;

const DOCUMENT = /(?:^|\/)[^/.]*$|\.(?:md|mdx|markdown|txt|rst|adoc|html?|svg)$/i;
const NEW_ITEM = /^\s{0,24}(?:[-*+>|]|\d{1,3}[.)])\s?/;
const QUOTE = /^\s{0,3}>/;
const QUOTED_ITEM = /^\s{0,3}>\s{0,3}(?:[-*+>|]|\d{1,3}[.)]|$)/;
const HEADING = /^\s{0,3}#{1,6}(?:\s|$)/;
const FIELD = /^[A-Za-z][\w-]{0,60}:/;
/** A heading or lead-in that consists of a prohibition; "Never forget to ..." is an instruction. */
const MAX_PROHIBITION = 100;
const PROHIBITION =
  /^[\s#*_>❌🚫⛔-]{0,12}(?:you (?:must|should) )?(?:never|do not|don['’]?ts?|must not|avoid|anti-?patterns?|red flags?|what not to do|(?:things|what) to avoid|common mistakes|forbidden|prohibited)(?: (?:do|do this|these|patterns?|practices|examples?))?[\s*_:]{0,6}$/iu;
const COMMENT = /^\s{0,200}(?:#(?!!)|\/\/|--\s)\s?(.*)$/;
const LOOP = /^\s{0,40}(?:for|while|until)\b[^\n]{0,400}(?::|\bdo|\{)\s{0,20}$/;
const CONTINUED = /(?:[\\|({,]|&&)$/;
/** A continuation character with more trailing white space than this does not continue the command. */
const MAX_TRAILING = 20;

/** A file without an extension is a document unless its first line names an interpreter. */
export function isDocument({ path, text }: Pick<ScanFile, 'path' | 'text'>): boolean {
  return (
    DOCUMENT.test(path) &&
    !text.startsWith('#!') &&
    !/(?:^|\/)(?:makefile|dockerfile|rakefile|gemfile|gitconfig)$/i.test(path)
  );
}

/** Tests, and what they use. */
export function isTestFile(path: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__|(?:\w{1,20}-)?fixtures?|examples?)\/|[._-](?:test|spec)\.\w{1,5}$|(?:^|\/)test_\w{1,80}\.py$/i.test(
    path,
  );
}

export const proseOrCode = (kind: PassageKind): LineKind => (kind === 'body' || kind === 'comment' ? 'prose' : 'code');

export function splitPassages(file: ScanFile): readonly Passage[] {
  const { text } = file;
  // Nearly all texts have no other line ends, which a search for each shows faster than an expression.
  const hasOtherLineEnds = OTHER_LINE_ENDS.some((end) => text.includes(end));
  const splitting: Splitting = { lines: text.split(hasOtherLineEnds ? LINE_END : '\n'), passages: [] };
  if (isDocument(file)) addDocument(splitting);
  else addCode(splitting, { from: 0, to: splitting.lines.length }, { kind: 'script', section: 0 });
  return splitting.passages;
}

const OTHER_LINE_ENDS = ['\r', '\u2028', '\u2029'];
const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

interface Splitting {
  readonly lines: readonly string[];
  readonly passages: Passage[];
}

/** A range of 0-based line indexes, without `to`. */
interface LineRange {
  readonly from: number;
  readonly to: number;
}

function addDocument(splitting: Splitting): void {
  const { lines } = splitting;
  let from = 0;
  let section = 0;
  // A heading applies to its section; a lead-in applies to the list that follows it.
  let isBelowHeading = false;
  let isBelowLeadIn = false;
  const flush = (to: number): void => {
    if (from >= to) return;
    const first = lines[from] ?? '';
    const isItem = NEW_ITEM.test(first);
    if (!isItem) isBelowLeadIn = from + 1 === to && isProhibition(first);
    const isProhibited = isBelowHeading || (isItem && isBelowLeadIn);
    addJoined(splitting, { from, to }, { kind: 'body', section, isProhibited });
  };
  const frontmatterEnd = endOfFrontmatter(lines);
  for (let at = 0; at < lines.length; at += 1) {
    const source = lines[at] ?? '';
    // Most lines are the next words of a paragraph.
    if (at >= frontmatterEnd && startsWithLetter(source)) continue;
    if (source.trim() === '') {
      flush(at);
      from = at + 1;
      continue;
    }
    const fence = at < frontmatterEnd ? undefined : fenceAfter(source);
    if (fence !== undefined) {
      flush(at);
      const end = endOfFence(lines, at, fence);
      addCode(splitting, { from: at + 1, to: end }, { kind: 'fence', section });
      at = end;
      from = end + 1;
      continue;
    }
    const isHeading = at >= frontmatterEnd && HEADING.test(source);
    const isQuoted = QUOTE.test(source) && QUOTE.test(lines[at - 1] ?? '') && !QUOTED_ITEM.test(source);
    if (isHeading || (NEW_ITEM.test(source) && !isQuoted) || (at < frontmatterEnd && FIELD.test(source))) {
      flush(at);
      from = at;
    }
    if (!isHeading) continue;
    section += 1;
    isBelowHeading = isProhibition(source);
    isBelowLeadIn = false;
    flush(at + 1);
    from = at + 1;
  }
  flush(lines.length);
}

function isProhibition(line: string): boolean {
  return line.length <= MAX_PROHIBITION && PROHIBITION.test(line);
}

/** Whether the first character after blanks is a letter: the line is then not blank, not a heading, not an item and not a fence. */
function startsWithLetter(line: string): boolean {
  const letter = firstCode(line) | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

/** The number of lines of the frontmatter, with its delimiters. */
function endOfFrontmatter(lines: readonly string[]): number {
  if (lines[0]?.replace('\ufeff', '').trimEnd() !== '---') return 0;
  const end = lines.slice(0, 400).findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  return end === -1 ? 0 : end + 1;
}

function endOfFence(lines: readonly string[], from: number, fence: string): number {
  let at = from + 1;
  while (at < lines.length && (startsWithLetter(lines[at] ?? '') || fenceAfter(lines[at] ?? '', fence) !== undefined))
    at += 1;
  return at;
}

interface CodeContext {
  readonly kind: 'fence' | 'script';
  readonly section: number;
}

/** Adjacent comment lines become one passage of prose. They are also part of the code, because a comment can be executed. */
function addCode(splitting: Splitting, { from, to }: LineRange, { kind, section }: CodeContext): void {
  const { lines } = splitting;
  let start = from;
  let comment: string[] = [];
  const flush = (end: number): void => {
    if (comment.length === 0) return;
    addJoined(
      splitting,
      { from: end - comment.length, to: end },
      { kind: 'comment', section, contents: comment, isProhibited: false },
    );
    comment = [];
  };
  const parts = { kind, section, isProhibited: false };
  for (let at = from; at < to; at += 1) {
    const source = lines[at] ?? '';
    const content = mayBeComment(source) ? COMMENT.exec(source)?.[1] : undefined;
    if (content === undefined || content === '') flush(at);
    // Padding instead of the comment marker keeps the columns.
    if (content !== undefined) comment.push(content.padStart(source.length));
    if (content === undefined && isIncomplete(lines[start] ?? '', at + 1 - start, source)) continue;
    addJoined(splitting, { from: start, to: at + 1 }, parts);
    start = at + 1;
  }
  flush(to);
  if (start < to) addJoined(splitting, { from: start, to }, parts);
}

/** The code of the first character after blanks; NaN for a blank line. */
function firstCode(line: string): number {
  let at = 0;
  while (line.charCodeAt(at) === 0x20) at += 1;
  return line.charCodeAt(at);
}

/** A cheap test before an expression: the line starts with `#`, `/` or `-`, or not with plain ASCII. */
function mayBeComment(line: string): boolean {
  const code = firstCode(line);
  return code === 0x23 || code === 0x2f || code === 0x2d || code < 0x20 || code > 0x7e;
}

/** The same for `f`, `w` and `u`. */
function mayBeLoop(line: string): boolean {
  const code = firstCode(line);
  return code === 0x66 || code === 0x77 || code === 0x75 || code < 0x20 || code > 0x7e;
}

const CONTINUED_ENDS = '\\|({,&';

/** Whether the next line belongs to the command with these first and last lines. */
function isIncomplete(first: string, count: number, last: string): boolean {
  if (count < LOOP_LINES && mayBeLoop(first) && LOOP.test(first)) return true;
  const end = last.charCodeAt(last.length - 1);
  if (end > 0x20 && end < 0x7f && !CONTINUED_ENDS.includes(last.slice(-1))) return false;
  const text = last.trimEnd();
  return count < MAX_CONTINUED && last.length - text.length <= MAX_TRAILING && CONTINUED.test(text.slice(-2));
}

interface PassageParts {
  readonly kind: PassageKind;
  readonly section: number;
  /** For comments: the lines without their comment markers. */
  readonly contents?: readonly string[];
  readonly isProhibited: boolean;
}

function addJoined({ lines, passages }: Splitting, { from, to }: LineRange, parts: PassageParts): void {
  const { kind, section, contents, isProhibited } = parts;
  const origin = contents === undefined ? { from, to, lines, first: 0 } : { from, to, lines: contents, first: from };
  const text = joinLines(origin, kind);
  if (text === '') return;
  // Literals, because a spread per passage takes longer than the rest of a scan.
  if (text.length <= WINDOW) passages.push({ kind, section, text, origin, isProhibited, skipped: 0 });
  else
    for (let from = 0; from + OVERLAP < text.length; from += WINDOW - OVERLAP)
      passages.push({ kind, section, text: text.slice(from, from + WINDOW), origin, isProhibited, skipped: from });
}

function joinLines(origin: PassageOrigin, kind: PassageKind): string {
  let text = '';
  for (let at = origin.from; at < origin.to; at += 1) {
    const line = normalizedAt(origin, at, kind);
    text = text === '' || line === '' ? text + line : `${text} ${line}`;
  }
  return text;
}

/** A line of a quotation goes on without its mark; blanks keep the columns. */
function sourceAt({ lines, first, from }: Omit<PassageOrigin, 'to'>, at: number, kind: PassageKind): string {
  const source = lines[at - first] ?? '';
  return kind === 'body' && at > from && QUOTE.test(source) ? source.replace('>', ' ') : source;
}

function normalizedAt({ lines, first, from }: PassageOrigin, at: number, kind: PassageKind): string {
  const source = sourceAt({ lines, first, from }, at, kind);
  const lineKind = proseOrCode(kind);
  return normalizeLine(lineKind === 'code' && source.endsWith('\\') ? source.slice(0, -1) : source, lineKind);
}

/** The non-blank lines of a passage with their offsets in its text. Computed on demand, because only passages with findings need it. */
export function sourceLines({ origin, kind }: Passage): readonly SourceLine[] {
  const found: SourceLine[] = [];
  let length = 0;
  for (let at = origin.from; at < origin.to; at += 1) {
    const line = normalizedAt(origin, at, kind);
    if (line === '') continue;
    const start = length === 0 ? 0 : length + 1;
    found.push({ line: at + 1, source: sourceAt(origin, at, kind), at: start });
    length = start + line.length;
  }
  return found;
}
