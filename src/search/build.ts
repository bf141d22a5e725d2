import { splitClauses } from './clauses.ts';
import {
  AVOID_FIELD,
  BODY_FIELD,
  ByteWriter,
  COUNT_BITS,
  FIELD_COUNT,
  MAX_COUNT,
  NAME_FIELD,
  NumberList,
  USE_FIELD,
} from './index-data.ts';
import type { IndexData } from './index-data.ts';
import type { Lexicon } from './lexicon.ts';
import { STOP_WORDS } from './stop-words.ts';
import { segmentRun } from './segment.ts';
import { scanRuns, termOf, wordsOf } from './tokenize.ts';

/** The searchable texts of a skill. `body` makes the index deep. */
export interface SearchDocument {
  readonly name: string;
  readonly description: string;
  readonly body?: string;
}

/** Text beyond this is not indexed, so that one hostile file cannot exhaust the memory. */
const MAX_TEXT_LENGTH = 200_000;

/** Indexes all documents in one pass as flat arrays. The order of documents affects only positions. */
export function buildIndexData(documents: readonly SearchDocument[], lexicon: Lexicon): IndexData {
  const vocabulary = new Map<string, number>();
  const read = termReader(vocabulary, lexicon);
  const lengths = new Uint32Array(documents.length * FIELD_COUNT);
  const found: Found = { terms: new NumberList(), documents: new NumberList(), counts: new NumberList() };
  const sequence = new NumberList();
  const sequenceStarts = new NumberList();

  for (const [position, document] of documents.entries()) {
    const counts = new Map<number, number>();
    sequenceStarts.push(sequence.length);
    const addField = (field: number, text: string): void => {
      let length = 0;
      read(text.slice(0, MAX_TEXT_LENGTH), field === NAME_FIELD, (term, isWord) => {
        // A name is always one clause.
        if (isWord && (field === USE_FIELD || (field === NAME_FIELD && term !== CLAUSE_END))) sequence.push(term);
        if (term === CLAUSE_END) return;
        if (isWord) length += 1;
        const packed = counts.get(term) ?? 0;
        const shift = field * COUNT_BITS;
        if (((packed >> shift) & MAX_COUNT) < MAX_COUNT) counts.set(term, packed + (1 << shift));
      });
      if (field === NAME_FIELD || field === USE_FIELD) sequence.push(CLAUSE_END);
      lengths[position * FIELD_COUNT + field] = length;
    };
    const { use, avoid } = splitClauses(document.description.slice(0, MAX_TEXT_LENGTH));
    addField(NAME_FIELD, document.name);
    addField(USE_FIELD, use);
    addField(AVOID_FIELD, avoid);
    addField(BODY_FIELD, document.body ?? '');
    for (const [term, packed] of counts) {
      found.terms.push(term);
      found.documents.push(position);
      found.counts.push(packed);
    }
  }

  const { terms, places } = sortTerms(vocabulary);
  return {
    size: documents.length,
    deep: documents.some((document) => document.body !== undefined),
    terms,
    ...layPostings(found, places),
    lengths,
    nameRanks: rankNames(documents),
    ...laySequences(sequence.view(), sequenceStarts.view(), places),
  };
}

/** All occurrences of terms: a table of three columns, stored as arrays because it has a million rows. */
interface Found {
  readonly terms: NumberList;
  readonly documents: NumberList;
  readonly counts: NumberList;
}

/** Marks the end of a clause; larger than any term number. */
const CLAUSE_END = 0xff_ff_ff_ff;

/** Called for each term. A term that is not a word (see `Segment`) can be searched for but has no position in the text. */
type TermVisitor = (term: number, isWord: boolean) => void;

/** Returns a function that reads the terms of a text and numbers new ones. Each word is stemmed once and cached. */
function termReader(
  vocabulary: Map<string, number>,
  lexicon: Lexicon,
): (text: string, keepStopWords: boolean, visit: TermVisitor) => void {
  const numberOf = (term: string): number => {
    const old = vocabulary.get(term);
    if (old !== undefined) return old;
    vocabulary.set(term, vocabulary.size);
    return vocabulary.size - 1;
  };
  const known = new Map<string, number>();
  const numberOfWord = (word: string): number => {
    const old = known.get(word);
    if (old !== undefined) return old;
    const number = numberOf(termOf(word));
    known.set(word, number);
    return number;
  };
  return (text, keepStopWords, visit) => {
    for (const run of scanRuns(text)) {
      if (run.type === 'break') visit(CLAUSE_END, true);
      else if (run.type === 'word') {
        for (const word of wordsOf(run.text)) {
          if (keepStopWords || !STOP_WORDS.has(word)) visit(numberOfWord(word), true);
        }
      } else {
        for (const { type, terms } of segmentRun(run.text, lexicon)) {
          for (const term of terms) visit(numberOf(term), type !== 'seam');
        }
      }
    }
  };
}

/** Sorts the vocabulary, so that a prefix is a range and the index does not depend on the order of documents. */
function sortTerms(vocabulary: ReadonlyMap<string, number>): { terms: readonly string[]; places: Uint32Array } {
  const terms = [...vocabulary.keys()].toSorted((left, right) => (left < right ? -1 : 1));
  const places = new Uint32Array(terms.length);
  for (const [place, term] of terms.entries()) places[vocabulary.get(term) ?? 0] = place;
  return { terms, places };
}

/** Sorts the table by term with a counting sort, which keeps the order of documents, and writes the posting lists. */
function layPostings(
  found: Found,
  places: Uint32Array,
): Pick<IndexData, 'frequencies' | 'postingOffsets' | 'postings'> {
  const terms = found.terms.view();
  const documents = found.documents.view();
  const counts = found.counts.view();
  const frequencies = new Uint32Array(places.length);
  for (const term of terms) {
    const place = places[term] ?? 0;
    frequencies[place] = (frequencies[place] ?? 0) + 1;
  }
  const next = new Uint32Array(places.length);
  for (let place = 1; place < next.length; place += 1) {
    next[place] = (next[place - 1] ?? 0) + (frequencies[place - 1] ?? 0);
  }
  const rows = new Uint32Array(terms.length);
  for (const [row, term] of terms.entries()) {
    const place = places[term] ?? 0;
    const slot = next[place] ?? 0;
    rows[slot] = row;
    next[place] = slot + 1;
  }

  const writer = new ByteWriter();
  const postingOffsets = new Uint32Array(places.length + 1);
  let slot = 0;
  for (const [place, frequency] of frequencies.entries()) {
    postingOffsets[place] = writer.length;
    let previous = 0;
    for (const end = slot + frequency; slot < end; slot += 1) {
      const row = rows[slot] ?? 0;
      const document = documents[row] ?? 0;
      writer.writeNumber(document - previous);
      writer.writeNumber(counts[row] ?? 0);
      previous = document;
    }
  }
  postingOffsets[places.length] = writer.length;
  return { frequencies, postingOffsets, postings: writer.finish() };
}

function laySequences(
  sequence: Uint32Array,
  starts: Uint32Array,
  places: Uint32Array,
): Pick<IndexData, 'sequenceOffsets' | 'sequences'> {
  const writer = new ByteWriter();
  const sequenceOffsets = new Uint32Array(starts.length + 1);
  for (const [position, start] of starts.entries()) {
    sequenceOffsets[position] = writer.length;
    for (const term of sequence.subarray(start, starts[position + 1] ?? sequence.length)) {
      writer.writeNumber(term === CLAUSE_END ? 0 : (places[term] ?? 0) + 1);
    }
  }
  sequenceOffsets[starts.length] = writer.length;
  return { sequenceOffsets, sequences: writer.finish() };
}

function rankNames(documents: readonly SearchDocument[]): Uint32Array {
  const names = [...new Set(documents.map((document) => document.name))].toSorted((left, right) =>
    left < right ? -1 : 1,
  );
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  return Uint32Array.from(documents, (document) => ranks.get(document.name) ?? 0);
}
