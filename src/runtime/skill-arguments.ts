/** What a person writes after the name of a skill, and how it gets into the skill's text. Compatible with Claude Code. */
import { cleanText } from '../core/text/text.ts';

export interface GivenArguments {
  /** As typed. */
  readonly text: string;
  /** What the skill calls them, by position. */
  readonly names?: readonly string[];
}

export interface ExpandedText {
  readonly text: string;
  /** Placeholders that stayed as they are, as written, each once. */
  readonly unfilled: readonly string[];
}

/** Splits as a shell splits words: quotes and backslashes. Nothing is expanded, and `&&`, `|` or `>` are words like any other. */
export function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === '\\' && next !== '' && (quote === '' || (quote === '"' && '"\\$`'.includes(next)))) {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === quote) quote = '';
    else if (quote === '' && WHITE_SPACE.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

const WHITE_SPACE = /\s/;

interface Placeholder {
  readonly start: number;
  readonly end: number;
  /** How many backslashes stand before it. */
  readonly escapes: number;
  /** A number counts from 0 or from 1, which only the whole text tells; indexes and names have their place. */
  readonly value: { readonly type: 'all' } | { readonly type: 'number' | 'index' | 'name'; readonly at: number };
}

/** A text of nothing but placeholders must not multiply a long argument: past this, they stay as written. */
const MAX_SUBSTITUTED = 1_000_000;

/**
 * Puts arguments in: `$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`, `$name` and `${name}`. Two conventions exist for numbers: today's Claude Code
 * counts from 0, earlier commands from 1. A text that has `$0` or `$ARGUMENTS[0]` anywhere is read from 0, any other from 1.
 *
 * A backslash before a placeholder keeps it as text. What was put in is not read again. Where no placeholder took anything, the
 * arguments follow as a paragraph of their own, so that they are never lost.
 */
export function expandArguments(body: string, { text, names = [] }: GivenArguments): ExpandedText {
  const typed = cleanText(text);
  const words = splitArguments(typed);
  const placeholders = findPlaceholders(body, positionsOf(names));
  const base = placeholders.some((placeholder) => !isEscaped(placeholder) && countsFromZero(placeholder)) ? 0 : 1;
  const unfilled = new Set<string>();
  let room = MAX_SUBSTITUTED + typed.length;
  let isFilled = false;
  let out = '';
  let from = 0;
  for (const placeholder of placeholders) {
    const { start, end, escapes, value } = placeholder;
    const written = body.slice(start, end);
    out += body.slice(from, start - Math.ceil(escapes / 2));
    from = end;
    const given = value.type === 'all' ? typed : words[value.type === 'number' ? value.at - base : value.at];
    if (isEscaped(placeholder)) out += written;
    else if (given === undefined || given.length > room) {
      out += written;
      unfilled.add(written);
    } else {
      out += given;
      room -= given.length;
      isFilled = true;
    }
  }
  out += body.slice(from);
  if (!isFilled && typed.trim() !== '') out = withParagraph(out.trimEnd(), `ARGUMENTS: ${typed.trim()}`);
  return { text: out, unfilled: [...unfilled] };
}

function withParagraph(text: string, paragraph: string): string {
  return text === '' ? paragraph : `${text}\n\n${paragraph}`;
}

/** `\\` is a backslash, so only an odd one escapes. */
function isEscaped({ escapes }: Placeholder): boolean {
  return escapes % 2 === 1;
}

function countsFromZero({ value }: Placeholder): boolean {
  return value.type === 'index' || (value.type === 'number' && value.at === 0);
}

const ARGUMENTS = 'ARGUMENTS';
const NUMBERED = /^(?:0|[1-9]\d?)$/;
const INDEX = /^\[(\d{1,2})\]/;
const ARGUMENT_NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,63}$/u;
/** Letters beyond the basic plane are halves here, and a half may start a name. */
const NAME_START = /[\p{L}_\ud800-\udbff]/u;
const MAX_ARGUMENTS = 100;
/** What would make a longer name of the one before it. A letter of another script ends an ASCII name: `$issue号`. */
const CONTINUES_NAME = /^\w/;

interface NamedPosition {
  readonly name: string;
  readonly at: number;
}

/** The longest first: `$branch-name` is `branch-name` where that is declared, else `branch`. What is no name keeps its place. */
function positionsOf(names: readonly string[]): readonly NamedPosition[] {
  return names
    .slice(0, MAX_ARGUMENTS)
    .map((name, at) => ({ name, at }))
    .filter(({ name }) => ARGUMENT_NAME.test(name) && name !== ARGUMENTS)
    .toSorted((a, b) => b.name.length - a.name.length);
}

function findPlaceholders(body: string, names: readonly NamedPosition[]): readonly Placeholder[] {
  const found: Placeholder[] = [];
  for (let start = body.indexOf('$'); start !== -1;) {
    const read = readPlaceholder(body, start + 1, names);
    if (read !== undefined) {
      let escapes = 0;
      while (body.charAt(start - escapes - 1) === '\\') escapes += 1;
      found.push({ start, end: read.end, escapes, value: read.value });
    }
    start = body.indexOf('$', read?.end ?? start + 1);
  }
  return found;
}

/** The placeholder whose `$` stands just before `at`. `$HOME`, `$(date)` and names that nobody declared are none. */
function readPlaceholder(
  body: string,
  at: number,
  names: readonly NamedPosition[],
): Pick<Placeholder, 'end' | 'value'> | undefined {
  if (body.startsWith(ARGUMENTS, at)) {
    const end = at + ARGUMENTS.length;
    const index = INDEX.exec(body.slice(end, end + 4));
    if (index !== null) return { end: end + index[0].length, value: { type: 'index', at: Number(index[1]) } };
    if (!CONTINUES_NAME.test(body.charAt(end))) return { end, value: { type: 'all' } };
  }
  let digits = at;
  while (digits - at < 3 && isDigit(body.charCodeAt(digits))) digits += 1;
  if (digits > at) {
    const number = body.slice(at, digits);
    // `$100` is a price.
    return NUMBERED.test(number) ? { end: digits, value: { type: 'number', at: Number(number) } } : undefined;
  }
  const isBraced = body.charAt(at) === '{';
  const from = isBraced ? at + 1 : at;
  if (!NAME_START.test(body.charAt(from))) return undefined;
  for (const { name, at: position } of names) {
    if (!body.startsWith(name, from)) continue;
    const end = from + name.length;
    const isWhole = isBraced ? body.charAt(end) === '}' : !CONTINUES_NAME.test(body.charAt(end));
    if (isWhole) return { end: isBraced ? end + 1 : end, value: { type: 'name', at: position } };
  }
  return undefined;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** A message that starts with `/name` or `/source/name` or `/plugin:name`. Whether there is such a skill is for the caller to see. */
export function parseInvocation(message: string): { readonly name: string; readonly arguments: string } | undefined {
  const text = message.trim();
  if (!text.startsWith('/')) return undefined;
  const head = text.slice(1, 2 + MAX_INVOCATION);
  const end = head.search(WHITE_SPACE);
  const name = end === -1 ? text.slice(1) : head.slice(0, end);
  if (name.length > MAX_INVOCATION || !INVOCATION.test(name) || isPath(name)) return undefined;
  return { name, arguments: text.slice(1 + name.length).trim() };
}

const MAX_INVOCATION = 200;
const INVOCATION = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]*(?:[/:][\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]*)?$/u;
const EXTENSION = /\.[A-Za-z]\w{0,7}$/;
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  'applications bin boot dev etc home lib library mnt opt private proc root run sbin srv sys system tmp users usr var volumes'.split(
    ' ',
  ),
);

/**
 * Two parts with a slash may be a file: they are where the first is a folder that systems have at their root, or the second ends
 * like a file name. More parts are always a path, and one part never is.
 */
function isPath(name: string): boolean {
  const slash = name.indexOf('/');
  return slash !== -1 && (SYSTEM_FOLDERS.has(name.slice(0, slash).toLowerCase()) || EXTENSION.test(name));
}
