/** Numbers of a report in words, the same in every form of it: the terminal, Markdown, the page. */
import { ARMS, CASE_STATUSES } from './result.ts';
import type { CaseCost, CaseResult, CaseStatus, Comparison, Control, EvalReport, Rate } from './result.ts';

/** `83 %`; a number that is none is `?`, so that nobody takes it for a score. */
export function percentText(part: number): string {
  return Number.isFinite(part) ? `${String(Math.round(part * 100))} %` : '?';
}

/** `92 % (67 to 99 %)`, or that there is nothing to say. */
export function rateText({ count, of, low, high }: Rate): string {
  if (of === 0) return 'nothing to count';
  return `${percentText(count / of)} (${rangeText(low, high)})`;
}

/** `+25 points`: differences of percentages are no percentages. */
export function pointsText(part: number): string {
  return `${signedNumber(part)} points`;
}

export function differenceText({ mean, low, high }: Comparison['difference']): string {
  return `${pointsText(mean)} (${signedNumber(low)} to ${signedNumber(high)})`;
}

/** As papers write it: never 0. */
export function chanceText(p: number): string {
  if (!Number.isFinite(p)) return '?';
  return p < 0.001 ? '< 0.001' : p.toFixed(p < 0.1 ? 3 : 2);
}

/** `12,345`, whatever the language of the machine. */
export function numberText(count: number): string {
  if (!Number.isFinite(count)) return '?';
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `2026-11-15 10:00 UTC`; what is no time of ours stays as it is. */
export function dateText(time: string): string {
  return time.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}(?:\.\d+)?Z$/, '$1 $2 UTC');
}

/** `1 turn`, `1,200 turns`. */
export function amountText(count: number, one: string): string {
  return `${numberText(count)} ${count === 1 ? one : `${one}s`}`;
}

export function tokensOf({ inputTokens, outputTokens }: CaseCost): number {
  return inputTokens + outputTokens;
}

/** All that a list of results took; estimated where a part of it is. */
export function costOf(results: readonly CaseResult[]): CaseCost {
  const sum = (field: Exclude<keyof CaseCost, 'tokensAreEstimated'>): number =>
    results.reduce((total, { cost }) => total + cost[field], 0);
  return {
    turns: sum('turns'),
    toolCalls: sum('toolCalls'),
    scriptRuns: sum('scriptRuns'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    tokensAreEstimated: results.some(({ cost }) => cost.tokensAreEstimated),
    wallMs: sum('wallMs'),
  };
}

export function totalsText(totals: EvalReport['totals']): string {
  const words = { passed: 'passed', failed: 'failed', error: 'errors', skipped: 'skipped' } as const;
  return CASE_STATUSES.filter((status) => status === 'passed' || totals[status] > 0)
    .map(
      (status) => `${numberText(totals[status])} ${status === 'error' && totals.error === 1 ? 'error' : words[status]}`,
    )
    .join(', ');
}

/** `gpt-x (live)`: which model, and that it was not asked where it was not. */
export function modelsText(models: EvalReport['models']): string {
  return models.length === 0 ? 'none' : models.map(({ id, way }) => (id === way ? id : `${id} (${way})`)).join(', ');
}

/** Gives what tells results of one case apart; empty where there is one arm, or one attempt. */
export function attemptNames({ results }: EvalReport): (result: CaseResult) => string {
  const hasArms = results.some(({ arm }) => arm !== results[0]?.arm);
  const hasAttempts = results.some(({ attempt }) => attempt > 1);
  return ({ arm, attempt }) =>
    [...(hasArms ? [arm] : []), ...(hasAttempts ? [`attempt ${String(attempt)}`] : [])].join(', ');
}

const ORDER = { failed: 0, error: 1, skipped: 2, passed: 3 } as const satisfies Record<CaseStatus, number>;

/** What a person has to look at first; else the order of the suite. */
export function failuresFirst(results: readonly CaseResult[]): readonly CaseResult[] {
  return results.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
}

/** The arms of a report, in our order. */
export function armsOf({ results }: EvalReport): readonly CaseResult['arm'][] {
  return ARMS.filter((arm) => results.some((result) => result.arm === arm));
}

export function brokenControls({ trigger }: EvalReport): readonly Control[] {
  return trigger === undefined ? [] : trigger.controls.filter(({ isKept }) => !isKept);
}

/** No score may be read from it. */
export function isInvalid({ trigger }: EvalReport): boolean {
  return trigger !== undefined && !trigger.isValid;
}

function rangeText(low: number, high: number): string {
  return `${percentText(low).replace(' %', '')} to ${percentText(high)}`;
}

function signedNumber(part: number): string {
  if (!Number.isFinite(part)) return '?';
  const points = Math.round(part * 100);
  return points < 0 ? `−${String(-points)}` : `+${String(points)}`;
}
