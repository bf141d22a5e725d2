/**
 * Runs many regular expressions over the lines of a text. One pass finds the literals that matches contain; an expression is then run only
 * on the lines that have all it requires. The result is the same as running each expression alone.
 */
import { ENDS, START, buildAutomaton, type LiteralAutomaton } from './literal-automaton.ts';
import type { LineKind } from './normalize-line.ts';
import { requiredLiterals, shortestLength, type RequiredLiterals } from './regex-prefilter.ts';

export interface TextMatch {
  readonly index: number;
  readonly length: number;
}

/** A range of characters that is one line after `normalizeLine`, or is normalized already. */
export interface LineSource {
  readonly codes: Uint16Array;
  readonly from: number;
  readonly to: number;
  readonly kind: LineKind | 'normalized';
}

/** By index of the expression: the lines that can have matches, ascending. */
export type Candidates = ReadonlyMap<number, readonly number[]>;

/** An alternative of an expression. */
interface Branch {
  readonly expression: number;
  readonly sets: RequiredLiterals;
}

/** Chinese characters. Typographic characters, such as dashes, are common in all texts. */
const CHINESE = /[\u2e80-\u9fff]/;
const LINE_END = 0x0a;
const ASCII = 0x80;
const LAST_ASCII = 0x7f;
const STAR = 0x2a;
const BACKSLASH = 0x5c;
/** Columns above those of the automaton. */
const SPECIAL = 0xf0;
const REMOVED = 0xf0;
const REMOVED_AT_LINE_END = 0xf1;
const BEYOND_ASCII = 0xf2;
/** Shorter literals occur too often to be worth a search, unless a branch has no others. */
const MIN_LITERAL = 3;
/** Longer literals exclude hardly more lines than their start. */
const MAX_LITERAL = 10;
/** More sets per branch cost more than they save. */
const SET_BITS = 2;
const MAX_SETS = 1 << SET_BITS;

/**
 * The expressions have only the flag `g`, and match neither an empty text nor a line end. They are ASCII in lower case, except for those
 * with Chinese characters.
 */
export class MultiPatternMatcher {
  /** Expressions that require no literal: each can match in every line. */
  readonly unfiltered: readonly number[];
  /** Expressions that can match in every line of a text with Chinese characters. */
  readonly chinese: readonly number[];
  readonly #expressions: readonly RegExp[];
  readonly #automaton: LiteralAutomaton;
  /** The columns of the automaton, with special values for characters that `normalizeLine` replaces or removes. */
  readonly #columns: Readonly<Record<LineSource['kind'], Uint8Array>>;
  /** By branch: its expression, its sets as bits, the last line with one of its literals, and the sets of this line. */
  readonly #expression: Uint16Array;
  readonly #complete: Uint8Array;
  readonly #line: Int32Array;
  readonly #found: Uint8Array;
  #candidates = new Map<number, number[]>();

  constructor(expressions: readonly RegExp[]) {
    const isChinese = expressions.map(({ source }) => CHINESE.test(source));
    const branches = expressions.flatMap(({ source }, expression) =>
      isChinese[expression] === true ? [] : toBranches(source, expression),
    );
    this.unfiltered = branches.filter(({ sets }) => sets.length === 0).map(({ expression }) => expression);
    this.chinese = [...expressions.keys()].filter((at) => isChinese[at] === true);
    this.#expressions = expressions;
    this.#automaton = buildAutomaton(
      branches.flatMap(({ sets }, branch) =>
        sets.flatMap((set, at) =>
          set.map(({ text, ...rest }) => ({
            ...rest,
            text: text.slice(0, MAX_LITERAL),
            id: (branch << SET_BITS) | at,
          })),
        ),
      ),
    );
    const columns = this.#automaton.columns.with(LAST_ASCII, BEYOND_ASCII);
    this.#columns = {
      normalized: columns,
      prose: columns.with(STAR, REMOVED),
      code: columns.with(BACKSLASH, REMOVED_AT_LINE_END),
    };
    this.#expression = Uint16Array.from(branches, ({ expression }) => expression);
    this.#complete = Uint8Array.from(branches, ({ sets }) => (1 << sets.length) - 1);
    this.#line = new Int32Array(branches.length);
    this.#found = new Uint8Array(branches.length);
  }

  /** Starts a text. */
  begin(): void {
    this.#candidates = new Map();
    this.#line.fill(-1);
  }

  /**
   * Finds the literals of a line, which has a number of the caller. Lines come in ascending order. False if the line has to be normalized
   * first, because a character is not ASCII.
   */
  read(line: number, { codes, from, to, kind }: LineSource): boolean {
    // The loop runs for every character of every file: few variables and no imported constants save a third of the time.
    const { next, shift } = this.#automaton;
    const [start, ends] = [START, ENDS];
    const columns = this.#columns[kind];
    let state: number = start;
    for (let at = from; at < to; at += 1) {
      const code = codes[at] ?? 0;
      let column = code < ASCII ? (columns[code] ?? 0) : BEYOND_ASCII;
      if (column >= SPECIAL) {
        if (column === BEYOND_ASCII) {
          if (kind !== 'normalized') return false;
          state = start;
          continue;
        }
        // Of code, only a backslash at the end of a line is removed.
        if (column === REMOVED || at + 1 === to || codes[at + 1] === LINE_END) continue;
        column = this.#automaton.columns[code] ?? 0;
      }
      state = next[(state << shift) | column] ?? 0;
      if (state < ends) continue;
      state -= ends;
      this.#see(state, line);
    }
    return true;
  }

  /** Records the literals that end in a state. */
  #see(state: number, line: number): void {
    const { firstIds, ids } = this.#automaton;
    const end = firstIds[state + 1] ?? 0;
    for (let at = firstIds[state] ?? 0; at < end; at += 1) {
      const id = ids[at] ?? 0;
      const branch = id >> SET_BITS;
      const before = this.#line[branch] === line ? (this.#found[branch] ?? 0) : 0;
      const after = before | (1 << (id & (MAX_SETS - 1)));
      if (before === after) continue;
      this.#line[branch] = line;
      this.#found[branch] = after;
      if (after === this.#complete[branch]) this.#add(branch, line);
    }
  }

  /** The lines in which matches of filtered expressions can be. */
  get candidates(): Candidates {
    return this.#candidates;
  }

  /** The first matches of one expression in one line, in the order of `matchAll`. */
  matches(expression: number, line: string, limit: number): readonly TextMatch[] {
    const regex = this.#expressions[expression];
    if (regex === undefined) return [];
    const found: TextMatch[] = [];
    // `matchAll` would copy the expression, which then starts without compiled code.
    regex.lastIndex = 0;
    while (found.length < limit) {
      const match = regex.exec(line);
      if (match === null) break;
      found.push({ index: match.index, length: match[0].length });
    }
    regex.lastIndex = 0;
    return found;
  }

  #add(branch: number, line: number): void {
    const expression = this.#expression[branch] ?? 0;
    const lines = this.#candidates.get(expression);
    if (lines === undefined) this.#candidates.set(expression, [line]);
    else if (lines.at(-1) !== line) lines.push(line);
  }
}

/** Whether expressions for Chinese text can match. */
export function isChinese(text: string): boolean {
  return CHINESE.test(text);
}

function toBranches(source: string, expression: number): readonly Branch[] {
  return requiredLiterals(source).map((all) => {
    const long = all.filter((set) => shortestLength(set) >= MIN_LITERAL);
    return { expression, sets: long.length === 0 ? all.slice(0, 1) : long.slice(0, MAX_SETS) };
  });
}
