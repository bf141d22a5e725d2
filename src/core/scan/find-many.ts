/**
 * Many expressions over one text in one pass. The texts with which matches begin, and those that they must hold, are one tree of letters; the
 * pass notes where each stands, and an expression is tried only where it could begin, in lines that have what it needs. What comes out is
 * what each expression by itself would have found.
 */
import { CLASSES, LAST_WORD_CLASS, classTriples } from './letter-classes.ts';
import { letterTree, lettersFrom } from './letter-tree.ts';
import type { LetterTree } from './letter-tree.ts';
import { outlineOf } from './outline.ts';

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

/** By the number of an expression where it could begin, and behind those of all where a text stands that it needs; absent where none does. */
export type Sightings = readonly (readonly number[] | undefined)[];

const NO_MATCH: readonly FoundText[] = [];

/** What three characters may be the start of, in one number for each three classes. */
const STARTS_AT_WORD = 1;
const STARTS_ANYWHERE = 2;

/** The expressions are global, have no other flag, and match neither an empty text nor a line end. */
export function openManyFinder(expressions: readonly RegExp[]): ManyFinder {
  const outlines = expressions.map(({ source }) => outlineOf(source));
  const texts = [...outlines.map(({ openings }) => openings), ...outlines.map(({ needs }) => needs)];
  const atWordTexts = texts.map((some = []) => some.flatMap(({ text, isAtWord }) => (isAtWord ? [text] : [])));
  const otherTexts = texts.map((some = []) => some.flatMap(({ text, isAtWord }) => (isAtWord ? [] : [text])));
  const [atWords, others] = [letterTree(atWordTexts), letterTree(otherTexts)];
  const kinds = new Uint8Array(1 << 15);
  for (const triple of classTriples(atWordTexts.flat())) kinds[triple] = STARTS_AT_WORD;
  for (const triple of classTriples(otherTexts.flat())) kinds[triple] = (kinds[triple] ?? 0) | STARTS_ANYWHERE;
  /** Those that may begin with anything. */
  const unbound = new Map([...expressions.entries()].filter(([number]) => outlines[number]?.openings === undefined));
  const sticky = expressions.map(({ source }) => new RegExp(source, 'y'));
  return {
    look(text) {
      const seen: (number[] | undefined)[] = texts.map(() => undefined);
      passOver(text, { atWords, others, kinds }, seen);
      return seen;
    },
    matches(text, sightings, { expression, most }) {
      const places = sightings[expression];
      const find = unbound.get(expression);
      if (find !== undefined) return matchesAnywhere(text, find, most);
      const one = sticky[expression];
      if (places === undefined || one === undefined) return NO_MATCH;
      const needs = sightings[expression + expressions.length];
      if (needs === undefined && texts[expression + expressions.length] !== undefined) return NO_MATCH;
      return matchesAt(text, one, { places, needs, most });
    },
  };
}

interface Trees {
  readonly atWords: LetterTree;
  readonly others: LetterTree;
  /** What three classes of characters may be the start of. */
  readonly kinds: Uint8Array;
}

/** A function of its own, with nothing behind the loop: engines are best at such. */
function passOver(text: string, { atWords, others, kinds }: Trees, seen: (number[] | undefined)[]): void {
  // The classes of the last four characters, five bits each.
  let last = 0;
  const { length } = text;
  // Two places more: what starts at the last character is seen from there.
  for (let at = 0; at < length + 2; at += 1) {
    const code = at < length ? text.charCodeAt(at) : 0;
    last = ((last << 5) | (code < CLASSES.length ? (CLASSES[code] ?? 0) : 0)) & 0xf_ff_ff;
    const kind = kinds[last & 0x7f_ff] ?? 0;
    if (kind !== 0 && at > 1) {
      const before = last >> 15;
      if ((kind & STARTS_AT_WORD) !== 0 && (before === 0 || before > LAST_WORD_CLASS))
        lettersFrom(atWords, text, at - 2, seen);
      if ((kind & STARTS_ANYWHERE) !== 0) lettersFrom(others, text, at - 2, seen);
    }
  }
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
