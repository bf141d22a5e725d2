/** Texts that the terminal, Markdown and HTML reports share. */
import { codePointAt } from '../../core/text/code-point.ts';
import { countText, durationText } from '../../core/text/line-text.ts';
import { printable } from '../../core/text/text.ts';
import { ARMS, CASE_STATUSES } from './result.ts';
import type {
  CaseCost,
  CaseResult,
  CaseStatus,
  Comparison,
  Control,
  EvalReport,
  Rate,
  TriggerReport,
} from './result.ts';

/** Formats `83 %`; NaN and infinity become `?`. */
export function percentText(part: number): string {
  return Number.isFinite(part) ? `${String(Math.round(part * 100))} %` : '?';
}

/** Formats `92 % (67 to 99 %)`. */
export function rateText({ count, of, low, high }: Rate): string {
  if (of === 0) return 'no data';
  return `${percentText(count / of)} (${rangeText(low, high)})`;
}

/** Formats a difference of percentages as `+25 points`. */
export function pointsText(part: number): string {
  return `${signedNumber(part)} points`;
}

export function differenceText({ mean, low, high }: Comparison['difference']): string {
  return `${pointsText(mean)} (${signedNumber(low)} to ${signedNumber(high)})`;
}

/** Formats a p-value, which is never 0. */
export function chanceText(p: number): string {
  if (!Number.isFinite(p)) return '?';
  return p < 0.001 ? '< 0.001' : p.toFixed(p < 0.1 ? 3 : 2);
}

/** Formats `12,345` independent of the locale. */
export function numberText(count: number): string {
  if (!Number.isFinite(count)) return '?';
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats `2026-11-15 10:00 UTC`; returns other texts unchanged. */
export function dateText(time: string): string {
  return time.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}(?:\.\d+)?Z$/, '$1 $2 UTC');
}

/** Formats `1 turn` or `1,200 turns`. */
export function amountText(count: number, one: string): string {
  return `${numberText(count)} ${count === 1 ? one : `${one}s`}`;
}

export function tokensOf({ inputTokens, outputTokens }: CaseCost): number {
  return inputTokens + outputTokens;
}

/** Sums costs; the sum is estimated if one of them is. */
export function costOf(results: readonly CaseResult[]): CaseCost {
  const sum = (field: Exclude<keyof CaseCost, 'tokensAreEstimated'>): number =>
    results.reduce((total, { cost }) => total + (cost[field] ?? 0), 0);
  return {
    turns: sum('turns'),
    toolCalls: sum('toolCalls'),
    scriptRuns: sum('scriptRuns'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    tokensAreEstimated: results.some(({ cost }) => cost.tokensAreEstimated),
    wallMs: sum('wallMs'),
    ...(results.some(({ cost }) => cost.usd !== undefined) ? { usd: sum('usd') } : {}),
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

/** Formats `gpt-x (live)`. */
export function modelsText(models: EvalReport['models']): string {
  return models.length === 0 ? 'none' : models.map(({ id, way }) => (id === way ? id : `${id} (${way})`)).join(', ');
}

/** Returns a function that names the arm and attempt of a result where the report has several. */
export function attemptNames({ results }: EvalReport): (result: CaseResult) => string {
  const hasArms = results.some(({ arm }) => arm !== results[0]?.arm);
  const hasAttempts = results.some(({ attempt }) => attempt > 1);
  return ({ arm, attempt }) =>
    [...(hasArms ? [arm] : []), ...(hasAttempts ? [`attempt ${String(attempt)}`] : [])].join(', ');
}

const ORDER = { failed: 0, error: 1, skipped: 2, passed: 3 } as const satisfies Record<CaseStatus, number>;

/** Sorts failures first and keeps the order of the suite otherwise. */
export function failuresFirst(results: readonly CaseResult[]): readonly CaseResult[] {
  return results.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
}

export function armsOf({ results }: EvalReport): readonly CaseResult['arm'][] {
  return ARMS.filter((arm) => results.some((result) => result.arm === arm));
}

export function brokenControls({ trigger }: EvalReport): readonly Control[] {
  return trigger === undefined ? [] : trigger.controls.filter(({ isKept }) => !isKept);
}

/** A control failed, so there are no scores. */
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

/** The confused pairs of skills, most frequent first. */
export function confusedPairs({ confusion }: TriggerReport): TriggerReport['confusion'] {
  return confusion.filter(({ wanted, took }) => wanted !== took).toSorted((a, b) => b.count - a.count);
}

export function comparisonTexts({ pairs, better, worse, smallestVisible, tokens, wallMs }: Comparison) {
  return {
    pairs: countText(pairs, 'pair'),
    better: numberText(better),
    worse: numberText(worse),
    alike: numberText(pairs - better - worse),
    detectable: percentText(smallestVisible).replace(' %', ' points'),
    tokens: `${numberText(tokens.of)} against ${numberText(tokens.against)}`,
    time: `${durationText(wallMs.of)} against ${durationText(wallMs.against)}`,
  };
}

/** Matches everything except letters, digits and harmless punctuation. */
const ACTIVE = /[^\p{L}\p{M}\p{N} ,;/…%]/gu;

/**
 * Escapes untrusted text for one line of Markdown: no markup, table cell, link, mention or issue number. Uses numeric entities, because
 * autolinks ignore backslashes.
 */
export function markdownText(text: string, limit: number): string {
  const line = printable(text.length > limit * 4 ? text.slice(0, limit * 4) : text).trim();
  const cut = [...line].slice(0, limit).join('');
  const shown = cut.length < line.length ? `${cut}…` : cut;
  return shown.replaceAll(ACTIVE, (character) => `&#${String(codePointAt(character, 0))};`);
}
