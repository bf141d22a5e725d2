import { AVOID_FIELD, BODY_FIELD, COUNT_BITS, FIELD_COUNT, MAX_COUNT, NAME_FIELD, USE_FIELD } from './index-data.ts';
import type { IndexData } from './index-data.ts';
import { settings } from './settings.ts';

/** The documents that contain a term, with the part of the term's rarity that each gets. */
export interface TermScores {
  readonly documents: Int32Array;
  readonly shares: Float64Array;
}

/** Scores single terms against the documents that contain them. */
export interface TermScorer {
  /** The inverse document frequency of a term. */
  readonly rarity: Float64Array;
  scoresOf(term: number): TermScores;
}

/**
 * BM25F: occurrences in all fields are weighted and summed, then saturated. Nothing here depends on the query, so the scores of a term are
 * computed once.
 */
export function createTermScorer(data: IndexData): TermScorer {
  const rarity = raritiesOf(data);
  const useWorth = mentionWorth(data, USE_FIELD, settings.useWeight, settings.useLength);
  const bodyWorth = mentionWorth(data, BODY_FIELD, settings.bodyWeight, settings.bodyLength);
  const { postings, postingOffsets, frequencies } = data;
  const known = new Map<number, TermScores>();

  const read = (term: number): TermScores => {
    const documents = new Int32Array(frequencies[term] ?? 0);
    const shares = new Float64Array(documents.length);
    const end = postingOffsets[term + 1] ?? 0;
    let at = postingOffsets[term] ?? 0;
    let document = 0;
    for (let place = 0; at < end; place += 1) {
      // A posting is two variable-length integers: the distance from the previous document, and four counts of four bits.
      let step = 0;
      let counts = 0;
      let byte = 0;
      for (let shift = 0; shift < 32; shift += 7) {
        byte = postings[at] ?? 0;
        at += 1;
        step |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      for (let shift = 0; shift < 32; shift += 7) {
        byte = postings[at] ?? 0;
        at += 1;
        counts |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      document += step;
      const use = countIn(counts, USE_FIELD);
      const mentions =
        (countIn(counts, NAME_FIELD) > 0 ? settings.nameWeight : 0) +
        (use > settings.maxMentions ? 1 : use) * (useWorth[document] ?? 0) +
        (countIn(counts, AVOID_FIELD) > 0 ? settings.avoidWeight : 0) +
        countIn(counts, BODY_FIELD) * (bodyWorth[document] ?? 0);
      documents[place] = document;
      shares[place] = mentions / (settings.saturation + mentions);
    }
    return { documents, shares };
  };

  return {
    rarity,
    scoresOf(term) {
      const scores = known.get(term) ?? read(term);
      known.set(term, scores);
      return scores;
    },
  };
}

function countIn(counts: number, field: number): number {
  return (counts >> (field * COUNT_BITS)) & MAX_COUNT;
}

function raritiesOf({ frequencies, size }: IndexData): Float64Array {
  const rarities = new Float64Array(frequencies.length);
  for (const [term, count] of frequencies.entries())
    rarities[term] = Math.log(1 + (size - count + 0.5) / (count + 0.5));
  return rarities;
}

/** The weight of one occurrence in a field of each document: lower in longer fields. */
function mentionWorth(data: IndexData, field: number, weight: number, lengthEffect: number): Float64Array {
  let sum = 0;
  for (let at = field; at < data.lengths.length; at += FIELD_COUNT) sum += data.lengths[at] ?? 0;
  const average = Math.max(1, sum / Math.max(1, data.size));
  const worth = new Float64Array(data.size);
  for (let document = 0; document < data.size; document += 1) {
    const length = data.lengths[document * FIELD_COUNT + field] ?? 0;
    worth[document] = weight / (1 - lengthEffect + (lengthEffect * length) / average);
  }
  return worth;
}
