import { settings } from './settings.ts';
import {
  AVOID_FIELD,
  BODY_FIELD,
  COUNT_BITS,
  FIELD_COUNT,
  MAX_COUNT,
  NAME_FIELD,
  USE_FIELD,
  type IndexData,
} from './index-data.ts';
import type { Concept } from './query.ts';

/** A matching document: its position in the list of documents. Scores are comparable only within one search. */
export interface SearchHit {
  readonly position: number;
  readonly score: number;
}

/** Ranks the documents of one index. */
export type Ranker = (concepts: readonly Concept[], limit: number) => readonly SearchHit[];

/** Creates the ranker of an index. It reuses its working arrays, so that a search allocates little. */
export function createRanker(data: IndexData): Ranker {
  const scorer = createTermScorer(data);
  const closenessTo = createCloseness(data, scorer.rarityOf);
  const total = new Float64Array(data.size);
  const answered = new Float64Array(data.size);
  const concept = new Float64Array(data.size);
  const alternative = new Float64Array(data.size);
  const reach = new Float64Array(data.size);
  const found = new Int32Array(data.size);
  const touched = new Int32Array(data.size);
  const members = new Int32Array(data.size);

  let foundCount = 0;

  const addToTotal = (document: number, score: number, worth: number): void => {
    const before = total[document] ?? 0;
    if (before === 0) found[foundCount++] = document;
    total[document] = before + score;
    answered[document] = (answered[document] ?? 0) + worth;
  };

  /** Adds the scores of one concept to the totals and returns its weight. */
  const addConcept = ({ weight, alternatives }: Concept): number => {
    let worth = 0;
    let touchedCount = 0;
    for (const { trust, terms } of alternatives) {
      let rarity = 0;
      for (const term of terms) rarity += scorer.rarityOf(term) / terms.length;
      // An alternative is worth no more than the word itself, even if it is rare in a catalog of another language.
      const own = worth === 0 ? weight * trust * rarity : Math.min(worth, weight * trust * rarity);
      worth = Math.max(worth, own);
      let memberCount = 0;
      for (const term of terms) {
        const { documents, shares, closest } = scorer.scoresOf(term);
        const most = scorer.rarityOf(term) * (own / rarity / terms.length);
        const inClause = scorer.rarityOf(term) * trust * weight;
        for (let place = 0; place < documents.length; place += 1) {
          const document = documents[place] ?? 0;
          reach[document] = (reach[document] ?? 0) + inClause * (closest[place] ?? 0);
          const score = most * (shares[place] ?? 0);
          // Most concepts are one word.
          if (alternatives.length === 1 && terms.length === 1) {
            addToTotal(document, score, worth);
            continue;
          }
          const before = alternative[document] ?? 0;
          if (before === 0) members[memberCount++] = document;
          alternative[document] = before + score;
        }
      }
      for (let place = 0; place < memberCount; place += 1) {
        const document = members[place] ?? 0;
        const score = alternative[document] ?? 0;
        const before = concept[document] ?? 0;
        alternative[document] = 0;
        if (before === 0) touched[touchedCount++] = document;
        if (score > before) concept[document] = score;
      }
    }
    for (let place = 0; place < touchedCount; place += 1) {
      const document = touched[place] ?? 0;
      addToTotal(document, concept[document] ?? 0, worth);
      concept[document] = 0;
    }
    return worth;
  };

  /** Compares by score, then by name, then by position. */
  const order = (left: SearchHit, right: SearchHit): number =>
    right.score - left.score ||
    (data.nameRanks[left.position] ?? 0) - (data.nameRanks[right.position] ?? 0) ||
    left.position - right.position;

  return (concepts, limit) => {
    foundCount = 0;
    let asked = 0;
    for (const part of concepts) asked += addConcept(part);
    const positions = found.subarray(0, foundCount);
    const coverage = settings.coverage / asked;
    for (let place = 0; place < positions.length; place += 1) {
      const position = positions[place] ?? 0;
      total[position] = (total[position] ?? 0) * (1 + coverage * (answered[position] ?? 0));
      answered[position] = 0;
    }
    const count = Math.max(limit, settings.candidates);
    const candidates = aboutBest(positions, total, count);
    const closeness = closenessTo(concepts);
    let best: SearchHit[] = [];
    let bar = 0;
    let next = limit;
    for (const { position, score } of candidates.toSorted(order).slice(0, count)) {
      // Reading clauses takes longer than all before it, and most candidates could not reach the best hits so far with any clause.
      if (score + (reach[position] ?? 0) * (1 + ROUNDING) < bar) continue;
      best.push({ position, score: score + closeness(position) });
      if (best.length < next) continue;
      best = best.toSorted(order).slice(0, limit);
      bar = best.at(-1)?.score ?? 0;
      next = limit + Math.ceil(limit / 2);
    }
    for (const position of positions) total[position] = reach[position] = 0;
    return best.toSorted(order).slice(0, limit);
  };
}

/** Sums of the same numbers in another order differ by less. */
const ROUNDING = 1e-9;

/** Preselects at least the `count` best hits, because sorting thousands of documents would take longer than scoring them. */
function aboutBest(found: Int32Array, scores: Float64Array, count: number): readonly SearchHit[] {
  const buckets = new Uint32Array(1024);
  let highest = 0;
  for (const position of found) highest = Math.max(highest, scores[position] ?? 0);
  const scale = (buckets.length - 1) / highest;
  const bucketOf = (position: number): number => Math.trunc((scores[position] ?? 0) * scale);
  for (const position of found) {
    const bucket = bucketOf(position);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  let bar = buckets.length;
  for (let kept = 0; kept < count && bar > 0;) {
    bar -= 1;
    kept += buckets[bar] ?? 0;
  }
  const best: SearchHit[] = [];
  for (const position of found) {
    if (bucketOf(position) >= bar) best.push({ position, score: scores[position] ?? 0 });
  }
  return best;
}

/** Scores how well the clauses of documents match a query. */
type Closeness = (concepts: readonly Concept[]) => (document: number) => number;

/**
 * A description is a list of clauses: trigger phrases, use cases, sentences. Of two skills with the words of the query, the one that
 * has them in one clause ranks higher than the one that has them in many. The best clause of a document and its name count.
 */
function createCloseness(data: IndexData, rarityOf: TermScorer['rarityOf']): Closeness {
  // Sized to the vocabulary and reused, because this is the innermost loop of a search.
  const asked = new Float64Array(data.terms.length);
  const { sequences, sequenceOffsets } = data;

  /** The weight of the terms of a clause. Few clauses have a word of the query, so it is added up for those alone. */
  const weighClause = (start: number, end: number): number => {
    let whole = 0;
    for (let at = start; at < end; at += 1) {
      const term = (sequences[at] ?? 0) - 1;
      whole += Math.max(asked[term] ?? 0, rarityOf(term));
    }
    return whole;
  };

  const closenessOf = (document: number): number => {
    const mentions = new Map<number, number>();
    const end = sequenceOffsets[document + 1] ?? 0;
    let start = sequenceOffsets[document] ?? 0;
    let name: number | undefined;
    let best = 0;
    let found = 0;
    const met: number[] = [];
    for (let at = start; at < end; at += 1) {
      const mark = sequences[at] ?? 0;
      if (mark > 0) {
        const worth = asked[mark - 1] ?? 0;
        if (worth === 0) continue;
        const count = (mentions.get(mark) ?? 0) + 1;
        // A description stuffed with a word gets no clause score for it.
        if (count > settings.maxMentions) return settings.nameClauseWeight * (name ?? 0);
        mentions.set(mark, count);
        // A repeated word makes a clause longer, not more relevant.
        if (met.includes(mark)) continue;
        met.push(mark);
        found += worth;
        continue;
      }
      const share = found > 0 ? (found * found) / weighClause(start, at) : 0;
      // The first clause of a sequence is the name.
      if (name === undefined) name = share;
      else if (share > best) best = share;
      start = at + 1;
      met.length = 0;
      found = 0;
    }
    return settings.clauseWeight * best + settings.nameClauseWeight * (name ?? 0);
  };

  return (concepts) => {
    asked.fill(0);
    for (const { weight, alternatives } of concepts) {
      for (const { trust, terms } of alternatives) {
        for (const term of terms) asked[term] = Math.max(asked[term] ?? 0, rarityOf(term) * trust * weight);
      }
    }
    return closenessOf;
  };
}

/** The documents that contain a term, with the part of the term's rarity that each gets, and the most that its closeness can add. */
interface TermScores {
  readonly documents: Int32Array;
  readonly shares: Float64Array;
  readonly closest: Float64Array;
}

/** Scores single terms against the documents that contain them. */
interface TermScorer {
  /** The inverse document frequency of a term. */
  readonly rarityOf: (term: number) => number;
  scoresOf(term: number): TermScores;
}

/**
 * BM25F: occurrences in all fields are weighted and summed, then saturated. Nothing here depends on the query, so the scores of a term are
 * computed once.
 */
function createTermScorer(data: IndexData): TermScorer {
  const rarities = new Float64Array(data.size + 1);
  const useWorth = mentionWorth(data, USE_FIELD, settings.useWeight, settings.useLength);
  const bodyWorth = mentionWorth(data, BODY_FIELD, settings.bodyWeight, settings.bodyLength);
  const { postings, postingOffsets, frequencies } = data;
  const known = new Map<number, TermScores>();

  const read = (term: number): TermScores => {
    const documents = new Int32Array(frequencies[term] ?? 0);
    const shares = new Float64Array(documents.length);
    const closest = new Float64Array(documents.length);
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
      const isInName = countIn(counts, NAME_FIELD) > 0;
      const mentions =
        (isInName ? settings.nameWeight : 0) +
        (use > settings.maxMentions ? 1 : use) * useWorth(document) +
        (countIn(counts, AVOID_FIELD) > 0 ? settings.avoidWeight : 0) +
        (data.deep ? countIn(counts, BODY_FIELD) * bodyWorth(document) : 0);
      documents[place] = document;
      shares[place] = mentions / (settings.saturation + mentions);
      closest[place] = (use > 0 ? settings.clauseWeight : 0) + (isInName ? settings.nameClauseWeight : 0);
    }
    return { documents, shares, closest };
  };

  return {
    rarityOf(term) {
      const count = frequencies[term] ?? 0;
      const known = rarities[count] ?? 0;
      return known > 0 ? known : (rarities[count] = rarity(count, data.size));
    },
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

/** The inverse document frequency of a term that `count` documents have. */
function rarity(count: number, size: number): number {
  return Math.log(1 + (size - count + 0.5) / (count + 0.5));
}

/** The weight of one occurrence in a field of a document: lower in longer fields. */
function mentionWorth(
  { lengths, size }: IndexData,
  field: number,
  weight: number,
  lengthEffect: number,
): (document: number) => number {
  let sum = 0;
  for (let at = field; at < lengths.length; at += FIELD_COUNT) sum += lengths[at] ?? 0;
  const average = Math.max(1, sum / Math.max(1, size));
  return (document) =>
    weight / (1 - lengthEffect + (lengthEffect * (lengths[document * FIELD_COUNT + field] ?? 0)) / average);
}
