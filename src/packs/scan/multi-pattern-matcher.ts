/**
 * Runs many regular expressions over a text of many lines. One pass finds the literals that matches contain; an expression is then run only
 * on the lines that have all it requires. The result is the same as running each expression alone.
 */
import { requiredLiterals, shortestOf } from './regex-prefilter.ts';
import type { RequiredLiterals } from './regex-prefilter.ts';

export interface TextMatch {
  readonly index: number;
  readonly length: number;
}

export interface MultiPatternMatcher {
  /** The lines in which matches can be, found in one pass. */
  readonly candidates: (text: string) => Candidates;
  /** The first matches of one expression, in the order of `matchAll`. */
  readonly matches: (text: string, candidates: Candidates, options: MatchOptions) => readonly TextMatch[];
}

export interface MatchOptions {
  /** The index of the expression. */
  readonly expression: number;
  readonly limit: number;
}

/** By index of the expression: the offsets of lines, ascending. `anywhere`: the whole text is searched. Undefined: no match. */
export type Candidates = readonly (readonly number[] | 'anywhere' | undefined)[];

/** An alternative of an expression. */
interface Branch {
  readonly expression: number;
  readonly sets: RequiredLiterals;
}

/** Chinese characters. Typographic characters, such as dashes, are common in all texts. */
const CHINESE = /[\u2e80-\u9fff]/;
const LINE_END = 0x0a;
const ASCII = 128;
/** Shorter literals occur too often to be worth a search, unless a branch has no others. */
const MIN_LITERAL = 3;
/** More sets per branch cost more than they save. */
const SET_BITS = 2;
const MAX_SETS = 1 << SET_BITS;

/**
 * The expressions have only the flag `g`, and match neither an empty text nor a line end. Expressions with Chinese characters are run on
 * all lines of texts that have such characters; other expressions are ASCII.
 */
export function openMultiPatternMatcher(expressions: readonly RegExp[]): MultiPatternMatcher {
  const isChinese = expressions.map(({ source }) => CHINESE.test(source));
  const branches = expressions.flatMap(({ source }, expression) =>
    isChinese[expression] === true ? [] : branchesOf(source, expression),
  );
  const unfiltered = branches.filter(({ sets }) => sets.length === 0).map(({ expression }) => expression);
  const chinese = [...expressions.keys()].filter((at) => isChinese[at] === true);
  const complete = Uint8Array.from(branches, ({ sets }) => (1 << sets.length) - 1);
  const trie = buildTrie(branches);
  return {
    candidates(text) {
      const candidates: (number[] | 'anywhere' | undefined)[] = Array.from({ length: expressions.length });
      for (const at of CHINESE.test(text) ? [...unfiltered, ...chinese] : unfiltered) candidates[at] = 'anywhere';
      /** By branch: the offset of the last line with one of its literals, and the sets that this line has. */
      const lines = new Int32Array(branches.length).fill(-1);
      const found = new Uint8Array(branches.length);
      findLiterals(trie, text, (sets, line) => {
        for (const each of sets) {
          const branch = each >> SET_BITS;
          const before = lines[branch] === line ? (found[branch] ?? 0) : 0;
          const after = before | (1 << (each & (MAX_SETS - 1)));
          if (before === after) continue;
          lines[branch] = line;
          found[branch] = after;
          if (after === complete[branch]) add(candidates, branches[branch]?.expression ?? 0, line);
        }
      });
      return candidates;
    },
    matches(text, candidates, { expression, limit }) {
      const [lines, regex] = [candidates[expression], expressions[expression]];
      if (lines === undefined || regex === undefined) return [];
      if (lines === 'anywhere') return matchesIn(text, { regex, offset: 0, limit });
      const found: TextMatch[] = [];
      for (const offset of lines) {
        if (found.length >= limit) break;
        const end = text.indexOf('\n', offset);
        const line = text.slice(offset, end === -1 ? text.length : end);
        found.push(...matchesIn(line, { regex, offset, limit: limit - found.length }));
      }
      return found;
    },
  };
}

function branchesOf(source: string, expression: number): readonly Branch[] {
  return requiredLiterals(source).map((all) => {
    const long = all.filter((set) => shortestOf(set) >= MIN_LITERAL);
    return { expression, sets: long.length === 0 ? all.slice(0, 1) : long.slice(0, MAX_SETS) };
  });
}

/** The literals as a tree of states. The first state is 0, which is also the absence of a state. */
interface Trie {
  /** The next state by state and column. */
  readonly next: Uint16Array;
  /** The number of columns as a power of two. */
  readonly shift: number;
  /** The column of each ASCII character; 0 for characters that occur in no literal. */
  readonly columns: Uint8Array;
  /** By state: `AT_WORD_START`, `ANYWHERE` or both, if literals end there. */
  readonly ends: Uint8Array;
  /** By state: the sets of the literals that end there, each as `branch << SET_BITS | set`. */
  readonly sets: ReadonlyMap<number, readonly number[]>;
  /** The same for literals that count only at the start of a word. */
  readonly setsOfWords: ReadonlyMap<number, readonly number[]>;
  /** By the first three characters: whether a literal has them, at the start of a word or anywhere. Most positions need no other look. */
  readonly starts: Uint8Array;
}

/** Characters after the text, so that three can be read anywhere in it. */
const PADDING = 2;
const AT_WORD_START = 1;
const ANYWHERE = 2;

function buildTrie(branches: readonly Branch[]): Trie {
  const literals = branches.flatMap(({ sets }, branch) =>
    sets.flatMap((set, at) => set.map((literal) => ({ ...literal, set: (branch << SET_BITS) | at }))),
  );
  const columns = new Uint8Array(ASCII);
  const alphabet = new Set(literals.map(({ text }) => text).join(''));
  for (const [at, character] of [...alphabet].entries()) columns[character.charCodeAt(0)] = at + 1;
  const shift = Math.ceil(Math.log2(alphabet.size + 1));
  const maxStates = literals.reduce((sum, { text }) => sum + text.length, 1);
  const next = new Uint16Array(maxStates << shift);
  const ends = new Uint8Array(maxStates);
  const [sets, setsOfWords] = [new Map<number, number[]>(), new Map<number, number[]>()];
  const starts = new Uint8Array(1 << 15);
  let count = 1;
  for (const { text, isAtWordStart, set } of literals) {
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const cell = (state << shift) | (columns[text.charCodeAt(at)] ?? 0);
      if (next[cell] === 0) {
        next[cell] = count;
        count += 1;
      }
      state = next[cell] ?? 0;
    }
    const kind = isAtWordStart ? AT_WORD_START : ANYWHERE;
    ends[state] = (ends[state] ?? 0) | kind;
    const known = isAtWordStart ? setsOfWords : sets;
    known.set(state, [...(known.get(state) ?? []), set]);
    const first = startNumber(text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2));
    const last = first + 32 ** Math.max(0, 3 - text.length);
    for (let at = first; at < last; at += 1) starts[at] = (starts[at] ?? 0) | kind;
  }
  return { next, shift, columns, ends, sets, setsOfWords, starts };
}

/** Five bits of each character; NaN of a missing one counts as 0. */
function startNumber(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

/** Calls `see` with the sets of each literal and the offset of its line. */
function findLiterals(
  { next, shift, columns, ends, sets, setsOfWords, starts }: Trie,
  text: string,
  see: (sets: readonly number[], line: number) => void,
): void {
  const codes = characterCodes(text);
  let line = 0;
  for (let from = 0; from < text.length; from += 1) {
    const code = codes[from] ?? 0;
    if (code === LINE_END) line = from + 1;
    const start = starts[startNumber(code, codes[from + 1] ?? 0, codes[from + 2] ?? 0)] ?? 0;
    if (start === 0) continue;
    const isInWord = from > 0 && isWordCharacter(codes[from - 1] ?? 0);
    if (isInWord && start === AT_WORD_START) continue;
    let state = 0;
    for (let at = from; at < text.length; at += 1) {
      const each = codes[at] ?? 0;
      state = each < ASCII ? (next[(state << shift) | (columns[each] ?? 0)] ?? 0) : 0;
      if (state === 0) break;
      const end = ends[state] ?? 0;
      if (end === 0) continue;
      if ((end & ANYWHERE) !== 0) see(sets.get(state) ?? [], line);
      if ((end & AT_WORD_START) !== 0 && !isInWord) see(setsOfWords.get(state) ?? [], line);
    }
  }
}

/** A typed array, because reading it is several times faster than `charCodeAt`, as long as no index is beyond its end. */
function characterCodes(text: string): Uint16Array {
  const bytes = Buffer.allocUnsafeSlow((text.length + PADDING) * 2).fill(0, text.length * 2);
  bytes.write(text, 'utf16le');
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length + PADDING);
}

function add(candidates: (number[] | 'anywhere' | undefined)[], expression: number, line: number): void {
  const lines = candidates[expression];
  if (lines === undefined) candidates[expression] = [line];
  else if (lines !== 'anywhere' && lines.at(-1) !== line) lines.push(line);
}

/** The same characters as `\w`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || (code >= 0x41 && code <= 0x5a)
  );
}

function matchesIn(
  text: string,
  { regex, offset, limit }: { readonly regex: RegExp; readonly offset: number; readonly limit: number },
): readonly TextMatch[] {
  const found: TextMatch[] = [];
  for (const { index, 0: match } of text.matchAll(regex)) {
    if (found.length >= limit) break;
    found.push({ index: index + offset, length: match.length });
  }
  return found;
}
