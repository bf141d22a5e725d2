/**
 * Labels and trials of the trigger evaluation. A trial is one attempt with a verdict: a broken attempt counts neither as a miss nor as a
 * correct negative. One that ran out of time is a miss, but no correct negative. Trials are identified by case and attempt, never by their
 * text.
 */
import { defined } from '#core';
import type { EvalCase } from '../cases/case.ts';
import {
  ENDED,
  groupBy,
  hasVerdict,
  isCounted,
  type CaseResult,
  type Rate,
  type TriggerReport,
} from '../report/result.ts';
import { groupSameRequests } from '../report/same-requests.ts';
import { toAskedRequest } from '../cases/asked-request.ts';
import { clusteredRate } from '../statistics/statistics.ts';

export interface TriggerLabel {
  readonly all: readonly string[];
  /** At least one of these must load, unless the list is empty. */
  readonly any: readonly string[];
  readonly none: readonly string[];
  readonly only?: readonly string[];
}

export interface TriggerTrial {
  readonly case: string;
  /** The first of several cases with near-identical requests, if it is another one. */
  readonly unit?: string;
  readonly label: TriggerLabel;
  readonly loaded: readonly string[];
}

/** Returns undefined if the case expects nothing about skills. */
export function toLabel({ expect, skills: { target } }: Pick<EvalCase, 'expect' | 'skills'>): TriggerLabel | undefined {
  const { trigger, skills: { allOf = [], anyOf = [], noneOf = [], only } = {} } = expect;
  const asked = trigger === undefined || target === undefined ? [] : [target];
  const all = unique(trigger === true ? [...asked, ...allOf] : allOf);
  const any = unique(anyOf);
  const none = unique(trigger === false ? [...asked, ...noneOf] : noneOf);
  if (all.length + any.length + none.length === 0 && only === undefined) return undefined;
  return { all, any, none, only };
}

export function collectTrials(cases: readonly EvalCase[], results: readonly CaseResult[]): readonly TriggerTrial[] {
  const labels = new Map(cases.map((one) => [one.id, toLabel(one)]));
  const groups = groupSameRequests(cases.map(toAskedRequest));
  const units = new Map(groups.flatMap(([first = '', ...others]) => others.map((id) => [id, first] as const)));
  return results.flatMap((result) => {
    const label = labels.get(result.case);
    if (label === undefined || !hasVerdict(result) || !isCounted(result) || result.arm !== 'with') return [];
    const isTimeUp = result.checks.some(({ id }) => id === `${ENDED}wallMs`);
    if (isTimeUp && !isOwned(label) && agrees(label, result.loaded)) return [];
    const unit = units.get(result.case);
    return [{ case: result.case, ...defined({ unit }), label, loaded: unique(result.loaded) }];
  });
}

export function agrees({ all, any, none, only }: TriggerLabel, loaded: readonly string[]): boolean {
  return (
    all.every((name) => loaded.includes(name)) &&
    (any.length === 0 || any.some((name) => loaded.includes(name))) &&
    !loaded.some((name) => none.includes(name) || only?.includes(name) === false)
  );
}

/** Whether some skill should load; then any other loaded skill is a false positive. */
export function isOwned({ all, any }: TriggerLabel): boolean {
  return all.length + any.length > 0;
}

/** Whether loading the skill contradicts the label. */
export function isUnwanted(skill: string, label: TriggerLabel): boolean {
  const { all, any, none, only } = label;
  if (all.includes(skill) || any.includes(skill)) return false;
  return none.includes(skill) || (only === undefined ? isOwned(label) : !only.includes(skill));
}

/** The share of cases for tuning a description; the rest validates the result. */
const TRAIN_PERCENT = 60;

/** Depends on the id only, so that a case stays on its side when others are added. */
export function isForTraining(id: string): boolean {
  return hashText(id) % 100 < TRAIN_PERCENT;
}

export function computeSplit(trials: readonly TriggerTrial[]): NonNullable<TriggerReport['split']> {
  return {
    train: rateAgreement(trials.filter((trial) => isForTraining(trial.case))),
    validation: rateAgreement(trials.filter((trial) => !isForTraining(trial.case))),
  };
}

/** What counts once: the case, or the first of several near-identical ones. */
export function unitOf({ case: id, unit }: TriggerTrial): string {
  return unit ?? id;
}

/** The share of trials whose loaded skills agree with the label. */
export function rateAgreement(trials: readonly TriggerTrial[]): Rate {
  const units = [...groupBy(trials, unitOf).values()];
  return clusteredRate(
    units.map((unit) => ({ count: unit.filter(({ label, loaded }) => agrees(label, loaded)).length, of: unit.length })),
  );
}

/** FNV-1a with a final mix, so that ids that differ only at the end spread evenly. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
