/**
 * Runs many regular expressions over a text. One Aho-Corasick pass finds the literals that matches start with and the literals that they
 * require; an expression is then tried only at positions where it can match. The result is the same as running each expression alone.
 */
import { openAhoCorasick } from './aho-corasick.ts';
import type { LiteralEnds } from './aho-corasick.ts';
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

/** A literal of an expression. */
interface IndexedLiteral {
  readonly index: number;
  readonly length: number;
  readonly isAtWordStart: boolean;
}

/** Chinese characters. Typographic characters, such as dashes, are common in all texts. */
const CHINESE = /[\u2e80-\u9fff]/;

/**
 * The expressions have only the flag `g`, and match neither an empty text nor a line end. Expressions with Chinese characters are searched
 * without the prefilter, and only in texts that have such characters; other expressions are ASCII. An undefined expression has no matches: it keeps the indexes of the
 * others.
 */
export function openMultiPatternMatcher(expressions: readonly (RegExp | undefined)[]): MultiPatternMatcher {
  const sources = expressions.map((expression) => expression?.source);
  const isChinese = sources.map((source = '') => CHINESE.test(source));
  const prefilters = sources.map((source, at): Prefilter => {
    if (source === undefined) return { prefixes: [] };
    return isChinese[at] === true ? {} : prefilterOf(source);
  });
  /** The prefixes of each expression, then the required literals of each. */
  const { lists, texts, listsOf } = indexLiterals([
    ...prefilters.map(({ prefixes }) => prefixes),
    ...prefilters.map(({ required }) => required),
  ]);
  const search = openAhoCorasick(texts);
  const unfiltered = [...prefilters.keys()].filter((at) => prefilters[at]?.prefixes === undefined);
  const sticky = sources.map((source) => (source === undefined ? undefined : new RegExp(source, 'y')));
  return {
    candidates(text) {
      const found = search(text);
      const candidates: Candidates[number][] = Array.from({ length: sources.length });
      const hasChinese = CHINESE.test(text);
      for (const at of unfiltered) if (hasChinese || isChinese[at] !== true) candidates[at] = 'anywhere';
      // Most literals do not occur in a text, so this looks only at those that do.
      const isSeen = new Uint8Array(lists.length);
      for (const literal of found.keys()) for (const list of listsOf[literal] ?? []) isSeen[list] = 1;
      for (let at = 0; at < sources.length; at += 1) {
        const [prefixes, required] = [lists[at], lists[at + sources.length]];
        if (isSeen[at] === 0 || prefixes === undefined) continue;
        if (required === undefined) candidates[at] = { starts: startsOf(text, prefixes, found) };
        else if (isSeen[at + sources.length] === 1)
          candidates[at] = { starts: startsOf(text, prefixes, found), required: startsOf(text, required, found) };
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

/** Numbers the distinct texts of lists of literals. `listsOf`: the lists that have a text, by its number. */
function indexLiterals(lists: readonly (readonly Literal[] | undefined)[]): {
  readonly lists: readonly (readonly IndexedLiteral[] | undefined)[];
  readonly texts: readonly string[];
  readonly listsOf: readonly (readonly number[])[];
} {
  const known = new Map<string, number>();
  const listsOf: number[][] = [];
  const indexed = lists.map((literals, list) =>
    literals?.map(({ text, isAtWordStart }): IndexedLiteral => {
      const index = known.get(text) ?? known.size;
      known.set(text, index);
      (listsOf[index] ??= []).push(list);
      return { index, length: text.length, isAtWordStart };
    }),
  );
  return { lists: indexed, texts: [...known.keys()], listsOf };
}

/** Where the literals start, ascending. */
function startsOf(text: string, literals: readonly IndexedLiteral[], found: LiteralEnds): readonly number[] {
  const starts: number[] = [];
  for (const { index, length, isAtWordStart } of literals)
    for (const end of found.get(index) ?? []) {
      const start = end + 1 - length;
      if (!isAtWordStart || start === 0 || !isWordCharacter(text.charCodeAt(start - 1))) starts.push(start);
    }
  return starts.sort((a, b) => a - b);
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
