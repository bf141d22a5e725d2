/**
 * Controls of the trigger evaluation. Two skills with known answers run with the evaluated ones, and shuffled labels must score at chance.
 * If a control fails, the harness or the model is broken and there are no scores.
 */
import { compareText, openRandom } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { hasVerdict, type CaseResult, type Control } from '../report/result.ts';
import { computeRate, computeShare } from '../statistics/statistics.ts';
import { writeSkill } from './distractors.ts';
import { agrees, type TriggerTrial } from './trigger-trial.ts';

/** Must load for each of its queries, which use words that no other skill has. */
export const ALWAYS_FIRE = {
  name: 'brass-lantern-check',
  description:
    'Reports the state of a brass lantern of the harbour museum. Use it whenever the user asks about a brass lantern of the harbour museum.',
} as const;

/** Must never load: no query is about it. */
export const NEVER_FIRE = {
  name: 'quartz-moth-census',
  description:
    'Counts quartz moths for the yearly quartz moth census. Use it only when the user asks for a census of quartz moths.',
} as const;

const ALWAYS_QUERIES = [
  'What is the state of the brass lantern of the harbour museum?',
  'Please check the brass lantern in the harbour museum for me.',
  'Report on the brass lantern of the harbour museum.',
  'Is the brass lantern at the harbour museum all right?',
  'I need the state of a brass lantern of the harbour museum.',
] as const;

export function writeControlSkills(folder: string): readonly string[] {
  const body = 'This skill is a control of an evaluation. Answer: the control was loaded.';
  return [ALWAYS_FIRE, NEVER_FIRE].map((skill) => writeSkill(folder, skill, body));
}

export function controlCases(): readonly EvalCase[] {
  return ALWAYS_QUERIES.map((input, place) => ({
    id: `control/always-fire-${String(place + 1)}`,
    name: input,
    place: { file: 'controls', line: place + 1, column: 1 },
    input,
    files: [],
    skills: { target: ALWAYS_FIRE.name, folders: [] },
    expect: { trigger: true },
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: ['control'],
  }));
}

/** The control skill must have loaded in every attempt, or in none. An attempt without a verdict fails the control. */
export function canaryControl(
  name: 'always-fire' | 'never-fire',
  skill: string,
  results: readonly CaseResult[],
): Control {
  const fired = results.filter(({ loaded }) => loaded.includes(skill)).length;
  const unjudged = results.filter((result) => !hasVerdict(result));
  const broken = unjudged.length;
  const [first] = unjudged;
  const reason = first === undefined || first.reason === '' ? '' : ` (${first.reason})`;
  const expected = name === 'always-fire' ? results.length : 0;
  return {
    name,
    asked: name === 'always-fire' ? `${skill} loads for every query` : `${skill} loads for no query`,
    found:
      `it loaded for ${String(fired)} of ${String(results.length)}` +
      (broken === 0 ? '' : `, and ${String(broken)} had no verdict${reason}`),
    isKept: results.length > 0 && broken === 0 && fired === expected,
  };
}

const SHUFFLES = 40;

/**
 * Shuffled labels must score at chance: the Wilson interval of the mean agreement over forty shuffles must cover the agreement of
 * independent labels and answers. `agree` is the function that scores, so that a scorer that ignores labels fails here.
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
    agreed += trials.filter(({ label, loaded }, place) => agree(labels[place] ?? label, loaded)).length;
  }
  const mean = Math.round(agreed / SHUFFLES);
  const shuffled = computeRate(mean, trials.length);
  const chance = computeChance(trials);
  // The mean is rounded to whole trials.
  const rounding = 0.5 / Math.max(1, trials.length);
  return {
    name: 'shuffled-labels',
    asked: 'with shuffled labels the agreement falls to chance',
    found:
      trials.length === 0
        ? 'no trials to shuffle'
        : `${percent(computeShare(shuffled))} agree; chance is ${percent(chance)}`,
    isKept: trials.length > 0 && shuffled.low - rounding <= chance && chance <= shuffled.high + rounding,
  };
}

/** The agreement of every answer with every label, computed by groups of equal answers and labels. */
function computeChance(trials: readonly TriggerTrial[]): number {
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
