/** Scores trigger trials: precision and recall with intervals, and the confusion matrix. */
import { compareText } from '#core';
import type { Control, TriggerReport, TriggerScore } from '../report/result.ts';
import { computeRate } from '../statistics/statistics.ts';
import { agrees, isOwned, isUnwanted, computeSplit, unique, type TriggerTrial } from './trigger-trial.ts';

type Count = 'hit' | 'miss' | 'false-alarm' | 'quiet' | 'nothing';

function countFor(skill: string, { label, loaded }: TriggerTrial): Count {
  const { all, any, none } = label;
  const isLoaded = loaded.includes(skill);
  if (all.includes(skill)) return isLoaded ? 'hit' : 'miss';
  if (any.includes(skill)) {
    if (isLoaded) return 'hit';
    // Another acceptable skill loaded instead.
    return any.some((name) => loaded.includes(name)) ? 'nothing' : 'miss';
  }
  if (isLoaded) return isUnwanted(skill, label) ? 'false-alarm' : 'nothing';
  return none.includes(skill) ? 'quiet' : 'nothing';
}

type Counts = Readonly<Record<'hits' | 'misses' | 'alarms', number>>;

function countsFor(skill: string, trials: readonly TriggerTrial[]): Counts {
  const counts = trials.map((trial) => countFor(skill, trial));
  const many = (kind: Count): number => counts.filter((count) => count === kind).length;
  return { hits: many('hit'), misses: many('miss'), alarms: many('false-alarm') };
}

function computeScore({ hits, misses, alarms }: Counts): Omit<TriggerScore, 'skill'> {
  const all = 2 * hits + misses + alarms;
  return {
    precision: computeRate(hits, hits + alarms),
    recall: computeRate(hits, hits + misses),
    f1: all === 0 ? 0 : (2 * hits) / all,
  };
}

export function scoreSkills(trials: readonly TriggerTrial[]): readonly TriggerScore[] {
  return listSkills(trials).map((skill) => ({ skill, ...computeScore(countsFor(skill, trials)) }));
}

function listSkills(trials: readonly TriggerTrial[]): readonly string[] {
  const named = trials.flatMap(({ label, loaded }) => [
    ...label.all,
    ...label.any,
    ...label.none,
    ...loaded.filter((skill) => isUnwanted(skill, label)),
  ]);
  return unique(named).toSorted(compareText);
}

/** Scores all skills together. `quiet` is the share of negative trials without an unwanted skill. */
export function scoreOverall(trials: readonly TriggerTrial[]): TriggerReport['overall'] {
  const counts = listSkills(trials).map((skill) => countsFor(skill, trials));
  const sum = (field: keyof Counts): number => counts.reduce((total, one) => total + one[field], 0);
  const negatives = trials.filter(({ label }) => !isOwned(label));
  return {
    ...computeScore({ hits: sum('hits'), misses: sum('misses'), alarms: sum('alarms') }),
    quiet: computeRate(negatives.filter(({ label, loaded }) => agrees(label, loaded)).length, negatives.length),
  };
}

const NO_SKILL = '-';

/** Counts pairs of expected and loaded skills. `-` stands for no skill. */
export function countConfusions(trials: readonly TriggerTrial[]): TriggerReport['confusion'] {
  const counts = new Map<string, TriggerReport['confusion'][number]>();
  for (const trial of trials)
    for (const { wanted, took } of listPairs(trial)) {
      const key = JSON.stringify([wanted, took]);
      counts.set(key, { wanted, took, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  return [...counts.values()].toSorted((a, b) => compareText(a.wanted, b.wanted) || compareText(a.took, b.took));
}

type ConfusionPair = Readonly<Record<'wanted' | 'took', string>>;

function listPairs({ label, loaded }: TriggerTrial): readonly ConfusionPair[] {
  const { all, any } = label;
  const isLoaded = (name: string): boolean => loaded.includes(name);
  const unwanted = loaded.filter((name) => isUnwanted(name, label));
  if (!isOwned(label))
    return unwanted.length === 0 ? [NO_SKILL_LOADED] : unwanted.map((took) => ({ wanted: NO_SKILL, took }));
  const hits = unique([...all, ...any]).filter(isLoaded);
  // If no acceptable skill loaded, the first one represents them.
  const missed = [...all.filter((name) => !isLoaded(name)), ...(any.some(isLoaded) ? [] : any.slice(0, 1))];
  const expected = missed.length === 0 ? hits.slice(0, 1) : missed;
  return [
    ...hits.map((name) => ({ wanted: name, took: name })),
    ...expected.flatMap((name) => unwanted.map((took) => ({ wanted: name, took }))),
    ...(unwanted.length === 0 ? missed.map((name) => ({ wanted: name, took: NO_SKILL })) : []),
  ];
}

const NO_SKILL_LOADED: ConfusionPair = { wanted: NO_SKILL, took: NO_SKILL };

export interface TriggerParts {
  readonly trials: readonly TriggerTrial[];
  /** All three controls. */
  readonly controls: readonly Control[];
  /** The same cases with increasing numbers of other skills. */
  readonly sweep?: readonly { readonly distractors: number; readonly trials: readonly TriggerTrial[] }[];
}

const NO_SCORES: Pick<TriggerReport, 'scores' | 'overall' | 'confusion' | 'sweep'> = {
  scores: [],
  overall: { precision: computeRate(0, 0), recall: computeRate(0, 0), f1: 0, quiet: computeRate(0, 0) },
  confusion: [],
  sweep: [],
};

/** Has no scores if a control failed or is missing, or if there are no trials. */
export function makeTriggerReport({ trials, controls, sweep = [] }: TriggerParts): TriggerReport {
  const isKept = (name: Control['name']): boolean => controls.some((one) => one.name === name && one.isKept);
  const isValid = trials.length > 0 && CONTROLS.every(isKept) && controls.every((control) => control.isKept);
  if (!isValid) return { controls, isValid, ...NO_SCORES };
  return {
    controls,
    isValid,
    scores: scoreSkills(trials),
    overall: scoreOverall(trials),
    confusion: countConfusions(trials),
    sweep: sweep.map((step) => {
      const { recall, precision } = scoreOverall(step.trials);
      return { distractors: step.distractors, recall, precision };
    }),
    split: computeSplit(trials),
  };
}

const CONTROLS: readonly Control['name'][] = ['always-fire', 'never-fire', 'shuffled-labels'];
