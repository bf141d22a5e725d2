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
      for (const term of terms) rarity += (scorer.rarity[term] ?? 0) / terms.length;
      // An alternative is worth no more than the word itself, even if it is rare in a catalog of another language.
      const own = worth === 0 ? weight * trust * rarity : Math.min(worth, weight * trust * rarity);
      worth = Math.max(worth, own);
      let memberCount = 0;
      for (const term of terms) {
        const { documents, shares } = scorer.scoresOf(term);
        const most = (scorer.rarity[term] ?? 0) * (own / rarity / terms.length);
        for (let place = 0; place < documents.length; place += 1) {
          const document = documents[place] ?? 0;
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
    for (const position of positions) total[position] = 0;
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
