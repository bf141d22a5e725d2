/**
 * Who must fire for a query, and who did. A trial is one attempt of one case that came to a verdict: whatever broke is no trial, so that
 * it can neither miss a skill nor keep one quiet. Trials are told apart by case and attempt, never by their words.
 */
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult, Rate, TriggerReport } from '../report/result.ts';
import { rateOf } from '../statistics/statistics.ts';

/** What a case says about who must fire. */
export interface TriggerLabel {
  /** All of these. */
  readonly all: readonly string[];
  /** One of these or more; empty where nothing is said. */
  readonly any: readonly string[];
  /** None of these. */
  readonly none: readonly string[];
  /** None but these. */
  readonly only?: readonly string[];
}

export interface TriggerTrial {
  readonly case: string;
  readonly label: TriggerLabel;
  readonly loaded: readonly string[];
}

/** Nothing where a case asks nothing about skills. */
export function labelOf({ expect, skills: { target } }: Pick<EvalCase, 'expect' | 'skills'>): TriggerLabel | undefined {
  const { trigger, skills: { allOf = [], anyOf = [], noneOf = [], only } = {} } = expect;
  const asked = trigger === undefined || target === undefined ? [] : [target];
  const all = unique(trigger === true ? [...asked, ...allOf] : allOf);
  const any = unique(anyOf);
  const none = unique(trigger === false ? [...asked, ...noneOf] : noneOf);
  if (all.length + any.length + none.length === 0 && only === undefined) return undefined;
  return { all, any, none, ...(only === undefined ? {} : { only }) };
}

/** One for each attempt with a verdict, in the order of the results. */
export function trialsOf(cases: readonly EvalCase[], results: readonly CaseResult[]): readonly TriggerTrial[] {
  const labels = new Map(cases.map((one) => [one.id, labelOf(one)]));
  return results.flatMap((result) => {
    const label = labels.get(result.case);
    if (label === undefined || !hasVerdict(result) || result.arm !== 'with') return [];
    return [{ case: result.case, label, loaded: unique(result.loaded) }];
  });
}

export function hasVerdict({ status }: Pick<CaseResult, 'status'>): boolean {
  return status === 'passed' || status === 'failed';
}

/** Whether what was loaded is what the label says. */
export function agrees({ all, any, none, only }: TriggerLabel, loaded: readonly string[]): boolean {
  return (
    all.every((name) => loaded.includes(name)) &&
    (any.length === 0 || any.some((name) => loaded.includes(name))) &&
    !loaded.some((name) => none.includes(name) || only?.includes(name) === false)
  );
}

/** The query has owners: any other skill that comes up takes it from them. */
export function isOwned({ all, any }: TriggerLabel): boolean {
  return all.length + any.length > 0;
}

/** Whether a skill may not come up, as far as the label says. */
export function isUnwanted(skill: string, label: TriggerLabel): boolean {
  const { all, any, none, only } = label;
  if (all.includes(skill) || any.includes(skill)) return false;
  return none.includes(skill) || (only === undefined ? isOwned(label) : !only.includes(skill));
}

/** Parts of a hundred that a description may be tuned on; the rest says whether that helped. */
const TRAIN_PERCENT = 60;

/** By the id of the case alone: a case stays on its side when others are added. */
export function isForTraining(id: string): boolean {
  return hashOf(id) % 100 < TRAIN_PERCENT;
}

/** How many trials of each side are as their labels say. */
export function splitOf(trials: readonly TriggerTrial[]): NonNullable<TriggerReport['split']> {
  const rate = (part: readonly TriggerTrial[]): Rate =>
    rateOf(part.filter(({ label, loaded }) => agrees(label, loaded)).length, part.length);
  return {
    train: rate(trials.filter((trial) => isForTraining(trial.case))),
    validation: rate(trials.filter((trial) => !isForTraining(trial.case))),
  };
}

/** FNV-1a over the characters, mixed once more so that ids that differ in their end differ everywhere. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
