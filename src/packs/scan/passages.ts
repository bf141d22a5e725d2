/**
 * A file cut into what belongs together: a paragraph, a list item or a heading of Markdown is one passage however it is wrapped, a
 * command is one however it is continued. Rules look at passages and never across two of them.
 */
import { closesFence, fenceMark } from '../../core/text/code-fences.ts';
import type { ScanFile } from './finding.ts';
import { foldFor, foldLine, openTextLook } from './folded-line.ts';
import type { LineKind, TextLook } from './folded-line.ts';

/** `body` is prose of a document, `comment` prose in code, `fence` code in a document, `script` code in a file of its own. */
export type PassageKind = 'body' | 'comment' | 'fence' | 'script';

export interface SourceLine {
  /** 1-based. */
  readonly line: number;
  readonly source: string;
  /** Of the passage's text. */
  readonly at: number;
}

export interface Passage {
  readonly kind: PassageKind;
  /** Counts the headings before it; all of a script is one section. */
  readonly section: number;
  readonly text: string;
  /** The lines that it was made from, for `sourceLines`. */
  readonly made: MadeFrom;
  /** Of the source line where a window starts; 0 for all else. */
  readonly skipped: number;
}

/** Lines by their places, which count from 0. */
interface MadeFrom {
  readonly from: number;
  readonly to: number;
  /** Those of the file; of a comment, what they say. */
  readonly lines: readonly string[];
  /** The place of the first of `lines`. */
  readonly first: number;
}

/** Longer passages are looked at in windows, so that the work for a file stays in proportion to its size. */
export const WINDOW = 2_000;
const OVERLAP = 300;
/** So much of a loop is looked at with its head: what it does, it does many times. */
const LOOP_LINES = 4;
/** A command that is continued over more lines than this is not one. */
const MAX_CONTINUED = 12;

const DOCUMENT = /(?:^|\/)[^/.]*$|\.(?:md|mdx|markdown|txt|rst|adoc|html?|svg)$/i;
/** What items, comments and loops start with, and what is continued ends with: other lines are not given to the expressions. */
const ITEM_SIGNS = '-*+>|0123456789';
const NEW_ITEM = /^\s{0,24}(?:[-*+>|]|\d{1,3}[.)])\s?/;
const HEADING = /^\s{0,3}#{1,6}(?:\s|$)/;
const FIELD = /^[A-Za-z][\w-]{0,60}:/;
const COMMENT_SIGNS = '#/-';
const COMMENT = /^\s{0,200}(?:#(?!!)|\/\/|--\s)\s?(.*)$/;
const LOOP_SIGNS = 'fwu';
const LOOP = /^\s{0,40}(?:for|while|until)\b[^\n]{0,400}(?::|\bdo|\{)\s{0,20}$/;
const CONTINUED_SIGNS = '\\|({,&';
const CONTINUED = /(?:[\\|({,]|&&)$/;
/** More blanks than this behind a sign, and it does not continue anything. */
const MAX_BEHIND = 20;

export function isDocument(path: string): boolean {
  return DOCUMENT.test(path) && !/(?:^|\/)(?:makefile|dockerfile|rakefile|gemfile)$/i.test(path);
}

export const proseOrCode = (kind: PassageKind): LineKind => (kind === 'body' || kind === 'comment' ? 'prose' : 'code');

/** `look`: as `openTextLook` says of the text. */
export function passagesOf(file: ScanFile, look: TextLook = openTextLook()(file.text)): readonly Passage[] {
  const lines = file.text.split(!look.isPlain && OTHER_LINE_ENDS.test(file.text) ? ANY_LINE_END : '\n');
  const gathering: Gathering = { lines, fold: foldFor(look), found: [] };
  if (isDocument(file.path)) addDocument(gathering);
  else addCode(gathering, { from: 0, to: lines.length }, { kind: 'script', section: 0 });
  return gathering.found;
}

const OTHER_LINE_ENDS = /[\r\u2028\u2029]/;
const ANY_LINE_END = /\r\n|[\n\r\u2028\u2029]/;

interface Gathering {
  readonly lines: readonly string[];
  readonly fold: typeof foldLine;
  readonly found: Passage[];
}

/** Lines by their places, which count from 0. */
interface Range {
  readonly from: number;
  readonly to: number;
}

function addDocument(gathering: Gathering): void {
  const { lines } = gathering;
  let from = 0;
  let section = 0;
  const flush = (to: number): void => {
    if (from < to) addJoined(gathering, { from, to }, { kind: 'body', section });
  };
  const head = endOfHead(lines);
  for (let at = 0; at < lines.length; at += 1) {
    const source = lines[at] ?? '';
    const first = firstSign(source);
    if (first === '') {
      flush(at);
      from = at + 1;
      continue;
    }
    const fence = at < head || (first !== '`' && first !== '~') ? undefined : fenceMark(source);
    if (fence !== undefined) {
      flush(at);
      const end = endOfFence(lines, at, fence);
      addCode(gathering, { from: at + 1, to: end }, { kind: 'fence', section });
      at = end;
      from = end + 1;
      continue;
    }
    const isHeading = at >= head && first === '#' && HEADING.test(source);
    if (isHeading || isNewItem(source, first) || (at < head && FIELD.test(source))) {
      flush(at);
      from = at;
    }
    if (!isHeading) continue;
    section += 1;
    flush(at + 1);
    from = at + 1;
  }
  flush(lines.length);
}

/** The first character of a line that is no blank; empty where there is none. */
function firstSign(line: string): string {
  return line.charCodeAt(0) > 0x20 && line.charCodeAt(0) < 0x7f ? line.charAt(0) : line.trimStart().charAt(0);
}

function isNewItem(source: string, first: string): boolean {
  return ITEM_SIGNS.includes(first) && NEW_ITEM.test(source);
}

/** The number of lines of a frontmatter block. */
function endOfHead(lines: readonly string[]): number {
  if (lines[0]?.replace('\ufeff', '').trimEnd() !== '---') return 0;
  const end = lines.slice(0, 400).findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  return end === -1 ? 0 : end + 1;
}

function endOfFence(lines: readonly string[], from: number, fence: string): number {
  let at = from + 1;
  while (at < lines.length && !closesFence(lines[at] ?? '', fence)) at += 1;
  return at;
}

interface CodePlace {
  readonly kind: 'fence' | 'script';
  readonly section: number;
}

/** Comments that follow each other are one passage of prose; they stand among the code too, where somebody may run them. */
function addCode(gathering: Gathering, { from, to }: Range, { kind, section }: CodePlace): void {
  const { lines } = gathering;
  let start = from;
  let comment: string[] = [];
  const flush = (end: number): void => {
    if (comment.length === 0) return;
    addJoined(gathering, { from: end - comment.length, to: end }, { kind: 'comment', section, said: comment });
    comment = [];
  };
  for (let at = from; at < to; at += 1) {
    const source = lines[at] ?? '';
    const said = saidIn(source);
    if (said === undefined || said === '') flush(at);
    // Blanks instead of the mark: columns stay as they are.
    if (said !== undefined) comment.push(said.padStart(source.length));
    if (said === undefined && isOpen(lines[start] ?? '', at + 1 - start, source)) continue;
    addJoined(gathering, { from: start, to: at + 1 }, { kind, section });
    start = at + 1;
  }
  flush(to);
  if (start < to) addJoined(gathering, { from: start, to }, { kind, section });
}

/** What a line says that is a comment; nothing for one that is none. */
function saidIn(line: string): string | undefined {
  return COMMENT_SIGNS.includes(firstSign(line)) ? COMMENT.exec(line)?.[1] : undefined;
}

/** Whether more belongs to a command that begins with one line and ends, so far, with another. */
function isOpen(first: string, count: number, last: string): boolean {
  if (count < LOOP_LINES && LOOP_SIGNS.includes(firstSign(first)) && LOOP.test(first)) return true;
  return count < MAX_CONTINUED && isContinued(last);
}

function isContinued(line: string): boolean {
  const text = line.trimEnd();
  if (!CONTINUED_SIGNS.includes(text.charAt(text.length - 1))) return false;
  // Only the end is given to the expression: it would look for its signs everywhere.
  return line.length - text.length <= MAX_BEHIND && CONTINUED.test(text.slice(-2));
}

interface JoinedAs {
  readonly kind: PassageKind;
  readonly section: number;
  /** What the lines say, where that is less than all of them. */
  readonly said?: readonly string[];
}

function addJoined({ lines, fold, found }: Gathering, { from, to }: Range, { kind, section, said }: JoinedAs): void {
  const made = said === undefined ? { from, to, lines, first: 0 } : { from, to, lines: said, first: from };
  let text = '';
  for (let at = from; at < to; at += 1) {
    const folded = foldedAt(made, at, kind, fold);
    text = text === '' || folded === '' ? text + folded : `${text} ${folded}`;
  }
  if (text === '') return;
  const whole = { kind, section, text, made, skipped: 0 };
  if (text.length <= WINDOW) found.push(whole);
  else for (const window of windows(whole)) found.push(window);
}

/** What the line at a place adds to a passage. */
function foldedAt({ lines, first }: MadeFrom, at: number, kind: PassageKind, fold: typeof foldLine): string {
  const source = lines[at - first] ?? '';
  const as = proseOrCode(kind);
  return fold(as === 'code' && source.endsWith('\\') ? source.slice(0, -1) : source, as);
}

/** The lines of a passage that are not blank, and where each begins in it. Worked out anew: few passages are asked. */
export function sourceLines({ made, kind }: Passage): readonly SourceLine[] {
  const placed: SourceLine[] = [];
  let length = 0;
  for (let at = made.from; at < made.to; at += 1) {
    const folded = foldedAt(made, at, kind, foldLine);
    if (folded === '') continue;
    const start = length === 0 ? 0 : length + 1;
    placed.push({ line: at + 1, source: made.lines[at - made.first] ?? '', at: start });
    length = start + folded.length;
  }
  return placed;
}

function windows(whole: Passage): readonly Passage[] {
  const found: Passage[] = [];
  for (let from = 0; from + OVERLAP < whole.text.length; from += WINDOW - OVERLAP)
    found.push({ ...whole, text: whole.text.slice(from, from + WINDOW), skipped: from });
  return found;
}
