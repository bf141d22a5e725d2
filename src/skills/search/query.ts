import { settings } from './settings.ts';
import { STOP_CHARACTERS, STOP_PHRASES, STOP_WORDS } from './stop-words.ts';
import { segmentRun } from './segment.ts';
import { scanRuns, toTerm, splitWords } from './tokenize.ts';
import type { IndexData, Terms } from './index-data.ts';
import type { Lexicon } from './lexicon.ts';

/** One phrasing of a concept: its terms and its weight (1 for the user's own words). */
interface Alternative {
  readonly trust: number;
  readonly terms: readonly number[];
}

/** One concept of the query. A document gets the score of its best alternative, never the sum. */
export interface Concept {
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
}

/** Longer queries are cut, because a search must end in bounded time. */
const MAX_QUERY_LENGTH = 4096;
const MAX_CONCEPTS = 40;
/** Maximum number of unknown words treated as typos. Long prompts contain many unknown names, and each guess costs time. */
const MAX_GUESSES = 4;
/** In a query this short, the last word may be a prefix even if it is a known word. */
const MAX_UNFINISHED_WORDS = 2;
const LONGEST_PHRASE = 3;

/** The concepts of a query in the terms of an index. Any text is a query; one without words has no concepts. */
export function parseQuery(query: string, data: IndexData, lexicon: Lexicon): readonly Concept[] {
  const queryWords = readSaidWords(query.slice(0, MAX_QUERY_LENGTH), lexicon);
  const concepts: Concept[] = [];
  const repeats = countKeys(queryWords);
  const seen = new Set<string>();
  let guesses = 0;
  let phraseEnd = 0;
  for (const [place, word] of queryWords.entries()) {
    if (concepts.length >= MAX_CONCEPTS) break;
    if (word.type === 'break') continue;
    if (place >= phraseEnd) {
      const phrase = phraseAt(queryWords, place, data, lexicon);
      if (phrase !== undefined) {
        phraseEnd = place + phrase.length;
        if (!seen.has(phrase.key)) concepts.push({ weight: fading(place), alternatives: phrase.alternatives });
        seen.add(phrase.key);
      }
    }
    if (seen.has(word.key)) continue;
    seen.add(word.key);
    const isLast = place === queryWords.length - 1;
    const alternatives = [
      ...ownTerms(word, data),
      ...(place >= phraseEnd ? findMeanings(word.key, data, lexicon) : []),
      ...(isLast && queryWords.length <= MAX_UNFINISHED_WORDS ? completions(word, data) : []),
    ];
    if (alternatives.length === 0 && guesses < MAX_GUESSES) {
      guesses += 1;
      alternatives.push(...guess(word, isLast, data));
    }
    if (alternatives.length > 0)
      concepts.push({ weight: fading(place) * repetition(repeats.get(word.key) ?? 1), alternatives });
  }
  return concepts;
}

/** Users usually state the task first and the circumstances later. */
function fading(place: number): number {
  return 1 / (1 + place * settings.fade);
}

/** A request that returns to a word is about it; one that is stuffed with it is not. */
function repetition(count: number): number {
  return count > settings.maxMentions ? 1 : 1 + settings.repetition * Math.log(count);
}

function countKeys(queryWords: readonly QueryWord[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { key } of queryWords) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function ownTerms({ terms }: QueryWord, data: IndexData): readonly Alternative[] {
  const known = terms.map((term) => findTerm(data.terms, term)).filter((term) => term !== undefined);
  return known.length === 0 ? [] : [{ trust: 1, terms: known }];
}

/** The alternatives of a key for which the catalog has all terms. */
function findMeanings(key: string, data: IndexData, lexicon: Lexicon): readonly Alternative[] {
  return lexicon.meanings(key).flatMap(({ terms, trust }) => {
    const known = terms.map((term) => findTerm(data.terms, term)).filter((term) => term !== undefined);
    return known.length === terms.length ? [{ trust, terms: known }] : [];
  });
}

interface Phrase {
  readonly key: string;
  readonly length: number;
  readonly alternatives: readonly Alternative[];
}

/** The longest lexicon phrase at a position: `pull request` means more than its words. */
function phraseAt(
  queryWords: readonly QueryWord[],
  place: number,
  data: IndexData,
  lexicon: Lexicon,
): Phrase | undefined {
  // A single word is no phrase: it would hide the word itself behind its translations.
  for (let length = Math.min(LONGEST_PHRASE, queryWords.length - place); length > 1; length -= 1) {
    const words = queryWords.slice(place, place + length);
    const key = words.map((word) => word.key).join(' ');
    const alternatives = findMeanings(key, data, lexicon);
    if (alternatives.length > 0) return { key, length, alternatives };
  }
  return undefined;
}

/** Handles a word that the catalog does not contain: the last word may be a prefix, any word may be misspelled. */
function guess(word: QueryWord, isLast: boolean, data: IndexData): readonly Alternative[] {
  if (STOP_WORDS.has(word.text)) return [];
  const completed = isLast ? completions(word, data) : [];
  if (completed.length > 0 || word.type !== 'word') return completed;
  return nearTerms(data, word.text, word.key).map((term) => ({ trust: settings.typoTrust, terms: [term] }));
}

function completions({ text }: QueryWord, data: IndexData): readonly Alternative[] {
  return prefixedTerms(data, text).map((term) => ({ trust: settings.prefixTrust, terms: [term] }));
}

/** A word of a query. A `break` marks the end of a clause, so that words on both sides do not form a phrase. */
interface QueryWord {
  readonly type: 'word' | 'spaceless' | 'break';
  /** The word in lower case, for prefix matches. */
  readonly text: string;
  /** The key in the lexicon. */
  readonly key: string;
  /** The term in the index. */
  readonly terms: readonly string[];
}

const CLAUSE_BREAK: QueryWord = { type: 'break', text: '', key: '', terms: [] };
/** Compiled on first use: most queries have no such text. */
let stopPhrases: RegExp | undefined;

/** The words of a query without stop words; if it has only stop words, those. */
function readSaidWords(text: string, lexicon: Lexicon): readonly QueryWord[] {
  const telling = readWords(text, lexicon, { keepStopWords: false });
  return telling.some(({ type }) => type !== 'break') ? telling : readWords(text, lexicon, { keepStopWords: true });
}

interface ReadOptions {
  readonly keepStopWords: boolean;
}

function readWords(text: string, lexicon: Lexicon, options: ReadOptions): readonly QueryWord[] {
  return scanRuns(text).flatMap((run): readonly QueryWord[] => {
    if (run.type === 'break') return [CLAUSE_BREAK];
    if (run.type === 'spaceless') return readSpaceless(run.text, lexicon, options);
    return splitWords(run.text)
      .filter((word) => options.keepStopWords || !STOP_WORDS.has(word))
      .map((word) => {
        const term = toTerm(word);
        return { type: 'word', text: word, key: term, terms: [term] };
      });
  });
}

function readSpaceless(run: string, lexicon: Lexicon, { keepStopWords }: ReadOptions): readonly QueryWord[] {
  stopPhrases ??= new RegExp(STOP_PHRASES.join('|'), 'gu');
  const pieces = keepStopWords ? [run] : run.split(stopPhrases).filter((piece) => piece !== '');
  return pieces
    .flatMap((piece) => segmentRun(piece, lexicon))
    .filter(({ type, text }) => keepStopWords || type === 'known' || !hasStopCharacter(text))
    .map(({ text, terms }) => ({ type: 'spaceless', text, key: text, terms }));
}

function hasStopCharacter(text: string): boolean {
  return Array.from(text).some((character) => STOP_CHARACTERS.has(character));
}

/** Finds a term's number in the sorted vocabulary. */
function findTerm(terms: Terms, term: string): number | undefined {
  const place = lowerBound(terms, term);
  return terms.at(place) === term ? place : undefined;
}

/** The first index with a term that is not before `term`. */
function lowerBound(terms: Terms, term: string): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms.at(middle) ?? '') < term) low = middle + 1;
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
function prefixedTerms(data: IndexData, prefix: string): readonly number[] {
  if (prefix.length < MIN_PREFIX_LENGTH && prefix < '\u2e80') return [];
  const found: number[] = [];
  for (let place = lowerBound(data.terms, prefix); (data.terms.at(place) ?? '').startsWith(prefix); place += 1) {
    found.push(place);
  }
  return mostUsed(found, data);
}

/**
 * The terms at edit distance one from a word, or two if it is long and none is closer (insertion, deletion, substitution,
 * transposition). The first letter must match, and the second too for distance two: typos there are rare, and this leaves a small
 * part of the vocabulary to compare.
 */
function nearTerms(data: IndexData, word: string, stem: string): readonly number[] {
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
  for (let place = lowerBound(data.terms, beginning); (data.terms.at(place) ?? '').startsWith(beginning); place += 1) {
    const term = data.terms.at(place) ?? '';
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
