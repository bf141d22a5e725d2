/**
 * Many expressions over one text in one pass. The texts with which matches begin, and those that they must hold, are sought all at once; the
 * pass notes where each stands, and an expression is tried only where it could begin, in lines that have what it needs. What comes out is
 * what each expression by itself would have found.
 */
import { openLetterMachine } from './aho-corasick.ts';
import type { LetterMachine, SeenEnds } from './aho-corasick.ts';
import { outlineOf } from './regex-prefilter.ts';
import type { Opening, Outline } from './regex-prefilter.ts';

export interface FoundText {
  readonly index: number;
  readonly length: number;
}

export interface ManyFinder {
  /** A way to look at one text after the other, each in one pass: where matches could begin. */
  readonly openLook: () => (text: string) => Sightings;
  /** The first matches of one expression, as `matchAll` gives them. */
  readonly matches: (text: string, sightings: Sightings, which: WhichMatches) => readonly FoundText[];
}

export interface WhichMatches {
  /** The number of the expression. */
  readonly expression: number;
  readonly most: number;
}

/** By the number of an expression; absent where it matches nothing. `anywhere`: it was not sought. */
export type Sightings = readonly (Sighting | 'anywhere' | undefined)[];

interface Sighting {
  /** Where the expression could begin, in order. */
  readonly places: readonly number[];
  /** Where a text stands that it needs; absent where it needs none. */
  readonly needs?: readonly number[];
}

/** A text of a list, by where it ends. */
interface Wanted {
  /** The number of an expression that begins with it; behind those of all, of one that needs it. */
  readonly list: number;
  readonly ending: number;
  readonly length: number;
  readonly isAtWord: boolean;
}

const NO_MATCH: readonly FoundText[] = [];
const BEYOND_ASCII = /[^\0-\x7f]/;
/** Begins nowhere. */
const NO_OUTLINE: Outline = { openings: [] };

/**
 * The expressions are global, have no other flag, and match neither an empty text nor a line end. Those with letters beyond ASCII are few, and
 * most texts have no such letter: they are no part of the pass, and are tried by themselves where a text could have what they name.
 */
export function openManyFinder(expressions: readonly RegExp[]): ManyFinder {
  const isWide = expressions.map(({ source }) => BEYOND_ASCII.test(source));
  const outlines = expressions.map(({ source }, number) => (isWide[number] === true ? NO_OUTLINE : outlineOf(source)));
  const lists = [...outlines.map(({ openings }) => openings), ...outlines.map(({ needs }) => needs)];
  const texts = [...new Set(lists.flatMap((openings = []) => openings.map(({ text }) => text)))];
  const machine = openLetterMachine(texts);
  const wanted = wantedAt(machine, texts, lists);
  const nothing: Sightings = expressions.map(() => undefined);
  const onlyWide: Sightings = isWide.map((wide) => (wide ? 'anywhere' : undefined));
  const sticky = expressions.map(({ source }) => new RegExp(source, 'y'));
  /** Those that may begin with anything. */
  const unbound = new Map([...expressions.entries()].filter(([number]) => outlines[number]?.openings === undefined));
  return {
    openLook() {
      const pass = machine.openPass();
      const isSeen = new Uint8Array(lists.length);
      return (text) => {
        const ends = pass(text);
        isSeen.fill(0);
        for (const ending of ends.seen) for (const { list } of wanted[ending] ?? []) isSeen[list] = 1;
        // Only of those that begin somewhere and have what they need: most have not.
        const seen = new Map<number, Wanted[]>();
        for (let number = 0; number < expressions.length; number += 1) {
          const needs = number + expressions.length;
          if (isSeen[number] === 0 || (isSeen[needs] === 0 && lists[needs] !== undefined)) continue;
          seen.set(number, []);
          seen.set(needs, []);
        }
        // Copied, which is much faster than to make one.
        const sightings = (BEYOND_ASCII.test(text) ? onlyWide : nothing).slice();
        if (seen.size === 0) return sightings;
        for (const ending of ends.seen) for (const one of wanted[ending] ?? []) seen.get(one.list)?.push(one);
        for (const [number, openings] of seen) {
          if (number >= expressions.length) continue;
          const needs = seen.get(number + expressions.length) ?? [];
          const places = placesOf(openings, ends);
          sightings[number] = needs.length === 0 ? { places } : { places, needs: placesOf(needs, ends) };
        }
        return sightings;
      };
    },
    matches(text, sightings, { expression, most }) {
      const sighting = sightings[expression];
      const one = sticky[expression];
      if (sighting !== undefined && sighting !== 'anywhere' && one !== undefined)
        return matchesAt(text, one, sighting, most);
      const find = sighting === 'anywhere' ? expressions[expression] : unbound.get(expression);
      return find === undefined ? NO_MATCH : matchesAnywhere(text, find, most);
    },
  };
}

/** By the number of an ending what ends there, of every list. */
function wantedAt(
  { endings }: LetterMachine,
  texts: readonly string[],
  lists: readonly (readonly Opening[] | undefined)[],
): readonly (readonly Wanted[])[] {
  const wanters = new Map<string, { readonly list: number; readonly isAtWord: boolean }[]>(
    texts.map((text) => [text, []]),
  );
  for (const [list, openings = []] of lists.entries())
    for (const { text, isAtWord } of openings) wanters.get(text)?.push({ list, isAtWord });
  return endings.map((numbers, ending) =>
    numbers.flatMap((number) => {
      const text = texts[number] ?? '';
      return (wanters.get(text) ?? []).map((wanter) => ({ ...wanter, ending, length: text.length }));
    }),
  );
}

/** Where the texts start that were seen, in order. */
function placesOf(seen: readonly Wanted[], { bytes, last, at, before }: SeenEnds): readonly number[] {
  const places: number[] = [];
  for (const { ending, length, isAtWord } of seen)
    for (let link = last[ending] ?? 0; link !== 0; link = before[link] ?? 0) {
      const start = (at[link] ?? 0) + 1 - length;
      if (!isAtWord || start === 0 || !isOfWord(bytes[start - 1] ?? 0)) places.push(start);
    }
  return seen.length === 1 ? places.reverse() : places.sort((a, b) => a - b);
}

/** A letter, a digit or `_`, as expressions have it. */
function isOfWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f || (code >= 0x41 && code <= 0x5a)
  );
}

function matchesAnywhere(text: string, find: RegExp, most: number): readonly FoundText[] {
  const found: FoundText[] = [];
  for (const { index, 0: match } of text.matchAll(find)) {
    if (found.length >= most) break;
    found.push({ index, length: match.length });
  }
  return found;
}

function matchesAt(text: string, sticky: RegExp, { places, needs }: Sighting, most: number): readonly FoundText[] {
  let found: FoundText[] | undefined;
  let end = 0;
  let need = 0;
  let lineEnd = -1;
  for (const index of places) {
    if (index < end) continue;
    if (needs !== undefined) {
      while ((needs[need] ?? index) < index) need += 1;
      const next = needs[need];
      if (next === undefined) break;
      if (lineEnd < index) lineEnd = endOfLine(text, index);
      if (next > lineEnd) continue;
    }
    sticky.lastIndex = index;
    if (!sticky.test(text)) continue;
    end = sticky.lastIndex;
    found ??= [];
    if (found.push({ index, length: end - index }) >= most) break;
  }
  return found ?? NO_MATCH;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
