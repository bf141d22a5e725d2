/**
 * Many expressions over one text in one pass. The texts with which matches begin, and those that they must hold, are sought all at once; the
 * pass notes where each stands, and an expression is tried only where it could begin, in lines that have what it needs. What comes out is
 * what each expression by itself would have found.
 */
import { openLetterMachine } from './letter-machine.ts';
import type { LetterMachine, SeenEnds } from './letter-machine.ts';
import { outlineOf } from './outline.ts';
import type { Opening } from './outline.ts';

export interface FoundText {
  readonly index: number;
  readonly length: number;
}

export interface ManyFinder {
  /** One pass over a text: where matches could begin. */
  readonly look: (text: string) => Sightings;
  /** The first matches of one expression, as `matchAll` gives them. */
  readonly matches: (text: string, sightings: Sightings, which: WhichMatches) => readonly FoundText[];
}

export interface WhichMatches {
  /** The number of the expression. */
  readonly expression: number;
  readonly most: number;
}

export interface Sightings {
  /** By the number of an expression: what was seen of the texts with which it begins, and behind those of all, of the texts that it needs. */
  readonly lists: readonly (readonly Wanted[] | undefined)[];
  readonly ends: SeenEnds;
}

/** A text of a list, by where it ends. */
interface Wanted {
  readonly list: number;
  readonly ending: number;
  readonly length: number;
  readonly isAtWord: boolean;
}

const NO_MATCH: readonly FoundText[] = [];

/** The expressions are global, have no other flag, and match neither an empty text nor a line end. */
export function openManyFinder(expressions: readonly RegExp[]): ManyFinder {
  const outlines = expressions.map(({ source }) => outlineOf(source));
  const openings = [...outlines.map((outline) => outline.openings), ...outlines.map(({ needs }) => needs)];
  const texts = [...new Set(openings.flatMap((some = []) => some.map(({ text }) => text)))];
  const machine = openLetterMachine(texts);
  const wanted = wantedAt(machine, texts, openings);
  /** Those that may begin with anything. */
  const unbound = new Map([...expressions.entries()].filter(([number]) => outlines[number]?.openings === undefined));
  // Copied for each text, which is much faster than to make one.
  const none: readonly (Wanted[] | undefined)[] = openings.map(() => undefined);
  const sticky = expressions.map(({ source }) => new RegExp(source, 'y'));
  return {
    look(text) {
      const ends = machine.placesIn(text);
      const lists = none.slice();
      for (const ending of ends.seen)
        for (const one of wanted[ending] ?? []) {
          const known = lists[one.list];
          if (known === undefined) lists[one.list] = [one];
          else known.push(one);
        }
      return { lists, ends };
    },
    matches(text, { lists, ends }, { expression, most }) {
      const find = unbound.get(expression);
      if (find !== undefined) return matchesAnywhere(text, find, most);
      const seen = lists[expression];
      const one = sticky[expression];
      if (seen === undefined || one === undefined) return NO_MATCH;
      const needs = lists[expression + expressions.length];
      if (needs === undefined && openings[expression + expressions.length] !== undefined) return NO_MATCH;
      return matchesAt(text, one, {
        places: placesOf(seen, ends),
        needs: needs === undefined ? undefined : placesOf(needs, ends),
        most,
      });
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

interface Tries {
  readonly places: readonly number[];
  readonly needs: readonly number[] | undefined;
  readonly most: number;
}

function matchesAt(text: string, sticky: RegExp, { places, needs, most }: Tries): readonly FoundText[] {
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
