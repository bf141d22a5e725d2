import { BUSINESS_WORDS } from './bilingual-business.ts';
import { CATALOG_WORDS } from './bilingual-catalog.ts';
import { GENERAL_WORDS } from './bilingual-general.ts';
import { JAPANESE_WORDS } from './bilingual-japanese.ts';
import { OFFICE_WORDS } from './bilingual-office.ts';
import { SOFTWARE_WORDS } from './bilingual-software.ts';
import { settings } from './settings.ts';
import { SYNONYM_GROUPS } from './synonyms.ts';
import { pairsOf, termOf } from './tokenize.ts';

/** Another way to say something, and how far to trust it. */
export interface Meaning {
  readonly terms: readonly string[];
  readonly trust: number;
}

/** What words mean besides themselves: other words for them, in their own language and in the other. */
export interface Lexicon {
  /** The meanings of a term, of several terms joined by spaces, or of a Chinese or Japanese word. */
  meanings(key: string): readonly Meaning[];
  /** The longest known Chinese or Japanese word, of two characters or more, that begins at `start`, or an empty string. */
  wordAt(run: string, start: number): string;
}

/** How many other ways to say a thing are looked up: each costs time, and the later ones mean less and less. */
const MAX_MEANINGS = 5;

/** So many first letters of a phrase sort it. */
const BEGINNING = 3;

/** A phrase of the lists as it is written there, and words that may stand for it. */
interface Entry {
  readonly phrase: string;
  readonly stands: string;
  readonly trust: number;
}

/**
 * Opens the word lists. To stem them all would take longer than a search, so they are only cut into entries and sorted by how
 * they begin, which stemming leaves alone; entries are read when a query first has a word that begins so.
 */
export function openLexicon(): Lexicon {
  const byInitial = new Map<string, string[]>();
  const byBeginning = new Map<string, Entry[]>();
  const read = new Map<string, ReadonlyMap<string, readonly Meaning[]>>();
  const enter = (phrase: string, stands: string, trust: number): void => {
    append(byBeginning, beginningOf(phrase), { phrase, stands, trust });
  };

  for (const list of [SOFTWARE_WORDS, OFFICE_WORDS, BUSINESS_WORDS, GENERAL_WORDS, CATALOG_WORDS, JAPANESE_WORDS]) {
    for (const entry of list.trim().split(/\s+/)) {
      const [word = '', choices = ''] = entry.split('=');
      if (word.length > 1) append(byInitial, word.charAt(0), word);
      for (const choice of choices.split('|')) {
        enter(word, choice, settings.translationTrust);
        if (word.length > 1) enter(choice, word, settings.translationTrust);
      }
    }
  }
  for (const line of SYNONYM_GROUPS.trim().split('\n')) {
    const group = line.split(' ');
    for (const phrase of group) {
      for (const stands of group) {
        if (stands !== phrase) enter(phrase, stands, settings.synonymTrust);
      }
    }
  }
  for (const words of byInitial.values()) words.sort((left, right) => right.length - left.length);

  return {
    meanings(key) {
      const beginning = key.slice(0, BEGINNING);
      let table = read.get(beginning);
      if (table === undefined) {
        table = readEntries(byBeginning.get(beginning) ?? []);
        read.set(beginning, table);
      }
      return table.get(key) ?? [];
    },
    // Sorted by length, so the first that fits is the longest.
    wordAt: (run, start) => byInitial.get(run.charAt(start))?.find((word) => run.startsWith(word, start)) ?? '',
  };
}

function beginningOf(phrase: string): string {
  return phrase.slice(0, BEGINNING).replace(/[_-]/, ' ');
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function readEntries(entries: readonly Entry[]): ReadonlyMap<string, readonly Meaning[]> {
  const table = new Map<string, Meaning[]>();
  for (const { phrase, stands, trust } of entries) {
    const key = isSpaceless(phrase) ? phrase : termsOf(phrase).join(' ');
    if ((table.get(key)?.length ?? 0) < MAX_MEANINGS) append(table, key, { terms: termsOf(stands), trust });
  }
  return table;
}

function termsOf(phrase: string): readonly string[] {
  return isSpaceless(phrase) ? pairsOf(phrase) : phrase.split(/[_-]/).map(termOf);
}

function isSpaceless(phrase: string): boolean {
  return phrase.charCodeAt(0) > 0x2e_7f;
}
