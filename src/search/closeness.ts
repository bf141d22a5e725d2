import type { IndexData } from './index-data.ts';
import type { Concept } from './query.ts';
import { settings } from './settings.ts';

/** Says how close documents come to what was asked. */
export type Closeness = (concepts: readonly Concept[]) => (document: number) => number;

/**
 * A description is a list of clauses: trigger phrases, cases of use, sentences. Two skills that share the query's words are
 * told apart by whether one clause is about just that, or the words are strewn over many. What counts is the best clause of
 * a document, and its name.
 */
export function createCloseness(data: IndexData, rarity: Float64Array): Closeness {
  // As long as the vocabulary and used again: this is the innermost loop of a search.
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
        // A description stuffed with a word is made of clauses about it and has none worth reading.
        if (count > settings.maxMentions) return settings.nameClauseWeight * (name ?? 0);
        mentions.set(term, count);
        // Said twice in a clause, a word makes it longer and not more to the point.
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
