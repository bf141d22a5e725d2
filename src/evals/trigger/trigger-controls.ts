/** What must hold before anything is scored: a harness that lets everything fire, or nothing, or does not look at labels is found out here. */
import { compareText } from '../../core/diagnostic.ts';
import { openRandom } from '../../core/seeded-random.ts';
import type { CaseResult, Control } from '../report/result.ts';
import { rateOf, shareOf } from '../statistics/statistics.ts';
import { agrees, hasVerdict } from './trigger-trial.ts';
import type { TriggerLabel, TriggerTrial } from './trigger-trial.ts';

/** A canary was asked in every attempt: it must have fired always, or never. What broke keeps no control. */
export function canaryControl(
  name: 'always-fire' | 'never-fire',
  skill: string,
  results: readonly CaseResult[],
): Control {
  const fired = results.filter(({ loaded }) => loaded.includes(skill)).length;
  const broken = results.filter((result) => !hasVerdict(result)).length;
  const wanted = name === 'always-fire' ? results.length : 0;
  return {
    name,
    asked: name === 'always-fire' ? `${skill} fires for every query` : `${skill} fires for no query`,
    found:
      `it fired for ${String(fired)} of ${String(results.length)}` +
      (broken === 0 ? '' : `, and ${String(broken)} came to no verdict`),
    isKept: results.length > 0 && broken === 0 && fired === wanted,
  };
}

const SHUFFLES = 40;

/**
 * With the labels shuffled among the trials the score must fall to chance: the Wilson interval of the mean agreement over forty shuffles
 * covers the agreement that labels and answers have when they know nothing of each other. `agree` is the judge that scores, so that one
 * who does not look at the labels is found out.
 */
export function shuffledControl(trials: readonly TriggerTrial[], { seed = 1, agree = agrees } = {}): Control {
  const random = openRandom(seed);
  const labels = trials.map(({ label }) => label);
  let agreed = 0;
  for (let round = 0; round < SHUFFLES; round += 1) {
    for (let at = labels.length - 1; at > 0; at -= 1) {
      const other = random.below(at + 1);
      const [mine, theirs] = [labels[at], labels[other]];
      if (mine !== undefined && theirs !== undefined) [labels[at], labels[other]] = [theirs, mine];
    }
    agreed += trials.filter(({ loaded }, place) => isAgreed(agree, labels[place], loaded)).length;
  }
  const mean = Math.round(agreed / SHUFFLES);
  const shuffled = rateOf(mean, trials.length);
  const chance = chanceOf(trials);
  // The mean is counted in whole trials.
  const rounding = 0.5 / Math.max(1, trials.length);
  return {
    name: 'shuffled-labels',
    asked: 'with shuffled labels the agreement falls to chance',
    found:
      trials.length === 0
        ? 'there is nothing to shuffle'
        : `${percent(shareOf(shuffled))} agree, by chance it would be ${percent(chance)}`,
    isKept: trials.length > 0 && shuffled.low - rounding <= chance && chance <= shuffled.high + rounding,
  };
}

function isAgreed(agree: typeof agrees, label: TriggerLabel | undefined, loaded: readonly string[]): boolean {
  return label !== undefined && agree(label, loaded);
}

/** Every answer against every label: worked out by groups, for equal answers and equal labels are many. */
function chanceOf(trials: readonly TriggerTrial[]): number {
  if (trials.length === 0) return 0;
  const labels = grouped(trials.map(({ label }) => label));
  const answers = grouped(trials.map(({ loaded }) => loaded.toSorted(compareText)));
  let pairs = 0;
  for (const [label, labelled] of labels)
    for (const [loaded, answered] of answers) if (agrees(label, loaded)) pairs += labelled * answered;
  return pairs / trials.length ** 2;
}

function grouped<Item>(items: readonly Item[]): readonly (readonly [Item, number])[] {
  const groups = new Map<string, readonly [Item, number]>();
  for (const item of items) {
    const key = JSON.stringify(item);
    groups.set(key, [item, (groups.get(key)?.[1] ?? 0) + 1]);
  }
  return [...groups.values()];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
