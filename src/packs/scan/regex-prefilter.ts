/**
 * Derives literals from the source of a regular expression: those that a match starts with, and those that it contains. The lists may
 * contain literals that no match has, but every match has at least one of each list.
 */
export interface Literal {
  readonly text: string;
  /** The literal counts only at the start of a word. */
  readonly isAtWordStart: boolean;
}

export interface Prefilter {
  /** Every match starts with one of these; absent if a match can start with anything. */
  readonly prefixes?: readonly Literal[];
  /** Every match contains one of these, at its start or later; absent if unknown. */
  readonly required?: readonly Literal[];
}

/** Longer literals, and more of them, cost more than they save. */
const MAX_LENGTH = 10;
const MAX_LITERALS = 60;
/** Larger character classes count as any character. */
const MAX_CLASS = 10;
/** Shorter literals occur too often to be worth a search. */
const MIN_REQUIRED = 3;

/** The first character of a literal that must be at the start of a word. */
const WORD_BOUNDARY = '\b';

/** The literals that a part of an expression starts with. `exact`: the part matches just this. `prefix`: anything can follow. */
interface Starts {
  readonly exact: readonly string[];
  readonly prefix: readonly string[];
}

const NOTHING: Starts = { exact: [''], prefix: [] };
const ANYTHING: Starts = { exact: [], prefix: [''] };

export function prefilterOf(source: string): Prefilter {
  const alternatives = new RegexParser(source).alternatives();
  const prefixes = literalsOf(alternatives.flatMap((parts) => textsOf(concatenate(parts, 0))));
  const required = literalsOf(alternatives.flatMap(requiredTexts).map(dropLeadingSpace));
  return { ...(prefixes === undefined ? {} : { prefixes }), ...(required === undefined ? {} : { required }) };
}

/** The longest literals of one alternative after its start; those of its start if the others are too short. */
function requiredTexts(parts: readonly Starts[]): readonly string[] {
  let best: readonly string[] | undefined;
  let length = MIN_REQUIRED - 1;
  // A leading word boundary matches no text: the part after it is the start.
  const second = parts[0]?.exact[0] === WORD_BOUNDARY ? 2 : 1;
  for (let from = second; from < parts.length && length < MAX_LENGTH; from += 1) {
    const texts = textsOf(concatenate(parts, from));
    const shortest = shortestOf(texts);
    if (shortest <= length) continue;
    best = texts;
    length = shortest;
  }
  return best ?? textsOf(concatenate(parts, 0));
}

/** A word after a space is found just as well without the space, at the start of a word. */
function dropLeadingSpace(text: string): string {
  return /^ \w{3}/.test(text) ? WORD_BOUNDARY + text.slice(1) : text;
}

function shortestOf(texts: readonly string[]): number {
  return Math.min(...texts.map(lengthOf));
}

/** The length without the word boundary. */
function lengthOf(text: string): number {
  return text.startsWith(WORD_BOUNDARY) ? text.length - 1 : text.length;
}

function truncate(text: string): string {
  return text.slice(0, text.length - lengthOf(text) + MAX_LENGTH);
}

/** Undefined if one of the texts is empty, because then every position qualifies. */
function literalsOf(texts: readonly string[]): readonly Literal[] | undefined {
  const found = new Map<string, Literal>();
  for (const written of texts) {
    const text = written.startsWith(WORD_BOUNDARY) ? written.slice(1) : written;
    if (text === '') return undefined;
    // Before punctuation, `\b` is the end of a word.
    const isAtWordStart = text !== written && /^\w/.test(text) && (found.get(text)?.isAtWordStart ?? true);
    found.set(text, { text, isAtWordStart });
  }
  return [...found.values()].filter((literal) => !isCovered(literal, found));
}

/** Whether a shorter literal already qualifies wherever this one does. */
function isCovered({ text, isAtWordStart }: Literal, all: ReadonlyMap<string, Literal>): boolean {
  for (let length = 1; length < text.length; length += 1) {
    const shorter = all.get(text.slice(0, length));
    if (shorter !== undefined && (!shorter.isAtWordStart || isAtWordStart)) return true;
  }
  return false;
}

const textsOf = ({ exact, prefix }: Starts): readonly string[] => [...exact, ...prefix];

function concatenate(parts: readonly Starts[], from: number): Starts {
  let all = NOTHING;
  for (let at = from; at < parts.length && all.exact.length > 0; at += 1) all = append(all, parts[at] ?? ANYTHING);
  return all;
}

/** Every combination of both parts. Returns the first part alone if there would be too many. */
function append(first: Starts, second: Starts): Starts {
  const count = first.prefix.length + first.exact.length * (second.exact.length + second.prefix.length);
  if (count > MAX_LITERALS) return { exact: [], prefix: textsOf(first) };
  const exact: string[] = [];
  const prefix: string[] = [...first.prefix];
  for (const start of first.exact) {
    for (const next of second.prefix) prefix.push(truncate(join(start, next)));
    for (const next of second.exact) {
      const text = join(start, next);
      if (lengthOf(text) < MAX_LENGTH) exact.push(text);
      else prefix.push(truncate(text));
    }
  }
  return { exact, prefix };
}

/** Only a leading word boundary matters, so one inside a literal is dropped. */
function join(first: string, second: string): string {
  return first !== '' && second.startsWith(WORD_BOUNDARY) ? first + second.slice(1) : first + second;
}

/** Characters without a special meaning and without a quantifier. */
const PLAIN = /(?:[\w '",:;<>=&%@#!~`-](?![?*+{]))+/y;
const GROUP = /\((?:\?(?:<?[=!]|:))?/y;
const CLASS = /\[(?:\\.|[^\\\]])*\]/y;
const QUANTIFIER = /(?:\{\d+(?:,\d*)?\}|[*+?])\??/y;

/** A recursive-descent parser for the subset of the syntax that the scan patterns use. */
class RegexParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Parses alternatives up to the end of their group; returns the parts of each. */
  alternatives(): readonly (readonly Starts[])[] {
    const all: Starts[][] = [];
    let parts: Starts[] = [];
    for (; this.#at < this.#source.length && this.#source[this.#at] !== ')';) {
      if (this.#source[this.#at] === '|') {
        this.#at += 1;
        all.push(parts);
        parts = [];
      } else parts.push(this.#quantified(this.#part()));
    }
    return [...all, parts];
  }

  /** Consumes a match of a sticky expression; empty if it does not match. */
  #take(token: RegExp): string {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source)?.[0] ?? '';
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
    const opening = this.#take(GROUP);
    const alternatives = this.alternatives();
    this.#at += 1;
    // A lookaround is not part of the match.
    if (/[=!]$/.test(opening)) return NOTHING;
    const inside = alternatives.map((parts) => concatenate(parts, 0));
    return { exact: inside.flatMap(({ exact }) => exact), prefix: inside.flatMap(({ prefix }) => prefix) };
  }

  #escaped(): Starts {
    const character = this.#source[this.#at] ?? '';
    this.#at += 1;
    if (character === 'b') return literal(WORD_BOUNDARY);
    if (character === 'n') return literal('\n');
    return /[A-Za-z0-9]/.test(character) ? ANYTHING : literal(character);
  }

  #quantified(part: Starts): Starts {
    const quantifier = this.#take(QUANTIFIER);
    if (quantifier === '') return part;
    const once = /^(?:\?|\{(?:\d+,)?1\})/.test(quantifier) ? part : { exact: [], prefix: textsOf(part) };
    return /^(?:[?*]|\{0)/.test(quantifier) ? { exact: ['', ...once.exact], prefix: once.prefix } : once;
  }
}

function classStarts(inside: string): Starts {
  if (/^\^|\\[a-z]|[^\\]-./.test(inside)) return ANYTHING;
  const characters = [...inside.replaceAll(/\\(.)/g, '$1')];
  return characters.length > MAX_CLASS ? ANYTHING : { exact: characters, prefix: [] };
}

function literal(text: string): Starts {
  return { exact: [text], prefix: [] };
}
