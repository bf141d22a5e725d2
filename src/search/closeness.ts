import type { IndexData } from './index-data.ts';
import type { Concept } from './query.ts';
import { settings } from './settings.ts';

/** Scores how well the clauses of documents match a query. */
export type Closeness = (concepts: readonly Concept[]) => (document: number) => number;

/**
 * A description is a list of clauses: trigger phrases, use cases, sentences. Of two skills with the words of the query, the one that
 * has them in one clause ranks higher than the one that has them in many. The best clause of a document and its name count.
 */
export function createCloseness(data: IndexData, rarity: Float64Array): Closeness {
  // Sized to the vocabulary and reused, because this is the innermost loop of a search.
  const asked = new Float64Array(data.terms.length);
  const metIn = new Uint32Array(data.terms.length);
  const { sequences, sequenceOffsets } = data;
  let clauseNumber = 0;

  const closenessOf = (document: number): number => {
    const mentions = new Map<number, number>();
    const end = sequenceOffsets[document + 1] ?? 0;
    let at = sequenceOffsets[document] ?? 0;
    let name: number | undefined;
    let best = 0;
    let found = 0;
    let whole = 0;
    while (at < end) {
      let mark = 0;
      for (let shift = 0; shift < 32; shift += 7) {
        const byte = sequences[at] ?? 0;
        at += 1;
        mark |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      if (mark > 0) {
        const term = mark - 1;
        const worth = asked[term] ?? 0;
        whole += Math.max(worth, rarity[term] ?? 0);
        if (worth === 0) continue;
        const count = (mentions.get(term) ?? 0) + 1;
        // A description stuffed with a word gets no clause score for it.
        if (count > settings.maxMentions) return settings.nameClauseWeight * (name ?? 0);
        mentions.set(term, count);
        // A repeated word makes a clause longer, not more relevant.
        if (metIn[term] !== clauseNumber) found += worth;
        metIn[term] = clauseNumber;
        continue;
      }
      const clause = whole > 0 ? (found * found) / whole : 0;
      // The first clause of a sequence is the name.
      if (name === undefined) name = clause;
      else if (clause > best) best = clause;
      clauseNumber = (clauseNumber + 1) >>> 0;
      found = 0;
      whole = 0;
    }
    return settings.clauseWeight * best + settings.nameClauseWeight * (name ?? 0);
  };

  return (concepts) => {
    asked.fill(0);
    metIn.fill(0);
    clauseNumber = 1;
    for (const { weight, alternatives } of concepts) {
      for (const { trust, terms } of alternatives) {
        for (const term of terms) asked[term] = Math.max(asked[term] ?? 0, (rarity[term] ?? 0) * trust * weight);
      }
    }
    return closenessOf;
  };
}
