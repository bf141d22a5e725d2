import { BUSINESS_WORDS } from './bilingual-business.ts';
import { CATALOG_WORDS } from './bilingual-catalog.ts';
import { GENERAL_WORDS } from './bilingual-general.ts';
import { JAPANESE_WORDS } from './bilingual-japanese.ts';
import { OFFICE_WORDS } from './bilingual-office.ts';
import { SOFTWARE_WORDS } from './bilingual-software.ts';
import { settings } from './settings.ts';
import { SYNONYM_GROUPS } from './synonyms.ts';
import { pairCharacters, toTerm } from './tokenize.ts';

/** An alternative phrase and its weight. */
interface Meaning {
  readonly terms: readonly string[];
  readonly trust: number;
}

/** Synonyms and translations of words. */
export interface Lexicon {
  /** The meanings of a term, of several terms joined by spaces, or of a Chinese or Japanese word. */
  meanings(key: string): readonly Meaning[];
  /** The longest known Chinese or Japanese word, of two characters or more, that begins at `start`, or an empty string. */
  wordAt(run: string, start: number): string;
}

/** Maximum number of alternatives per phrase: each costs time, and later ones are less relevant. */
const MAX_MEANINGS = 5;

/** Number of initial letters by which phrases are grouped. */
const BEGINNING = 3;

/** A phrase of the word lists and its alternatives. */
interface Entry {
  readonly phrase: string;
  readonly alternative: string;
  readonly trust: number;
}

const LISTS = [SOFTWARE_WORDS, OFFICE_WORDS, BUSINESS_WORDS, GENERAL_WORDS, CATALOG_WORDS, JAPANESE_WORDS];

/** Up to this many prefixes are searched in the raw lists; after that the lists are parsed into entries once. */
const FEW = 32;

/**
 * Opens the word lists. Stemming or parsing all of them would take longer than a search, so entries are read when a query first
 * contains a word with the same initial letters, which stemming does not change.
 */
export function openLexicon(): Lexicon {
  let byInitial: ReadonlyMap<string, readonly string[]> | undefined;
  let byBeginning: ReadonlyMap<string, readonly Entry[]> | undefined;
  const read = new Map<string, ReadonlyMap<string, readonly Entry[]>>();
  const entriesWith = (beginning: string): readonly Entry[] => {
    if (read.size < FEW) return entriesFound(beginning);
    byBeginning ??= allEntries();
    return byBeginning.get(beginning) ?? [];
  };
  return {
    meanings(key) {
      const beginning = key.slice(0, BEGINNING);
      let table = read.get(beginning);
      if (table === undefined) {
        table = readEntries(entriesWith(beginning));
        read.set(beginning, table);
      }
      return (table.get(key) ?? []).map(({ alternative, trust }) => ({ terms: toTerms(alternative), trust }));
    },
    wordAt(run, start) {
      byInitial ??= wordsByInitial();
      // Sorted by length, so the first match is the longest.
      return byInitial.get(run.charAt(start))?.find((word) => run.startsWith(word, start)) ?? '';
    },
  };
}

function wordsByInitial(): ReadonlyMap<string, readonly string[]> {
  const byInitial = new Map<string, string[]>();
  for (const list of LISTS)
    for (const entry of allWords(list)) {
      const word = entry.slice(0, entry.indexOf('='));
      if (word.length > 1) append(byInitial, word.charAt(0), word);
    }
  for (const words of byInitial.values()) words.sort((left, right) => right.length - left.length);
  return byInitial;
}

function allEntries(): ReadonlyMap<string, readonly Entry[]> {
  const byBeginning = new Map<string, Entry[]>();
  readLists(allWords, (entry) => append(byBeginning, toBeginning(entry.phrase), entry));
  return byBeginning;
}

/** The entries with phrases that start with the given letters. */
function entriesFound(beginning: string): readonly Entry[] {
  const entries: Entry[] = [];
  const initial = beginning.charCodeAt(0);
  const enter = (entry: Entry): void => {
    const { phrase } = entry;
    if (phrase.charCodeAt(0) === initial && toBeginning(phrase) === beginning) entries.push(entry);
  };
  const spellings = spell(beginning);
  readLists(
    (list) => wordsHolding(list, spellings),
    enter,
    (line) => spellings.some((one) => line.includes(one)),
  );
  return entries;
}

/** Returns the entries in the order of the lists, in both directions, limited to the selected parts of each list. */
function readLists(
  choose: (list: string) => readonly string[],
  enter: (entry: Entry) => void,
  mayHold: (line: string) => boolean = () => true,
): void {
  const trust = settings.translationTrust;
  for (const list of LISTS)
    for (const entry of choose(list)) {
      const [word = '', choices = ''] = entry.split('=');
      for (const choice of choices.split('|')) {
        enter({ phrase: word, alternative: choice, trust });
        if (word.length > 1) enter({ phrase: choice, alternative: word, trust });
      }
    }
  for (const line of SYNONYM_GROUPS.trim().split('\n')) {
    if (!mayHold(line)) continue;
    const group = line.split(' ');
    for (const phrase of group)
      for (const alternative of group)
        if (alternative !== phrase) enter({ phrase, alternative, trust: settings.synonymTrust });
  }
}

function allWords(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

/** How a beginning is written in the lists. */
function spell(beginning: string): readonly string[] {
  if (!beginning.includes(' ')) return beginning === '' ? [] : [beginning];
  return [beginning.replace(' ', '_'), beginning.replace(' ', '-')];
}

/** The parts of a list that contain a phrase with the given initial letters, in order. */
function wordsHolding(list: string, spellings: readonly string[]): readonly string[] {
  const starts = new Set<number>();
  for (const spelling of spellings)
    for (let at = list.indexOf(spelling); at !== -1; at = list.indexOf(spelling, at + 1)) {
      const isBeginning = SEPARATORS.includes(list.charAt(at - 1));
      if (isBeginning) starts.add(Math.max(list.lastIndexOf(' ', at), list.lastIndexOf('\n', at)) + 1);
    }
  return [...starts].toSorted((left, right) => left - right).map((start) => wordFrom(list, start));
}

/** Each list begins with a line break. */
const SEPARATORS = ' \n=|';

function wordFrom(list: string, start: number): string {
  const ends = [list.indexOf(' ', start), list.indexOf('\n', start)].filter((end) => end !== -1);
  return list.slice(start, ends.length === 0 ? undefined : Math.min(...ends));
}

function toBeginning(phrase: string): string {
  return phrase.slice(0, BEGINNING).replace(/[_-]/, ' ');
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Groups the entries by the terms of their phrases. Alternatives are stemmed on demand, because most are never used. */
function readEntries(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const table = new Map<string, Entry[]>();
  for (const entry of entries) {
    const { phrase } = entry;
    const key = isSpaceless(phrase) ? phrase : toTerms(phrase).join(' ');
    if ((table.get(key)?.length ?? 0) < MAX_MEANINGS) append(table, key, entry);
  }
  return table;
}

function toTerms(phrase: string): readonly string[] {
  return isSpaceless(phrase) ? pairCharacters(phrase) : phrase.split(/[_-]/).map(toTerm);
}

function isSpaceless(phrase: string): boolean {
  return phrase.charCodeAt(0) > 0x2e_7f;
}
