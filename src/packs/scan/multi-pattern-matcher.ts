/**
 * Runs many regular expressions over a text. One Aho-Corasick pass finds the literals that matches start with and the literals that they
 * require; an expression is then tried only at positions where it can match. The result is the same as running each expression alone.
 */
import { openAhoCorasick } from './aho-corasick.ts';
import { prefilterOf } from './regex-prefilter.ts';
import type { Literal, Prefilter } from './regex-prefilter.ts';

export interface TextMatch {
  readonly index: number;
  readonly length: number;
}

export interface MultiPatternMatcher {
  /** The positions where matches can start, found in one pass. */
  readonly candidates: (text: string) => Candidates;
  /** The first matches of one expression, in the order of `matchAll`. */
  readonly matches: (text: string, candidates: Candidates, options: MatchOptions) => readonly TextMatch[];
}

export interface MatchOptions {
  /** The index of the expression. */
  readonly expression: number;
  readonly limit: number;
}

/** By index of the expression. `anywhere`: not prefiltered, so the whole text is searched. Undefined: no match. */
export type Candidates = readonly (CandidatePositions | 'anywhere' | undefined)[];

interface CandidatePositions {
  /** Ascending. */
  readonly starts: readonly number[];
  /** The positions of required literals, ascending; absent if the expression requires none. */
  readonly required?: readonly number[];
}

/** A literal of one list: the prefixes of an expression, or its required literals. */
interface LiteralUse {
  /** The index of the expression for prefixes; that index plus the number of expressions for required literals. */
  readonly list: number;
  /** The output of the automaton that reports the literal. */
  readonly output: number;
  readonly length: number;
  readonly isAtWordStart: boolean;
}

const NON_ASCII = /[^\0-\x7f]/;
const NO_PREFIXES: Prefilter = { prefixes: [] };

/**
 * The expressions have only the flag `g`, and match neither an empty text nor a line end. Expressions with non-ASCII characters are
 * searched without the prefilter, and only in texts that have such characters.
 */
export function openMultiPatternMatcher(expressions: readonly RegExp[]): MultiPatternMatcher {
  const isNonAscii = expressions.map(({ source }) => NON_ASCII.test(source));
  const prefilters = expressions.map(({ source }, at) => (isNonAscii[at] === true ? NO_PREFIXES : prefilterOf(source)));
  const lists = [...prefilters.map(({ prefixes }) => prefixes), ...prefilters.map(({ required }) => required)];
  const literals = [...new Set(lists.flatMap((list = []) => list.map(({ text }) => text)))];
  const automaton = openAhoCorasick(literals);
  const uses = usesByOutput(automaton.outputs, literals, lists);
  const inAsciiText = expressions.map((_, at) =>
    isNonAscii[at] !== true && lists[at] === undefined ? ('anywhere' as const) : undefined,
  );
  const inAnyText = inAsciiText.map((searched, at) => (isNonAscii[at] === true ? 'anywhere' : searched));
  const sticky = expressions.map(({ source }) => new RegExp(source, 'y'));
  return {
    candidates(text) {
      const found = automaton.search(text);
      const hasNonAscii = NON_ASCII.test(text);
      const seen = seenUses(found.keys(), uses);
      const candidates: (Candidates[number] | undefined)[] = [...(hasNonAscii ? inAnyText : inAsciiText)];
      for (const [at, prefixes] of seen) {
        if (at >= expressions.length || isNonAscii[at] === true) continue;
        const required = seen.get(at + expressions.length);
        const starts = (list: readonly LiteralUse[]): readonly number[] => startsOf(text, list, found);
        if (lists[at + expressions.length] === undefined) candidates[at] = { starts: starts(prefixes) };
        else if (required !== undefined) candidates[at] = { starts: starts(prefixes), required: starts(required) };
      }
      return candidates;
    },
    matches(text, candidates, { expression, limit }) {
      const [candidate, regex, atPosition] = [candidates[expression], expressions[expression], sticky[expression]];
      if (candidate === undefined || regex === undefined || atPosition === undefined) return [];
      if (candidate === 'anywhere') return matchesAnywhere(text, regex, limit);
      return matchesAt(text, atPosition, candidate, limit);
    },
  };
}

/** For each output of the automaton, the lists that contain a literal of it. */
function usesByOutput(
  outputs: readonly (readonly number[])[],
  literals: readonly string[],
  lists: readonly (readonly Literal[] | undefined)[],
): readonly (readonly LiteralUse[])[] {
  const byText = new Map<string, Omit<LiteralUse, 'output'>[]>(literals.map((text) => [text, []]));
  for (const [list, entries = []] of lists.entries())
    for (const { text, isAtWordStart } of entries) byText.get(text)?.push({ list, length: text.length, isAtWordStart });
  return outputs.map((indexes, output) =>
    indexes.flatMap((index) => (byText.get(literals[index] ?? '') ?? []).map((use) => ({ ...use, output }))),
  );
}

/** The literals that occur, by list. */
function seenUses(
  outputs: Iterable<number>,
  uses: readonly (readonly LiteralUse[])[],
): ReadonlyMap<number, readonly LiteralUse[]> {
  const seen = new Map<number, LiteralUse[]>();
  for (const output of outputs)
    for (const use of uses[output] ?? []) {
      const list = seen.get(use.list);
      if (list === undefined) seen.set(use.list, [use]);
      else list.push(use);
    }
  return seen;
}

/** Where the literals start, ascending. */
function startsOf(
  text: string,
  uses: readonly LiteralUse[],
  found: ReadonlyMap<number, readonly number[]>,
): readonly number[] {
  const starts: number[] = [];
  for (const { output, length, isAtWordStart } of uses)
    for (const end of found.get(output) ?? []) {
      const start = end + 1 - length;
      if (!isAtWordStart || start === 0 || !isWordCharacter(text.charCodeAt(start - 1))) starts.push(start);
    }
  return uses.length === 1 ? starts : starts.sort((a, b) => a - b);
}

/** The same characters as `\w`. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || (code >= 0x41 && code <= 0x5a)
  );
}

function matchesAnywhere(text: string, regex: RegExp, limit: number): readonly TextMatch[] {
  const found: TextMatch[] = [];
  for (const { index, 0: match } of text.matchAll(regex)) {
    if (found.length >= limit) break;
    found.push({ index, length: match.length });
  }
  return found;
}

function matchesAt(
  text: string,
  sticky: RegExp,
  { starts, required }: CandidatePositions,
  limit: number,
): readonly TextMatch[] {
  const found: TextMatch[] = [];
  let end = 0;
  let nextRequired = 0;
  let lineEnd = -1;
  for (const index of starts) {
    if (index < end) continue;
    if (required !== undefined) {
      while ((required[nextRequired] ?? index) < index) nextRequired += 1;
      const position = required[nextRequired];
      if (position === undefined) break;
      if (lineEnd < index) lineEnd = endOfLine(text, index);
      // Matches stay in one line, so a required literal in a later line does not help.
      if (position > lineEnd) continue;
    }
    sticky.lastIndex = index;
    if (!sticky.test(text)) continue;
    end = sticky.lastIndex;
    if (found.push({ index, length: end - index }) >= limit) break;
  }
  return found;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
