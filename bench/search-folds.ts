import { settings } from '../src/skills/search/settings.ts';
import { recallAt5 } from './search-figures.ts';
import type { BenchQuery, BenchSkill } from './search-data.ts';
import type { SearchIndex } from '../src/skills/search/search-index.ts';

const FOLDS = 5;

/** The tuned weights of query words, from half to twice what they are. */
const CHOICES = [0, 0.25, 0.5].flatMap((repetition) =>
  [0.02, 0.04, 0.08].flatMap((fade) => [0.25, 0.5, 1].map((coverage) => ({ repetition, fade, coverage }))),
);

/**
 * Recall at 5 over queries whose repository had no part in the choice of the weights: five folds of repositories, each asked with the
 * weights that are best in the other four.
 */
export function crossValidate(
  open: () => SearchIndex,
  skills: readonly BenchSkill[],
  queries: readonly BenchQuery[],
): number {
  const repositories = [...new Set(queries.map(toRepository))].toSorted();
  const foldOf = new Map(repositories.map((name, place) => [name, place % FOLDS]));
  const kept = { ...settings };
  const measured = CHOICES.map((choice) => {
    Object.assign(settings, choice);
    const index = open();
    return queries.map(({ query, relevant }) =>
      recallAt5(
        index.search(query, 5).map(({ position }) => skills[position]?.id ?? ''),
        new Set(relevant),
      ),
    );
  });
  Object.assign(settings, kept);
  const folds = queries.map((query) => foldOf.get(toRepository(query)) ?? 0);
  const sumOver = (values: readonly number[], isIn: (fold: number) => boolean): number =>
    values.reduce((sum, value, place) => (isIn(folds[place] ?? 0) ? sum + value : sum), 0);
  let sum = 0;
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const others = measured.map((values) => sumOver(values, (other) => other !== fold));
    const best = measured[others.indexOf(Math.max(...others))] ?? [];
    sum += sumOver(best, (own) => own === fold);
  }
  return sum / queries.length;
}

function toRepository({ source }: BenchQuery): string {
  return source.slice(0, source.indexOf(':'));
}
