/** Scores trigger trials: precision and recall with intervals, and the confusion matrix. */
import { compareText } from '#core';
import { groupBy, type Control, type Rate, type TriggerReport, type TriggerScore } from '../report/result.ts';
import { clusteredRate, computeRate } from '../statistics/statistics.ts';
import {
  isOwned,
  isUnwanted,
  computeSplit,
  rateAgreement,
  unique,
  unitOf,
  type TriggerTrial,
} from './trigger-trial.ts';

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

/** The counts of each case; near-identical cases are one. */
function countsFor(skills: readonly string[], trials: readonly TriggerTrial[]): readonly Counts[] {
  return [...groupBy(trials, unitOf).values()].map((unit) => {
    const counts = unit.flatMap((trial) => skills.map((skill) => countFor(skill, trial)));
    const many = (kind: Count): number => counts.filter((count) => count === kind).length;
    return { hits: many('hit'), misses: many('miss'), alarms: many('false-alarm') };
  });
}

/** F1 is 2s / (1 + s), where s is the share of hits in hits, misses and false alarms. Its interval follows from that of s. */
function computeScore(units: readonly Counts[]): Omit<TriggerScore, 'skill'> {
  const rate = (read: (counts: Counts) => number): Rate =>
    clusteredRate(units.map((unit) => ({ count: unit.hits, of: unit.hits + read(unit) })));
  const { count, of, low, high } = rate(({ misses, alarms }) => misses + alarms);
  const f1 = (share: number): number => (2 * share) / (1 + share);
  return {
    precision: rate(({ alarms }) => alarms),
    recall: rate(({ misses }) => misses),
    f1: f1(of === 0 ? 0 : count / of),
    f1Interval: { low: f1(low), high: f1(high) },
  };
}

export function scoreSkills(trials: readonly TriggerTrial[]): readonly TriggerScore[] {
  return listSkills(trials).map((skill) => ({ skill, ...computeScore(countsFor([skill], trials)) }));
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
  const negatives = trials.filter(({ label }) => !isOwned(label));
  return { ...computeScore(countsFor(listSkills(trials), trials)), quiet: rateAgreement(negatives) };
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
  overall: { ...computeScore([]), quiet: computeRate(0, 0) },
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
