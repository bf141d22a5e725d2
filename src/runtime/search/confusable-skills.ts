/** Finds skills of one catalog that a model could confuse, by searching with each description. Uses no model and no network. */
import { compareText, diagnose, quoted, type Diagnostic, type Mode } from '#core';
import { buildSearchIndex, splitClauses } from '#skills';

export interface CatalogSkill {
  readonly name: string;
  readonly description: string;
  /** Path of its SKILL.md. */
  readonly file: string;
}

export interface ConfusablePair {
  /** Ordered by name. */
  readonly skills: readonly [CatalogSkill, CatalogSkill];
  /** Score of the other skill relative to the own score for the same query; the smaller of both directions. */
  readonly closeness: number;
}

/**
 * Both directions must match, because a broad description matches many queries. Measured: paraphrased pairs score 0.49 and more, unrelated
 * skills less than 0.2; small catalogs score lower, because no word is rare in them.
 */
const MIN_CLOSENESS = 0.45;
const NEIGHBOURS = 10;

/** Closest pair first. Skills that refer to each other ("Not for …, use …") are not reported. */
export function confusableSkills(skills: readonly CatalogSkill[]): readonly ConfusablePair[] {
  const clauses = skills.map(({ description }) => splitClauses(description));
  const closeness = scoreNeighbors(clauses.map(({ use }) => use));
  const refersTo = (from: number, to: number): boolean => mentions(clauses[from]?.avoid ?? '', skills[to]?.name ?? '');
  return closeness
    .flatMap((neighbours, a) =>
      [...neighbours].flatMap(([b, there]): readonly ConfusablePair[] => {
        const [first, second] = [skills[a], skills[b]];
        const close = Math.min(there, closeness[b]?.get(a) ?? 0);
        if (b <= a || close < MIN_CLOSENESS || first === undefined || second === undefined) return [];
        if (refersTo(a, b) || refersTo(b, a)) return [];
        const pair =
          compareText(first.name, second.name) <= 0 ? ([first, second] as const) : ([second, first] as const);
        return [{ skills: pair, closeness: close }];
      }),
    )
    .toSorted((a, b) => b.closeness - a.closeness || compareText(a.skills[0].name, b.skills[0].name));
}

/** The nearest neighbors of each text by position. Names are left out, because they distinguish even duplicates. */
function scoreNeighbors(texts: readonly string[]): readonly ReadonlyMap<number, number>[] {
  const index = buildSearchIndex(texts.map((description) => ({ name: '', description })));
  return texts.map((text, place) => {
    const hits = index.search(text, NEIGHBOURS);
    const own = hits.find(({ position }) => position === place)?.score ?? 0;
    // A text that does not find itself has no score to compare with.
    return new Map(hits.map(({ position, score }) => [position, own === 0 ? 1 : score / own] as const));
  });
}

/** Whether a text contains the name of a skill as a whole word. */
function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (name === '' || at === -1) return false;
  const isPart = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}-]/u.test(character);
  return !isPart(text[at - 1]) && !isPart(text[at + name.length]);
}

/** One diagnostic for each of the two files. */
export function confusableDiagnostics(skills: readonly CatalogSkill[], mode: Mode): readonly Diagnostic[] {
  return confusableSkills(skills).flatMap(({ skills: [first, second] }) =>
    [
      [first, second],
      [second, first],
    ].map(([own = first, other = second]) =>
      diagnose(
        {
          code: 'catalog/confusable',
          path: own.file,
          message: `${quoted(own.name)} and ${quoted(other.name)} match the same queries`,
          hint: `say what only this skill is for, or add: Not for ..., use ${other.name}`,
        },
        mode,
      ),
    ),
  );
}
