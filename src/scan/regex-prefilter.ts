/** Derives literals from the source of a regular expression. */
export interface Literal {
  readonly text: string;
  /** The literal counts only at the start of a word. */
  readonly isAtWordStart: boolean;
}

/** Every match contains at least one of these. */
export type LiteralSet = readonly Literal[];

/** Every match of one alternative of an expression contains a literal of each set. Sets with longer literals come first. */
export type RequiredLiterals = readonly LiteralSet[];

/** The requirements of each alternative of the expression. */
export function requiredLiterals(source: string): readonly RequiredLiterals[] {
  return new RegexParser(source)
    .alternatives(NOTHING)
    .map(({ sets }) => sets.toSorted((a, b) => shortestLength(b) - shortestLength(a) || a.length - b.length));
}

export function shortestLength(set: LiteralSet): number {
  return Math.min(...set.map(({ text }) => text.length));
}

/** The literal text up to a position of an expression. */
interface Run {
  readonly text: string;
  /** The text starts at the start of a word. */
  readonly isAtWordStart: boolean;
  /** A word that follows the text is not part of a longer one. */
  readonly isBeforeWord: boolean;
}

/** What a sequence requires, and whether a word that follows it is not part of a longer one. */
interface Sequence extends Pick<Run, 'isBeforeWord'> {
  readonly sets: RequiredLiterals;
}

const NOTHING: Run = { text: '', isAtWordStart: false, isBeforeWord: false };

/** Characters without a special meaning and without a quantifier. */
const PLAIN = /(?:[\w '",:;<>=&%@#!~`/-](?![?*+{]))+/y;
const SPECIAL: ReadonlySet<string> = new Set('\\[.^$');
const WORD_BOUNDARY = String.raw`\b`;
const GROUP = /\((?:\?(?:<?[=!]|:))?/y;
const ONE = /\[(?:\\.|[^\\\]])*\]|\\.|./y;
const QUANTIFIER = /(?:\{\d+(?:,\d*)?\}|[*+?])\??/y;
const OPTIONAL = /^(?:[?*]|\{0)/;

/** A recursive-descent parser for the subset of the syntax that the scan patterns use. */
class RegexParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Parses alternatives up to the end of their group. `before` is the literal text in front of them. */
  alternatives(before: Run): readonly Sequence[] {
    const all = [this.#sequence(before)];
    for (; this.#source[this.#at] === '|';) {
      this.#at += 1;
      all.push(this.#sequence(before));
    }
    return all;
  }

  #sequence(before: Run): Sequence {
    const sets: LiteralSet[] = [];
    let run = before;
    /** Continues after a part that is not literal. */
    const skip = (isBeforeWord: boolean): void => {
      sets.push(...literalSet(run));
      run = { text: '', isAtWordStart: isBeforeWord, isBeforeWord };
    };
    for (; this.#at < this.#source.length;) {
      const character = this.#source.charAt(this.#at);
      if (character === '|' || character === ')') break;
      const opening = character === '(' ? this.#take(GROUP) : '';
      if (opening !== '') {
        const inside = this.alternatives(run);
        this.#at += 1;
        const isOptional = OPTIONAL.test(this.#quantifier());
        const isBeforeWord = inside.every((sequence) => sequence.isBeforeWord) && (run.isBeforeWord || !isOptional);
        if (opening.endsWith('=') || opening.endsWith('!')) skip(run.isBeforeWord);
        else if (isOptional) skip(isBeforeWord);
        else {
          sets.push(...together(inside.map((sequence) => sequence.sets)));
          run = { text: '', isAtWordStart: isBeforeWord, isBeforeWord };
        }
        continue;
      }
      const plain = SPECIAL.has(character) ? '' : this.#take(PLAIN);
      const one = plain === '' ? this.#take(ONE) : plain;
      const literal = plain === '' ? toLiteral(one) : plain;
      const quantifier = plain === '' ? this.#quantifier() : '';
      const isBeforeWord = literal !== undefined && !/\w$/.test(literal);
      if (one === WORD_BOUNDARY)
        run = { ...run, isAtWordStart: run.isAtWordStart || run.text === '', isBeforeWord: true };
      else if (literal === undefined || quantifier !== '')
        skip(isBeforeWord && (run.isBeforeWord || !OPTIONAL.test(quantifier)));
      else run = { ...run, text: run.text + literal, isBeforeWord };
    }
    const { isBeforeWord } = run;
    skip(isBeforeWord);
    return { sets, isBeforeWord };
  }

  #quantifier(): string {
    return '?*+{'.includes(this.#source.charAt(this.#at)) ? this.#take(QUANTIFIER) : '';
  }

  /** Consumes a match of a sticky expression; empty if it does not match. */
  #take(token: RegExp): string {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}

/** The text of an escaped or plain character; undefined for classes and anchors. */
function toLiteral(one: string): string | undefined {
  if (one.startsWith('\\')) return /\\[A-Za-z0-9]/.test(one) ? undefined : one.slice(1);
  return /^[[.^$]/.test(one) ? undefined : one;
}

/** A word after a space is found just as well without the space, at the start of a word. */
function literalSet({ text, isAtWordStart }: Run): RequiredLiterals {
  const word = text.replace(/^ +(?=\w)/, '');
  if (word === '') return [];
  // Before punctuation, `\b` is the end of a word.
  return [[{ text: word, isAtWordStart: (isAtWordStart || word !== text) && /^\w/.test(word) }]];
}

/** The requirements of a group: those of its only alternative, or one set with the best of each alternative. */
function together(alternatives: readonly RequiredLiterals[]): RequiredLiterals {
  const [first, ...others] = alternatives;
  if (first === undefined || others.length === 0) return first ?? [];
  const best = alternatives.map((sets) =>
    sets.reduce<LiteralSet>(
      (most, set) => (most.length === 0 || shortestLength(set) > shortestLength(most) ? set : most),
      [],
    ),
  );
  return best.some(({ length }) => length === 0) ? [] : [best.flat()];
}
