/**
 * A file cut into what belongs together: a paragraph, a list item or a heading of Markdown is one passage however it is wrapped, a
 * command is one however it is continued. Rules look at passages and never across two of them.
 */
import { closesFence, fenceMark } from '../code-fences.ts';
import type { ScanFile } from './finding.ts';
import { foldLine } from './folded-line.ts';
import type { LineKind } from './folded-line.ts';

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
  readonly lines: readonly SourceLine[];
  /** Of the source line where a window starts; 0 for all else. */
  readonly skipped: number;
}

/** Longer passages are looked at in windows, so that the work for a file stays in proportion to its size. */
export const WINDOW = 2_000;
const OVERLAP = 300;
/** So much of a loop is looked at with its head: what it does, it does many times. */
const LOOP_LINES = 4;
/** A command that is continued over more lines than this is not one. */
const MAX_CONTINUED = 12;

const DOCUMENT = /(?:^|\/)[^/.]*$|\.(?:md|mdx|markdown|txt|rst|adoc|html?|svg)$/i;
/** What items start with: lines of other kinds are not given to the expression. */
const ITEM_SIGNS = '-*+>|0123456789';
const NEW_ITEM = /^\s{0,24}(?:[-*+>|]|\d{1,3}[.)])\s?/;
const HEADING = /^\s{0,3}#{1,6}(?:\s|$)/;
const FIELD = /^[A-Za-z][\w-]{0,60}:/;
const COMMENT = /^\s{0,200}(?:#(?!!)|\/\/|--\s)\s?(.*)$/;
const LOOP = /^\s{0,40}(?:for|while|until)\b[^\n]{0,400}(?::|\bdo|\{)\s{0,20}$/;
const CONTINUED = /(?:[\\|({,]|&&)$/;
/** More blanks than this behind a sign, and it does not continue anything. */
const MAX_BEHIND = 20;

export function isDocument(path: string): boolean {
  return DOCUMENT.test(path) && !/(?:^|\/)(?:makefile|dockerfile|rakefile|gemfile)$/i.test(path);
}

export const proseOrCode = (kind: PassageKind): LineKind => (kind === 'body' || kind === 'comment' ? 'prose' : 'code');

export function passagesOf(file: ScanFile): readonly Passage[] {
  const lines = file.text.split(/[\r\u2028\u2029]/.test(file.text) ? /\r\n|[\n\r\u2028\u2029]/ : '\n');
  return isDocument(file.path)
    ? documentPassages(lines)
    : codePassages(lines, { kind: 'script', first: 1, section: 0 });
}

function documentPassages(lines: readonly string[]): readonly Passage[] {
  const found: Passage[] = [];
  let paragraph: Numbered[] = [];
  let section = 0;
  const flush = (): void => {
    found.push(...joined(paragraph, 'body', section));
    paragraph = [];
  };
  const head = endOfHead(lines);
  for (let at = 0; at < lines.length; at += 1) {
    const source = lines[at] ?? '';
    const first = source.trimStart().charAt(0);
    if (first === '') {
      flush();
      continue;
    }
    const fence = at < head || (first !== '`' && first !== '~') ? undefined : fenceMark(source);
    if (fence !== undefined) {
      flush();
      const end = endOfFence(lines, at, fence);
      const inside = codePassages(lines.slice(at + 1, end), { kind: 'fence', first: at + 2, section });
      // One by one: a call takes only so many arguments.
      for (const passage of inside) found.push(passage);
      at = end;
      continue;
    }
    const isHeading = at >= head && first === '#' && HEADING.test(source);
    if (isHeading || isNewItem(source, first) || (at < head && FIELD.test(source))) flush();
    if (isHeading) section += 1;
    paragraph.push({ line: at + 1, source });
    if (isHeading) flush();
  }
  flush();
  return found;
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

interface Numbered {
  readonly line: number;
  readonly source: string;
}

interface CodePlace {
  readonly kind: 'fence' | 'script';
  readonly first: number;
  readonly section: number;
}

/** Comments that follow each other are one passage of prose; they stand among the code too, where somebody may run them. */
function codePassages(lines: readonly string[], { kind, first, section }: CodePlace): readonly Passage[] {
  const found: Passage[] = [];
  let command: Numbered[] = [];
  let comment: Numbered[] = [];
  const flush = (): void => {
    found.push(...joined(comment, 'comment', section));
    comment = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const source = lines[at] ?? '';
    const said = COMMENT.exec(source)?.[1];
    if (said === undefined || said === '') flush();
    // Blanks instead of the mark: columns stay as they are.
    if (said !== undefined) comment.push({ line: first + at, source: said.padStart(source.length) });
    command.push({ line: first + at, source });
    if (said === undefined && isOpen(command, source)) continue;
    found.push(...joined(command, kind, section));
    command = [];
  }
  flush();
  return [...found, ...joined(command, kind, section)];
}

/** Whether more belongs to a command that ends, so far, with this line. */
function isOpen(command: readonly Numbered[], last: string): boolean {
  if (command.length < LOOP_LINES && LOOP.test(command[0]?.source ?? '')) return true;
  return command.length < MAX_CONTINUED && isContinued(last);
}

function isContinued(line: string): boolean {
  const text = line.trimEnd();
  // Only the end is given to the expression: it would look for its signs everywhere.
  return line.length - text.length <= MAX_BEHIND && CONTINUED.test(text.slice(-2));
}

function joined(lines: readonly Numbered[], kind: PassageKind, section: number): readonly Passage[] {
  let text = '';
  const as = proseOrCode(kind);
  const placed: SourceLine[] = [];
  for (const { line, source } of lines) {
    const isCut = as === 'code' && source.endsWith('\\');
    const folded = foldLine(isCut ? source.slice(0, -1) : source, as);
    if (folded === '') continue;
    if (text !== '') text += ' ';
    placed.push({ line, source, at: text.length });
    text += folded;
  }
  if (text === '') return [];
  const whole = { kind, section, text, lines: placed, skipped: 0 };
  return text.length <= WINDOW ? [whole] : windows(whole);
}

function windows(whole: Passage): readonly Passage[] {
  const found: Passage[] = [];
  for (let from = 0; from + OVERLAP < whole.text.length; from += WINDOW - OVERLAP)
    found.push({ ...whole, text: whole.text.slice(from, from + WINDOW), skipped: from });
  return found;
}
