/**
 * How the matches of an expression can begin, and what else they must hold. Worked out from the source of the expression itself, so that
 * nobody has to keep a second list. It may name more than there is, never less.
 */
export interface Opening {
  readonly text: string;
  /** Only where a word begins. */
  readonly isAtWord: boolean;
}

export interface Outline {
  /** Every match starts with one of these; absent where one may start with anything. */
  readonly openings?: readonly Opening[];
  /** Every match has one of these in it, at its start or later; absent where none is known. */
  readonly needs?: readonly Opening[];
}

/** Longer ones, and more of them, tell no more apart than they cost. */
const MAX_LENGTH = 10;
const MAX_OPENINGS = 60;
/** A class of more characters than this is anything. */
const MAX_CLASS = 10;
/** Shorter ones stand everywhere. */
const MIN_NEED = 3;

/** Starts a text that must stand where a word begins. */
const BORDER = '\b';

/** What a part of an expression starts with: `open` is all that the part can be, `done` may go on with anything. */
interface Starts {
  readonly open: readonly string[];
  readonly done: readonly string[];
}

const NOTHING: Starts = { open: [''], done: [] };
const ANYTHING: Starts = { open: [], done: [''] };

export function outlineOf(source: string): Outline {
  const choices = new Reader(source).choices();
  const openings = openingsOf(choices.flatMap((parts) => textsOf(inTurn(parts, 0))));
  const needs = openingsOf(choices.flatMap(needOf).map(atItsWord));
  return { ...(openings === undefined ? {} : { openings }), ...(needs === undefined ? {} : { needs }) };
}

/** The place of an alternative, behind its start, whose texts are the longest; its start where no other has any of use. */
function needOf(parts: readonly Starts[]): readonly string[] {
  let best: readonly string[] | undefined;
  let length = MIN_NEED - 1;
  // A border is no part by itself: what follows it is the start.
  const behind = parts[0]?.open[0] === BORDER ? 2 : 1;
  for (let from = behind; from < parts.length && length < MAX_LENGTH; from += 1) {
    const texts = textsOf(inTurn(parts, from));
    const shortest = shortestOf(texts);
    if (shortest <= length) continue;
    best = texts;
    length = shortest;
  }
  return best ?? textsOf(inTurn(parts, 0));
}

/** A word with a blank before it is as well known by the word alone. */
function atItsWord(text: string): string {
  return /^ \w{3}/.test(text) ? BORDER + text.slice(1) : text;
}

function shortestOf(texts: readonly string[]): number {
  return Math.min(...texts.map(lengthOf));
}

/** Of what is seen of a text: its border is not. */
function lengthOf(text: string): number {
  return text.startsWith(BORDER) ? text.length - 1 : text.length;
}

function cut(text: string): string {
  return text.slice(0, text.length - lengthOf(text) + MAX_LENGTH);
}

function openingsOf(texts: readonly string[]): readonly Opening[] | undefined {
  const found = new Map<string, Opening>();
  for (const written of texts) {
    const text = written.startsWith(BORDER) ? written.slice(1) : written;
    if (text === '') return undefined;
    // Before a sign, the border of a word is where one ends.
    const isAtWord = text !== written && /^\w/.test(text) && (found.get(text)?.isAtWord ?? true);
    found.set(text, { text, isAtWord });
  }
  return [...found.values()].filter((opening) => !isCovered(opening, found));
}

/** A shorter one says the same. */
function isCovered({ text, isAtWord }: Opening, all: ReadonlyMap<string, Opening>): boolean {
  for (let length = 1; length < text.length; length += 1) {
    const shorter = all.get(text.slice(0, length));
    if (shorter !== undefined && (!shorter.isAtWord || isAtWord)) return true;
  }
  return false;
}

const textsOf = ({ open, done }: Starts): readonly string[] => [...open, ...done];

/** Parts one after the other, as far as what they start with is known. */
function inTurn(parts: readonly Starts[], from: number): Starts {
  let all = NOTHING;
  for (let at = from; at < parts.length && all.open.length > 0; at += 1) all = followed(all, parts[at] ?? ANYTHING);
  return all;
}

/** Both; what would be too much is left at the first. */
function followed(first: Starts, second: Starts): Starts {
  const count = first.done.length + first.open.length * (second.open.length + second.done.length);
  if (count > MAX_OPENINGS) return { open: [], done: textsOf(first) };
  const open: string[] = [];
  const done: string[] = [...first.done];
  for (const start of first.open) {
    for (const next of second.done) done.push(cut(joined(start, next)));
    for (const next of second.open) {
      const text = joined(start, next);
      if (lengthOf(text) < MAX_LENGTH) open.push(text);
      else done.push(cut(text));
    }
  }
  return { open, done };
}

/** A border inside a text says nothing about where it begins. */
function joined(first: string, second: string): string {
  return first !== '' && second.startsWith(BORDER) ? first + second.slice(1) : first + second;
}

/** Characters that stand for themselves, each once. */
const PLAIN = /(?:[\w '",:;<>=&%@#!~`-](?![?*+{]))+/y;
const GROUP = /\((?:\?(?:<?[=!]|:))?/y;
const CLASS = /\[(?:\\.|[^\\\]])*\]/y;
const TURNS = /(?:\{\d+(?:,\d*)?\}|[*+?])\??/y;

/** Reads an expression from left to right. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Alternatives, up to the end of their group: the parts of each. */
  choices(): readonly (readonly Starts[])[] {
    const all: Starts[][] = [];
    let parts: Starts[] = [];
    for (; this.#at < this.#source.length && this.#source[this.#at] !== ')';) {
      if (this.#source[this.#at] === '|') {
        this.#at += 1;
        all.push(parts);
        parts = [];
      } else parts.push(this.#repeated(this.#part()));
    }
    return [...all, parts];
  }

  /** What stands here in the form of a part. */
  #take(form: RegExp): string {
    form.lastIndex = this.#at;
    const found = form.exec(this.#source)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #part(): Starts {
    const plain = this.#take(PLAIN);
    if (plain !== '') return literal(plain);
    const character = this.#source[this.#at] ?? '';
    if (character === '(') return this.#group();
    if (character === '[') return classStarts(this.#take(CLASS).slice(1, -1));
    this.#at += 1;
    if (character === '\\') return this.#escaped();
    if (character === '^' || character === '$') return NOTHING;
    return character === '.' ? ANYTHING : literal(character);
  }

  #group(): Starts {
    const mark = this.#take(GROUP);
    const choices = this.choices();
    this.#at += 1;
    // What is only looked at is no part of the match.
    if (/[=!]$/.test(mark)) return NOTHING;
    const inside = choices.map((parts) => inTurn(parts, 0));
    return { open: inside.flatMap(({ open }) => open), done: inside.flatMap(({ done }) => done) };
  }

  #escaped(): Starts {
    const character = this.#source[this.#at] ?? '';
    this.#at += 1;
    if (character === 'b') return literal(BORDER);
    if (character === 'n') return literal('\n');
    return /[A-Za-z0-9]/.test(character) ? ANYTHING : literal(character);
  }

  #repeated(part: Starts): Starts {
    const sign = this.#take(TURNS);
    if (sign === '') return part;
    const once = /^(?:\?|\{(?:\d+,)?1\})/.test(sign) ? part : { open: [], done: textsOf(part) };
    return /^(?:[?*]|\{0)/.test(sign) ? { open: ['', ...once.open], done: once.done } : once;
  }
}

function classStarts(inside: string): Starts {
  if (/^\^|\\[a-z]|[^\\]-./.test(inside)) return ANYTHING;
  const characters = [...inside.replaceAll(/\\(.)/g, '$1')];
  return characters.length > MAX_CLASS ? ANYTHING : { open: characters, done: [] };
}

function literal(text: string): Starts {
  return { open: [text], done: [] };
}
