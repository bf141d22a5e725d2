/** All that an evaluation came to, from its results and from nothing else. What broke is counted as what it is: neither passed nor failed. */
import { hasVerdict } from './result.ts';
import type { CaseResult, CaseStatus, Comparison, EvalReport, TriggerReport } from './result.ts';
import { rateOf, shareOf } from '../statistics/statistics.ts';

export interface ReportParts extends Pick<EvalReport, 'tool' | 'startedAt' | 'wallMs' | 'skills' | 'isPartial'> {
  readonly results: readonly CaseResult[];
  readonly comparisons?: readonly Comparison[];
  readonly trigger?: TriggerReport;
}

/** Totals and the pass rate are those of the arm `with`: that a case fails without the skill is no failure of anybody. */
export function makeReport(parts: ReportParts): EvalReport {
  const { results, comparisons = [], trigger } = parts;
  const own = results.filter(({ arm }) => arm === 'with');
  const many = (status: CaseStatus): number => own.filter((result) => result.status === status).length;
  const totals = { passed: many('passed'), failed: many('failed'), error: many('error'), skipped: many('skipped') };
  const { tool, startedAt, wallMs, skills, isPartial } = parts;
  return {
    schema: 1,
    tool,
    startedAt,
    wallMs,
    skills,
    models: modelsOf(results),
    results,
    totals,
    passRate: rateOf(totals.passed, totals.passed + totals.failed),
    comparisons,
    ...(trigger === undefined ? {} : { trigger }),
    flaky: flakyOf(own),
    isPartial,
  };
}

/** Of those that were asked: a case that was not run has none. */
function modelsOf(results: readonly CaseResult[]): EvalReport['models'] {
  const asked = results.filter(({ model }) => model.id !== '');
  const models = new Map(asked.map(({ model: { id, way } }) => [JSON.stringify([id, way]), { id, way }]));
  return [...models.values()];
}

/** Cases whose attempts came to different verdicts, in the order of the results. */
export function flakyOf(results: readonly CaseResult[]): readonly string[] {
  const verdicts = new Map<string, Set<CaseStatus>>();
  for (const result of results.filter(hasVerdict)) {
    const known = verdicts.get(result.case);
    if (known === undefined) verdicts.set(result.case, new Set([result.status]));
    else known.add(result.status);
  }
  return [...verdicts].filter(([, statuses]) => statuses.size > 1).map(([id]) => id);
}

export interface Thresholds {
  /** Part of one that must pass; 1. */
  readonly passRate?: number;
  /** Cases that may come to no verdict because something broke; 0. */
  readonly errors?: number;
  /** Of the trigger evaluation, where there is one. */
  readonly precision?: number;
  readonly recall?: number;
  /** Of the first comparison: the difference must be at least so much. */
  readonly difference?: number;
}

/** `invalid`: the numbers mean nothing, because a control was not kept, nothing came to a verdict, or too much broke. */
export type EvalVerdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed'; readonly reasons: readonly string[] }
  | { readonly type: 'invalid'; readonly reasons: readonly string[] };

export function verdictOf(report: EvalReport, thresholds: Thresholds = {}): EvalVerdict {
  const invalid = invalidReasons(report, thresholds);
  if (invalid.length > 0) return { type: 'invalid', reasons: invalid };
  const failed = failedReasons(report, thresholds);
  return failed.length > 0 ? { type: 'failed', reasons: failed } : { type: 'passed' };
}

/** The exit status for CI: 0 passed, 1 failed, 5 where there is no result to believe. */
export function exitOf(report: EvalReport, thresholds: Thresholds = {}): 0 | 1 | 5 {
  const exits = { passed: 0, failed: 1, invalid: 5 } as const;
  return exits[verdictOf(report, thresholds).type];
}

function invalidReasons({ totals, trigger }: EvalReport, { errors = 0 }: Thresholds): readonly string[] {
  const broken = (trigger?.controls ?? []).filter(({ isKept }) => !isKept);
  return [
    ...broken.map(({ name, asked, found }) => `the control ${name} was not kept: ${asked}; ${found}`),
    ...(trigger !== undefined && !trigger.isValid && broken.length === 0
      ? ['the trigger evaluation has no trial, or a control is missing']
      : []),
    ...(totals.passed + totals.failed === 0 ? ['no case came to a verdict'] : []),
    ...(!(totals.error <= errors)
      ? [`${String(totals.error)} came to no verdict because something broke, and at most ${String(errors)} may`]
      : []),
  ];
}

function failedReasons(report: EvalReport, thresholds: Thresholds): readonly string[] {
  const { passRate, trigger, comparisons, isPartial } = report;
  const below = (name: string, found: number, least: number | undefined): readonly string[] => {
    // A bound that is no number holds for nothing.
    if (least === undefined || found >= least) return [];
    return [`${name} is ${found.toFixed(3)} and must be at least ${String(least)}`];
  };
  const [compared] = comparisons;
  return [
    ...below('the pass rate', shareOf(passRate), thresholds.passRate ?? 1),
    ...(trigger === undefined
      ? []
      : [
          ...below('the precision', shareOf(trigger.overall.precision), thresholds.precision),
          ...below('the recall', shareOf(trigger.overall.recall), thresholds.recall),
        ]),
    ...(thresholds.difference !== undefined && compared === undefined ? ['there is no comparison to judge'] : []),
    ...(compared === undefined ? [] : below('the difference', compared.difference.mean, thresholds.difference)),
    ...(isPartial ? ['it was ended before all cases were done'] : []),
  ];
}
