/** Whether skills fire when they should and stay quiet when they should not: rates with their intervals, and who took whose query. */
import { compareText } from '../../core/diagnostic.ts';
import type { Control, TriggerReport, TriggerScore } from '../report/result.ts';
import { rateOf } from '../statistics/statistics.ts';
import { agrees, isOwned, isUnwanted, splitOf, unique } from './trigger-trial.ts';
import type { TriggerTrial } from './trigger-trial.ts';

/** What one trial says about one skill. */
type Count = 'hit' | 'miss' | 'false-alarm' | 'quiet' | 'nothing';

function countFor(skill: string, { label, loaded }: TriggerTrial): Count {
  const { all, any, none } = label;
  const isLoaded = loaded.includes(skill);
  if (all.includes(skill)) return isLoaded ? 'hit' : 'miss';
  if (any.includes(skill)) {
    if (isLoaded) return 'hit';
    // Another one that is as good took it.
    return any.some((name) => loaded.includes(name)) ? 'nothing' : 'miss';
  }
  if (isLoaded) return isUnwanted(skill, label) ? 'false-alarm' : 'nothing';
  return none.includes(skill) ? 'quiet' : 'nothing';
}

interface Counts {
  readonly hits: number;
  readonly misses: number;
  readonly alarms: number;
}

function countsFor(skill: string, trials: readonly TriggerTrial[]): Counts {
  const counts = trials.map((trial) => countFor(skill, trial));
  const many = (kind: Count): number => counts.filter((count) => count === kind).length;
  return { hits: many('hit'), misses: many('miss'), alarms: many('false-alarm') };
}

function scoreOf({ hits, misses, alarms }: Counts): Omit<TriggerScore, 'skill'> {
  const all = 2 * hits + misses + alarms;
  return {
    precision: rateOf(hits, hits + alarms),
    recall: rateOf(hits, hits + misses),
    f1: all === 0 ? 0 : (2 * hits) / all,
  };
}

export function scoreSkills(trials: readonly TriggerTrial[]): readonly TriggerScore[] {
  return skillsOf(trials).map((skill) => ({ skill, ...scoreOf(countsFor(skill, trials)) }));
}

function skillsOf(trials: readonly TriggerTrial[]): readonly string[] {
  const named = trials.flatMap(({ label, loaded }) => [
    ...label.all,
    ...label.any,
    ...label.none,
    ...loaded.filter((skill) => isUnwanted(skill, label)),
  ]);
  return unique(named).toSorted(compareText);
}

/** All skills together; `quiet`: trials in which what must not fire did not, of those that say so. */
export function scoreOverall(trials: readonly TriggerTrial[]): TriggerReport['overall'] {
  const counts = skillsOf(trials).map((skill) => countsFor(skill, trials));
  const sum = (field: keyof Counts): number => counts.reduce((total, one) => total + one[field], 0);
  const negatives = trials.filter(({ label }) => !isOwned(label));
  return {
    ...scoreOf({ hits: sum('hits'), misses: sum('misses'), alarms: sum('alarms') }),
    quiet: rateOf(negatives.filter(({ label, loaded }) => agrees(label, loaded)).length, negatives.length),
  };
}

const NOBODY = '-';

/** Who took whose query. A query that nobody may take, or not this skill, has the label `-`. */
export function confusionOf(trials: readonly TriggerTrial[]): TriggerReport['confusion'] {
  const counts = new Map<string, TriggerReport['confusion'][number]>();
  for (const trial of trials)
    for (const { wanted, took } of pairsOf(trial)) {
      const key = JSON.stringify([wanted, took]);
      counts.set(key, { wanted, took, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  return [...counts.values()].toSorted((a, b) => compareText(a.wanted, b.wanted) || compareText(a.took, b.took));
}

interface Taken {
  readonly wanted: string;
  readonly took: string;
}

function pairsOf({ label, loaded }: TriggerTrial): readonly Taken[] {
  const { all, any } = label;
  const isLoaded = (name: string): boolean => loaded.includes(name);
  const thieves = loaded.filter((name) => isUnwanted(name, label));
  if (!isOwned(label)) return thieves.length === 0 ? [NOBODY_TOOK] : thieves.map((took) => ({ wanted: NOBODY, took }));
  const hits = unique([...all, ...any]).filter(isLoaded);
  // Of several that would do, the first one stands for a query that none of them got.
  const missed = [...all.filter((name) => !isLoaded(name)), ...(any.some(isLoaded) ? [] : any.slice(0, 1))];
  const robbed = missed.length === 0 ? hits.slice(0, 1) : missed;
  return [
    ...hits.map((name) => ({ wanted: name, took: name })),
    ...robbed.flatMap((wanted) => thieves.map((took) => ({ wanted, took }))),
    ...(thieves.length === 0 ? missed.map((wanted) => ({ wanted, took: NOBODY })) : []),
  ];
}

const NOBODY_TOOK: Taken = { wanted: NOBODY, took: NOBODY };

/** Two skills of which one takes the queries of the other, the most often first. */
export interface ConfusedPair {
  readonly skills: readonly [string, string];
  readonly count: number;
}

export function confusedPairs(confusion: TriggerReport['confusion']): readonly ConfusedPair[] {
  const pairs = new Map<string, ConfusedPair>();
  for (const { wanted, took, count } of confusion) {
    if (wanted === took || wanted === NOBODY || took === NOBODY) continue;
    const skills = compareText(wanted, took) < 0 ? ([wanted, took] as const) : ([took, wanted] as const);
    const key = JSON.stringify(skills);
    pairs.set(key, { skills, count: (pairs.get(key)?.count ?? 0) + count });
  }
  return [...pairs.values()].toSorted((a, b) => b.count - a.count || compareText(a.skills[0], b.skills[0]));
}

export interface TriggerParts {
  readonly trials: readonly TriggerTrial[];
  /** All three, each asked for before the first trial. */
  readonly controls: readonly Control[];
  /** The same cases among more and more other skills. */
  readonly sweep?: readonly { readonly distractors: number; readonly trials: readonly TriggerTrial[] }[];
}

const NO_SCORES: Pick<TriggerReport, 'scores' | 'overall' | 'confusion' | 'sweep'> = {
  scores: [],
  overall: { precision: rateOf(0, 0), recall: rateOf(0, 0), f1: 0, quiet: rateOf(0, 0) },
  confusion: [],
  sweep: [],
};

/** The report; without a single score where a control was not kept, is missing, or there is no trial. */
export function makeTriggerReport({ trials, controls, sweep = [] }: TriggerParts): TriggerReport {
  const isKept = (name: Control['name']): boolean => controls.some((one) => one.name === name && one.isKept);
  const isValid = trials.length > 0 && CONTROLS.every(isKept) && controls.every((control) => control.isKept);
  if (!isValid) return { controls, isValid, ...NO_SCORES };
  return {
    controls,
    isValid,
    scores: scoreSkills(trials),
    overall: scoreOverall(trials),
    confusion: confusionOf(trials),
    sweep: sweep.map((step) => {
      const { recall, precision } = scoreOverall(step.trials);
      return { distractors: step.distractors, recall, precision };
    }),
    split: splitOf(trials),
  };
}

const CONTROLS: readonly Control['name'][] = ['always-fire', 'never-fire', 'shuffled-labels'];
