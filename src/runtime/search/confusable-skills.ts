/** Skills of one catalog that a model could take for each other: seen by searching with what each says of itself. No model, no network. */
import { compareText, diagnose } from '../../core/diagnostic.ts';
import type { Diagnostic, Mode } from '../../core/diagnostic.ts';
import { quoted } from '../../core/text/text.ts';
import { splitClauses } from '../../search/clauses.ts';
import { buildSearchIndex } from '../../search/search-index.ts';

export interface CatalogSkill {
  readonly name: string;
  readonly description: string;
  /** Its SKILL.md. */
  readonly file: string;
}

export interface ConfusablePair {
  /** By name. */
  readonly skills: readonly [CatalogSkill, CatalogSkill];
  /** How well the other one answers to the words of each, of how well it does itself; the smaller of both directions. */
  readonly closeness: number;
}

/**
 * In both directions: a skill that says everything answers to the words of many, and takes little from those who do not answer to its own.
 * Pairs that say the same in other words come to 0.49 and more, skills of different trades to less than 0.2; in catalogs of a handful of
 * skills all numbers are lower, since there is little that words could be rare against.
 */
const CLOSE = 0.45;
const NEIGHBOURS = 10;

/** The closest pair first. Skills that send their readers to each other know of each other: they are none. */
export function confusableSkills(skills: readonly CatalogSkill[]): readonly ConfusablePair[] {
  const clauses = skills.map(({ description }) => splitClauses(description));
  const closeness = closenessOf(clauses.map(({ use }) => use));
  const isSent = (from: number, to: number): boolean => names(clauses[from]?.avoid ?? '', skills[to]?.name ?? '');
  return closeness
    .flatMap((neighbours, a) =>
      [...neighbours].flatMap(([b, there]): readonly ConfusablePair[] => {
        const [first, second] = [skills[a], skills[b]];
        const close = Math.min(there, closeness[b]?.get(a) ?? 0);
        if (b <= a || close < CLOSE || first === undefined || second === undefined) return [];
        if (isSent(a, b) || isSent(b, a)) return [];
        const pair =
          compareText(first.name, second.name) <= 0 ? ([first, second] as const) : ([second, first] as const);
        return [{ skills: pair, closeness: close }];
      }),
    )
    .toSorted((a, b) => b.closeness - a.closeness || compareText(a.skills[0].name, b.skills[0].name));
}

/** Of each text its nearest neighbours by place. Names are left out: they tell a skill from its twin and nothing about when it is wanted. */
function closenessOf(texts: readonly string[]): readonly ReadonlyMap<number, number>[] {
  const index = buildSearchIndex(texts.map((description) => ({ name: '', description })));
  return texts.map((text, place) => {
    const hits = index.search(text, NEIGHBOURS);
    const own = hits.find(({ position }) => position === place)?.score ?? 0;
    // One that does not even find itself is not the first of its kind.
    return new Map(hits.map(({ position, score }) => [position, own === 0 ? 1 : score / own] as const));
  });
}

/** Whether a text names a skill, and not one whose name begins or ends so. */
function names(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (name === '' || at === -1) return false;
  const isPart = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}-]/u.test(character);
  return !isPart(text[at - 1]) && !isPart(text[at + name.length]);
}

/** One for each of the two: whoever looks at either file sees it. */
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
          message: `${quoted(own.name)} and ${quoted(other.name)} answer to the same words`,
          hint: `say what only this one is for, or add: Not for ..., use ${other.name}`,
        },
        mode,
      ),
    ),
  );
}
