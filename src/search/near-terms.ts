import type { IndexData } from './index-data.ts';

/** Finds a term's number in the sorted vocabulary. */
export function findTerm(terms: readonly string[], term: string): number | undefined {
  const place = lowerBound(terms, term);
  return terms[place] === term ? place : undefined;
}

/** The first index with a term that is not before `term`. */
function lowerBound(terms: readonly string[], term: string): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

const MAX_SUGGESTIONS = 4;
/** Two letters are a prefix of too many words; one Chinese character is already half a word. */
const MIN_PREFIX_LENGTH = 3;
const MIN_TYPO_LENGTH = 4;
const MIN_DOUBLE_TYPO_LENGTH = 8;
const LONGEST_ENDING = 3;

/** The most used terms that begin with `prefix`. */
export function prefixedTerms(data: IndexData, prefix: string): readonly number[] {
  if (prefix.length < MIN_PREFIX_LENGTH && prefix < '\u2e80') return [];
  const found: number[] = [];
  for (let place = lowerBound(data.terms, prefix); (data.terms[place] ?? '').startsWith(prefix); place += 1) {
    found.push(place);
  }
  return mostUsed(found, data);
}

/**
 * The terms at edit distance one from a word, or two if it is long and none is closer (insertion, deletion, substitution,
 * transposition). The first letter must match, and the second too for distance two: typos there are rare, and this leaves a small
 * part of the vocabulary to compare.
 */
export function nearTerms(data: IndexData, word: string, stem: string): readonly number[] {
  if (stem.length < MIN_TYPO_LENGTH || /\d/.test(stem)) return [];
  const nearest = termsWithin(data, { word, stem, beginning: stem.slice(0, 1), slips: 1 });
  if (nearest.length > 0 || stem.length < MIN_DOUBLE_TYPO_LENGTH) return nearest;
  return termsWithin(data, { word, stem, beginning: stem.slice(0, 2), slips: 2 });
}

interface Slip {
  readonly word: string;
  readonly stem: string;
  readonly beginning: string;
  readonly slips: number;
}

function termsWithin(data: IndexData, { word, stem, beginning, slips }: Slip): readonly number[] {
  const found: number[] = [];
  for (let place = lowerBound(data.terms, beginning); (data.terms[place] ?? '').startsWith(beginning); place += 1) {
    const term = data.terms[place] ?? '';
    if (term.length < MIN_TYPO_LENGTH) continue;
    // A typo in the ending produces a wrong stem (`kubernates`, `kubern`), so a prefix of the word itself is tried too.
    const isEndingLost = word.length > term.length && word.length - term.length <= LONGEST_ENDING;
    if (
      (Math.abs(term.length - stem.length) <= slips && isWithin(stem, term, beginning.length, slips)) ||
      (isEndingLost && isWithin(word.slice(0, term.length), term, beginning.length, slips))
    ) {
      found.push(place);
    }
  }
  return mostUsed(found, data);
}

function mostUsed(places: readonly number[], data: IndexData): readonly number[] {
  const used = (place: number): number => data.frequencies[place] ?? 0;
  return places.toSorted((left, right) => used(right) - used(left) || left - right).slice(0, MAX_SUGGESTIONS);
}

/** Whether the words from `at` on, shifted by `skew` letters, are within the given edit distance. */
function isWithin(left: string, right: string, at: number, slips: number, skew = 0): boolean {
  let place = at;
  while (place < left.length && left[place] === right[place + skew]) place += 1;
  if (place === left.length) return right.length - place - skew <= slips;
  if (slips === 0) return false;
  const swapped = left[place] === right[place + skew + 1] && left[place + 1] === right[place + skew];
  return (
    isWithin(left, right, place + 1, slips - 1, skew) ||
    isWithin(left, right, place + 1, slips - 1, skew - 1) ||
    isWithin(left, right, place, slips - 1, skew + 1) ||
    (swapped && isWithin(left, right, place + 2, slips - 1, skew))
  );
}
