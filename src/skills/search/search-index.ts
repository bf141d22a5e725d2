import { openLexicon, type Lexicon } from './lexicon.ts';
import { parseQuery } from './query.ts';
import { createRanker, type Ranker, type SearchHit } from './rank.ts';
import { splitClauses } from './clauses.ts';
import { readIndexBytes, writeIndexBytes } from './index-bytes.ts';
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
  isNarrow,
  type IndexData,
} from './index-data.ts';
import { STOP_WORDS } from './stop-words.ts';
import { segmentRun } from './segment.ts';
import { scanRuns, toTerm, splitWords } from './tokenize.ts';

export type { SearchDocument, SearchHit };

/** Finds the skills that match a query. */
export interface SearchIndex {
  /** Number of documents. */
  readonly size: number;
  /** Whether it was built with bodies. */
  readonly deep: boolean;
  /** Returns the best documents first (default: five). Equal scores are ordered by name, then by position. Never throws. */
  search(query: string, limit?: number): readonly SearchHit[];
  /** The index as bytes for `readSearchIndex`. */
  toBytes(): Uint8Array;
}

const DEFAULT_LIMIT = 5;

/** Builds an index of documents; the `position` of a hit is the document's index in the list. */
export function buildSearchIndex(documents: readonly SearchDocument[]): SearchIndex {
  const lexicon = openLexicon();
  return openIndex(buildIndexData(documents, lexicon), () => lexicon);
}

/**
 * Opens an index written by `toBytes`. Returns `undefined` if the bytes are damaged or of another version: rebuild the index. `isIntact`:
 * the caller knows that no byte changed, so that the checksum, which takes milliseconds, is left out.
 */
export function readSearchIndex(bytes: Uint8Array, { isIntact = false } = {}): SearchIndex | undefined {
  const data = readIndexBytes(bytes, isIntact);
  return data === undefined ? undefined : { ...openIndex(data, openLexicon), toBytes: () => bytes };
}

function openIndex(data: IndexData, open: () => Lexicon): SearchIndex {
  let lexicon: Lexicon | undefined;
  let rank: Ranker | undefined;
  return {
    size: data.size,
    deep: data.deep,
    search(query, limit = DEFAULT_LIMIT) {
      if (!(limit >= 1)) return [];
      lexicon ??= open();
      rank ??= createRanker(data);
      return rank(parseQuery(query, data, lexicon), Math.floor(limit));
    },
    toBytes: () => writeIndexBytes(data),
  };
}

/** The searchable texts of a skill. `body` makes the index deep. */
interface SearchDocument {
  readonly name: string;
  readonly description: string;
  readonly body?: string;
}

/** Text beyond this is not indexed, so that one hostile file cannot exhaust the memory. */
const MAX_TEXT_LENGTH = 200_000;

/** A fenced block of Markdown. */
const CODE_BLOCK = /^[ \t]*(`{3}|~{3})[^]*?^[ \t]*\1/gm;

/** Indexes all documents in one pass as flat arrays. The order of documents affects only positions. */
function buildIndexData(documents: readonly SearchDocument[], lexicon: Lexicon): IndexData {
  const vocabulary = new Map<string, number>();
  const read = termReader(vocabulary, lexicon);
  const lengths = new Uint32Array(documents.length * FIELD_COUNT);
  const found: TermOccurrences = { terms: new NumberList(), documents: new NumberList(), counts: new NumberList() };
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
    const body = (document.body ?? '').slice(0, MAX_TEXT_LENGTH);
    addField(BODY_FIELD, body.replaceAll(CODE_BLOCK, '\n'));
    // Words of code can be found, but how often an example repeats them says little about the skill.
    for (const [code] of body.matchAll(CODE_BLOCK))
      read(code, false, (term) => {
        const packed = counts.get(term) ?? 0;
        if (term !== CLAUSE_END && packed >> (BODY_FIELD * COUNT_BITS) === 0)
          counts.set(term, packed + (1 << (BODY_FIELD * COUNT_BITS)));
      });
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
interface TermOccurrences {
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
    const number = numberOf(toTerm(word));
    known.set(word, number);
    return number;
  };
  return (text, keepStopWords, visit) => {
    for (const run of scanRuns(text)) {
      if (run.type === 'break') visit(CLAUSE_END, true);
      else if (run.type === 'word') {
        for (const word of splitWords(run.text)) {
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
  found: TermOccurrences,
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
  const sequences = isNarrow(places.length) ? new Uint16Array(sequence.length) : new Uint32Array(sequence.length);
  for (const [at, term] of sequence.entries()) sequences[at] = term === CLAUSE_END ? 0 : (places[term] ?? 0) + 1;
  const sequenceOffsets = new Uint32Array(starts.length + 1);
  sequenceOffsets.set(starts);
  sequenceOffsets[starts.length] = sequence.length;
  return { sequenceOffsets, sequences };
}

function rankNames(documents: readonly SearchDocument[]): Uint32Array {
  const names = [...new Set(documents.map((document) => document.name))].toSorted((left, right) =>
    left < right ? -1 : 1,
  );
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  return Uint32Array.from(documents, (document) => ranks.get(document.name) ?? 0);
}
