import { createCloseness } from './closeness.ts';
import type { IndexData } from './index-data.ts';
import type { Concept } from './query.ts';
import { createTermScorer } from './score-terms.ts';
import { settings } from './settings.ts';

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
  const closenessTo = createCloseness(data, scorer.rarity);
  const total = new Float64Array(data.size);
  const answered = new Float64Array(data.size);
  const concept = new Float64Array(data.size);
  const alternative = new Float64Array(data.size);

  /** Adds the scores of one concept to the totals and returns its weight. */
  const addConcept = ({ weight, alternatives }: Concept, found: number[]): number => {
    const touched: number[] = [];
    let worth = 0;
    for (const { trust, terms } of alternatives) {
      let rarity = 0;
      for (const term of terms) rarity += (scorer.rarity[term] ?? 0) / terms.length;
      // An alternative is worth no more than the word itself, even if it is rare in a catalog of another language.
      const own = worth === 0 ? weight * trust * rarity : Math.min(worth, weight * trust * rarity);
      const members: number[] = [];
      for (const term of terms) scorer.add(term, own / rarity / terms.length, alternative, members);
      worth = Math.max(worth, own);
      for (const document of members) {
        const score = alternative[document] ?? 0;
        const before = concept[document] ?? 0;
        alternative[document] = 0;
        if (before === 0) touched.push(document);
        if (score > before) concept[document] = score;
      }
    }
    for (const document of touched) {
      if (total[document] === 0) found.push(document);
      total[document] = (total[document] ?? 0) + (concept[document] ?? 0);
      answered[document] = (answered[document] ?? 0) + worth;
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
    const found: number[] = [];
    let asked = 0;
    for (const part of concepts) asked += addConcept(part, found);
    for (const position of found) {
      const share = (answered[position] ?? 0) / asked;
      total[position] = (total[position] ?? 0) * (1 + settings.coverage * share);
      answered[position] = 0;
    }
    const count = Math.max(limit, settings.candidates);
    const candidates = aboutBest(found, total, count);
    for (const position of found) total[position] = 0;
    const closeness = closenessTo(concepts);
    return candidates
      .toSorted(order)
      .slice(0, count)
      .map(({ position, score }) => ({ position, score: score + closeness(position) }))
      .toSorted(order)
      .slice(0, limit);
  };
}

/** Preselects at least the `count` best hits, because sorting thousands of documents would take longer than scoring them. */
function aboutBest(found: readonly number[], scores: Float64Array, count: number): readonly SearchHit[] {
  const buckets = new Uint32Array(1024);
  let highest = 0;
  for (const position of found) highest = Math.max(highest, scores[position] ?? 0);
  const bucketOf = (position: number): number => Math.floor(((scores[position] ?? 0) / highest) * (buckets.length - 1));
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
