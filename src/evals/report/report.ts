/** Makes the report from results, and its verdict for CI. Errors count as neither passed nor failed. */
import { groupBy, hasVerdict } from './result.ts';
import type { CaseResult, CaseStatus, Comparison, EvalReport, TriggerReport } from './result.ts';
import { rateOf, shareOf } from '../statistics/statistics.ts';

export interface ReportParts extends Pick<EvalReport, 'tool' | 'startedAt' | 'wallMs' | 'skills' | 'isPartial'> {
  readonly results: readonly CaseResult[];
  readonly comparisons?: readonly Comparison[];
  readonly trigger?: TriggerReport;
}

/** Totals and the pass rate cover the arm `with` only; a failure without the skill is expected. */
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

/** A case that did not run has no model. */
function modelsOf(results: readonly CaseResult[]): EvalReport['models'] {
  const asked = results.filter(({ model }) => model.id !== '');
  const models = new Map(asked.map(({ model: { id, way } }) => [JSON.stringify([id, way]), { id, way }]));
  return [...models.values()];
}

/** Cases with different verdicts in different attempts. */
function flakyOf(results: readonly CaseResult[]): readonly string[] {
  const attempts = groupBy(results.filter(hasVerdict), (result) => result.case);
  return [...attempts].filter(([, all]) => all.some(({ status }) => status !== all[0]?.status)).map(([id]) => id);
}

export interface Thresholds {
  /** Minimum pass rate (default: 1). */
  readonly passRate?: number;
  /** Maximum number of errors (default: 0). */
  readonly errors?: number;
  /** Minimum of the trigger evaluation, if there is one. */
  readonly precision?: number;
  readonly recall?: number;
  /** Minimum difference of the first comparison. */
  readonly difference?: number;
}

/** `invalid` means that a control failed, nothing has a verdict, or there are too many errors. */
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

/** The exit code for CI: 0 passed, 1 failed, 5 invalid. */
export function exitOf(report: EvalReport, thresholds: Thresholds = {}): 0 | 1 | 5 {
  const exits = { passed: 0, failed: 1, invalid: 5 } as const;
  return exits[verdictOf(report, thresholds).type];
}

function invalidReasons({ totals, trigger }: EvalReport, { errors = 0 }: Thresholds): readonly string[] {
  const broken = (trigger?.controls ?? []).filter(({ isKept }) => !isKept);
  return [
    ...broken.map(({ name, asked, found }) => `the control ${name} failed: expected ${asked}, found ${found}`),
    ...(trigger !== undefined && !trigger.isValid && broken.length === 0
      ? ['the trigger evaluation has no trials, or a control is missing']
      : []),
    ...(totals.passed + totals.failed === 0 ? ['no case has a verdict'] : []),
    ...(!(totals.error <= errors)
      ? [`${String(totals.error)} cases ended with an error; the limit is ${String(errors)}`]
      : []),
  ];
}

function failedReasons(report: EvalReport, thresholds: Thresholds): readonly string[] {
  const { passRate, trigger, comparisons, isPartial } = report;
  const below = (name: string, found: number, least: number | undefined): readonly string[] => {
    // A threshold of NaN is never met.
    if (least === undefined || found >= least) return [];
    return [`${name} is ${found.toFixed(3)}; the minimum is ${String(least)}`];
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
    ...(thresholds.difference !== undefined && compared === undefined
      ? ['there is no comparison for the difference threshold']
      : []),
    ...(compared === undefined ? [] : below('the difference', compared.difference.mean, thresholds.difference)),
    ...(isPartial ? ['the evaluation was stopped before all cases ran'] : []),
  ];
}
