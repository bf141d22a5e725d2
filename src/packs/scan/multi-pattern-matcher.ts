/**
 * Runs many regular expressions over a text of many lines. One pass finds the literals that matches contain; an expression is then run only
 * on the lines that have all it requires. The result is the same as running each expression alone.
 */
import { requiredLiterals, shortestOf } from './regex-prefilter.ts';
import type { Literal, RequiredLiterals } from './regex-prefilter.ts';

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

/** By index of the expression: the offsets of lines, ascending. `anywhere`: the whole text is searched. Absent: no match. */
export type Candidates = ReadonlyMap<number, readonly number[] | 'anywhere'>;

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
/** Longer literals exclude hardly more lines than their start. */
const MAX_LITERAL = 10;
/** More sets per branch cost more than they save. */
const SET_BITS = 1;
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
  const automaton = buildAutomaton(branches);
  const characterCodes = openCharacterCodes();
  /** By branch: the offset of the last line with one of its literals, and the sets that this line has. Allocated once for all texts. */
  const [lines, found] = [new Int32Array(branches.length), new Uint8Array(branches.length)];
  return {
    candidates(text) {
      const candidates = new Map<number, number[] | 'anywhere'>();
      for (const at of CHINESE.test(text) ? [...unfiltered, ...chinese] : unfiltered) candidates.set(at, 'anywhere');
      lines.fill(-1);
      findLiterals(automaton, characterCodes(text), (set, line) => {
        const branch = set >> SET_BITS;
        const before = lines[branch] === line ? (found[branch] ?? 0) : 0;
        const after = before | (1 << (set & (MAX_SETS - 1)));
        if (before === after) return;
        lines[branch] = line;
        found[branch] = after;
        if (after === complete[branch]) add(candidates, branches[branch]?.expression ?? 0, line);
      });
      return candidates;
    },
    matches(text, candidates, { expression, limit }) {
      const [offsets, regex] = [candidates.get(expression), expressions[expression]];
      if (offsets === undefined || regex === undefined) return [];
      if (offsets === 'anywhere') return matchesIn(text, { regex, offset: 0, limit });
      const matches: TextMatch[] = [];
      for (const offset of offsets) {
        if (matches.length >= limit) break;
        const end = text.indexOf('\n', offset);
        const line = text.slice(offset, end === -1 ? text.length : end);
        matches.push(...matchesIn(line, { regex, offset, limit: limit - matches.length }));
      }
      return matches;
    },
  };
}

function branchesOf(source: string, expression: number): readonly Branch[] {
  return requiredLiterals(source).map((all) => {
    const long = all.filter((set) => shortestOf(set) >= MIN_LITERAL);
    return { expression, sets: long.length === 0 ? all.slice(0, 1) : long.slice(0, MAX_SETS) };
  });
}

/** Finds all literals in one pass (Aho-Corasick): a state is the longest start of a literal that ends at the current character. */
interface Automaton {
  /** The next state by state and column. The first state is 0. */
  readonly next: Uint16Array;
  /** The number of columns as a power of two. */
  readonly shift: number;
  /** The column of each ASCII character; 0 for characters that occur in no literal. */
  readonly columns: Uint8Array;
  /** By state: whether literals end there. */
  readonly ends: Uint8Array;
  readonly literals: readonly (readonly FoundLiteral[])[];
}

interface FoundLiteral extends Pick<Literal, 'isAtWordStart'> {
  readonly length: number;
  /** `branch << SET_BITS | set` */
  readonly set: number;
}

function buildAutomaton(branches: readonly Branch[]): Automaton {
  const all = branches.flatMap(({ sets }, branch) =>
    sets.flatMap((set, at) =>
      set.map(({ text, ...rest }) => ({ ...rest, text: text.slice(0, MAX_LITERAL), set: (branch << SET_BITS) | at })),
    ),
  );
  const columns = new Uint8Array(ASCII);
  const alphabet = new Set(all.map(({ text }) => text).join(''));
  for (const [at, character] of [...alphabet].entries()) columns[character.charCodeAt(0)] = at + 1;
  const shift = Math.ceil(Math.log2(alphabet.size + 1));
  const maxStates = all.reduce((sum, { text }) => sum + text.length, 1);
  const next = new Uint16Array(maxStates << shift);
  /** By state: the column that led to it, its last child, and the child before it. */
  const [column, child, sibling] = [new Uint8Array(maxStates), new Uint16Array(maxStates), new Uint16Array(maxStates)];
  const literals: FoundLiteral[][] = [[]];
  for (const { text, isAtWordStart, set } of all) {
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      const by = columns[text.charCodeAt(at)] ?? 0;
      const cell = (state << shift) | by;
      if (next[cell] === 0) {
        const made = literals.push([]) - 1;
        column[made] = by;
        sibling[made] = child[state] ?? 0;
        child[state] = made;
        next[cell] = made;
      }
      state = next[cell] ?? 0;
    }
    literals[state]?.push({ length: text.length, isAtWordStart, set });
  }
  // From short to long, so that the state without the first character is complete before it is needed.
  const states = new Uint16Array(literals.length);
  const shorter = new Uint16Array(literals.length);
  for (let at = 0, count = 1; at < count; at += 1) {
    const state = states[at] ?? 0;
    const [row, other] = [state << shift, shorter[state] ?? 0];
    if (state !== 0) {
      next.copyWithin(row, other << shift, (other + 1) << shift);
      literals[state]?.push(...(literals[other] ?? []));
    }
    for (let each = child[state] ?? 0; each !== 0; each = sibling[each] ?? 0) {
      const cell = row | (column[each] ?? 0);
      shorter[each] = state === 0 ? 0 : (next[cell] ?? 0);
      next[cell] = each;
      states[count] = each;
      count += 1;
    }
  }
  return { next, shift, columns, ends: Uint8Array.from(literals, ({ length }) => Math.min(length, 1)), literals };
}

/** Calls `see` with the set of each literal and the offset of its line. */
function findLiterals(
  { next, shift, columns, ends, literals }: Automaton,
  codes: Uint16Array,
  see: (set: number, line: number) => void,
): void {
  let line = 0;
  let state = 0;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    state = code < ASCII ? (next[(state << shift) | (columns[code] ?? 0)] ?? 0) : 0;
    if (code === LINE_END) line = at + 1;
    if (ends[state] === 0) continue;
    for (const { length, isAtWordStart, set } of literals[state] ?? [])
      if (!isAtWordStart || at < length || !isWordCharacter(codes[at - length] ?? 0)) see(set, line);
  }
}

/** A typed array, because reading it is several times faster than `charCodeAt`, as long as no index is beyond its end. */
function openCharacterCodes(): (text: string) => Uint16Array {
  let bytes = Buffer.alloc(0);
  return (text) => {
    if (bytes.length < 2 * text.length) bytes = Buffer.allocUnsafeSlow(4 * text.length);
    bytes.write(text, 'utf16le');
    return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  };
}

function add(candidates: Map<number, number[] | 'anywhere'>, expression: number, line: number): void {
  const lines = candidates.get(expression);
  if (lines === undefined) candidates.set(expression, [line]);
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
  // `matchAll` would copy the expression, which then starts without compiled code.
  regex.lastIndex = 0;
  while (found.length < limit) {
    const match = regex.exec(text);
    if (match === null) break;
    found.push({ index: match.index + offset, length: match[0].length });
  }
  regex.lastIndex = 0;
  return found;
}
