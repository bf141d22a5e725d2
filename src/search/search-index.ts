import { buildIndexData } from './build.ts';
import type { SearchDocument } from './build.ts';
import { readIndexBytes, writeIndexBytes } from './bytes.ts';
import type { IndexData } from './index-data.ts';
import type { Lexicon } from './lexicon.ts';
import { openLexicon } from './lexicon.ts';
import { parseQuery } from './query.ts';
import { createRanker } from './rank.ts';
import type { Ranker, SearchHit } from './rank.ts';

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

/** Opens an index written by `toBytes`. Returns `undefined` if the bytes are damaged or of another version: rebuild the index. */
export function readSearchIndex(bytes: Uint8Array): SearchIndex | undefined {
  const data = readIndexBytes(bytes);
  return data === undefined ? undefined : openIndex(data, openLexicon);
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
