/** Texts that the terminal, Markdown and HTML reports share. */
import { codePointAt, countText, durationText, printable } from '#core';
import { numberText, usdText } from './cost-text.ts';
import { measureCosts } from './costs.ts';
import { uncheckedText } from './missing-attempts.ts';
import { isAsked } from './prices.ts';
import type { Quarantine } from '../cases/quarantine.ts';
import {
  CASE_STATUSES,
  groupBy,
  isCounted,
  ZERO_COST,
  type Arm,
  type ArmSummary,
  type CaseCost,
  type CaseResult,
  type CaseStatus,
  type Comparison,
  type Control,
  type EvalReport,
  type FlakyCase,
  type JudgeControl,
  type JudgeReport,
  type Rate,
  type RateChange,
  type SequentialRun,
  type StatusCounts,
  type TriggerReport,
  type TriggerScore,
} from './result.ts';

/** Formats `83 %`; NaN and infinity become `?`. */
export function percentText(part: number): string {
  return Number.isFinite(part) ? `${String(Math.round(part * 100))} %` : '?';
}

/** Formats `92 % (67 to 99 %)`. */
export function rateText({ count, of, low, high }: Rate): string {
  if (of === 0) return 'no data';
  return `${percentText(count / of)} (${percentText(low).replace(' %', '')} to ${percentText(high)})`;
}

/** Formats `0.80 (0.42 to 0.95)`. */
export function f1Text({ f1, f1Interval }: Pick<TriggerScore, 'f1' | 'f1Interval'>): string {
  const within = f1Interval && ` (${f1Interval.low.toFixed(2)} to ${f1Interval.high.toFixed(2)})`;
  return `${f1.toFixed(2)}${within ?? ''}`;
}

function pointsText(part: number): string {
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

/** Formats `2026-11-15 10:00 UTC`; returns other texts unchanged. */
export function dateText(time: string): string {
  return time.replace(/^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):\d{2}(?:\.\d+)?Z$/, '$1 $2 UTC');
}

export function amountText(count: number, one: string): string {
  return countText(count, one, `${one}s`, numberText);
}

export function countTokens({ inputTokens, outputTokens }: CaseCost): number {
  return inputTokens + outputTokens;
}

/** Sums costs; the sum is estimated if one of them is. Money that is unknown for one run that asked a model is unknown for all. */
export function sumCosts(results: readonly CaseResult[]): CaseCost {
  const sum = (field: Exclude<keyof CaseCost, 'tokensAreEstimated'>): number =>
    results.reduce((total, { cost }) => total + (cost[field] ?? 0), 0);
  const isPaid = results.some(({ cost }) => cost.usd !== undefined);
  const isUnknown = results.some((result) => isAsked(result) && result.cost.usd === undefined);
  const isCached = results.some(({ cost }) => cost.cachedTokens !== undefined);
  return {
    turns: sum('turns'),
    toolCalls: sum('toolCalls'),
    scriptRuns: sum('scriptRuns'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    ...(isCached ? { cachedTokens: sum('cachedTokens') } : {}),
    tokensAreEstimated: results.some(({ cost }) => cost.tokensAreEstimated),
    wallMs: sum('wallMs'),
    ...(isPaid && !isUnknown ? { usd: sum('usd') } : {}),
  };
}

const WORDS = { passed: 'passed', failed: 'failed', error: 'errors', skipped: 'skipped' } as const;

export function totalsText(totals: StatusCounts): string {
  return CASE_STATUSES.filter((status) => status === 'passed' || totals[status] > 0)
    .map(
      (status) => `${numberText(totals[status])} ${status === 'error' && totals.error === 1 ? 'error' : WORDS[status]}`,
    )
    .join(', ');
}

export function sumCounts(counts: StatusCounts): number {
  return CASE_STATUSES.reduce((sum, status) => sum + counts[status], 0);
}

/** The arm that is evaluated; empty if nothing ran. */
export function ownArm({ arms }: Pick<EvalReport, 'arms'>): ArmSummary {
  return arms.find(({ arm }) => arm === 'with') ?? NO_ARM;
}

const NO_COUNTS: StatusCounts = { passed: 0, failed: 0, error: 0, skipped: 0 };
const NO_ARM: ArmSummary = {
  arm: 'with',
  totals: NO_COUNTS,
  harness: NO_COUNTS,
  quarantined: NO_COUNTS,
  passRate: { count: 0, of: 0, low: 0, high: 1 },
  skippedChecks: 0,
  cases: 0,
  modelCases: 0,
  cost: ZERO_COST,
  perRun: measureCosts([]),
};

export const ARM_TITLES: Readonly<Record<Arm, string>> = {
  with: 'with the skill',
  without: 'without the skill',
  old: 'old version',
};

/** Whether the pass rate of an arm says something: without the skill, checks that need it cannot pass. */
export function isRated({ arm }: ArmSummary, report: EvalReport): boolean {
  return arm !== 'without' && !isInvalid(report);
}

/** Formats the numbers of an arm: results, harness checks, and the rate with what it leaves out. */
export function armTexts({ totals, harness, quarantined, passRate, skippedChecks, cases, cost }: ArmSummary) {
  const left = [
    ...(totals.skipped === 0 ? [] : [`${amountText(totals.skipped, 'result')} skipped`]),
    ...(skippedChecks === 0 ? [] : [`${amountText(skippedChecks, 'check')} not judged`]),
  ];
  const checks = sumCounts(harness);
  const generated = `, ${amountText(checks, 'harness check')} (${totalsText(harness)}; not rated)`;
  const flaky = sumCounts(quarantined);
  const uncounted = `, ${numberText(flaky)} in quarantine (${totalsText(quarantined)})`;
  const { usd } = cost;
  return {
    results: `${amountText(sumCounts(totals) + checks + flaky, 'result')}: ${totalsText(totals)}${checks === 0 ? '' : generated}${flaky === 0 ? '' : uncounted}`,
    rate: [
      rateText(passRate),
      `of ${amountText(passRate.of, 'verdict')}${passRate.of > cases ? ` on ${amountText(cases, 'case')}` : ''}`,
      ...left,
    ].join(', '),
    cost: `${cost.tokensAreEstimated ? 'about ' : ''}${numberText(countTokens(cost))} tokens, ${amountText(cost.toolCalls, 'tool call')}, ${durationText(cost.wallMs)} in runs${usd === undefined ? '' : `, ${usdText(usd)}`}`,
  };
}

const MOST_LEFT_OUT = 1 / 3;

/** Why the evaluation is incomplete: more than a third of its results were skipped or are in quarantine, or checks did not run. */
export function incompleteText(report: EvalReport): string | undefined {
  const { totals, quarantined } = ownArm(report);
  const flaky = sumCounts(quarantined);
  const all = sumCounts(totals) + flaky;
  const left = totals.skipped + flaky;
  const why = ['were skipped', ...(flaky === 0 ? [] : ['are in quarantine'])].join(' or ');
  const texts = [
    left > all * MOST_LEFT_OUT ? `${numberText(left)} of ${amountText(all, 'result')} ${why}` : undefined,
    uncheckedText(report),
  ].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** What is said about a report as a whole below its arms; `isOdd` facts need attention. */
export function listFacts(report: EvalReport, shown: (names: readonly string[]) => string) {
  const { arms, models, flaky, isPartial, results, sequential, judge } = report;
  const cached = results.filter(({ isCached }) => isCached).length;
  const { cases, modelCases } = ownArm(report);
  const tested = `${numberText(modelCases)} of ${amountText(cases, 'case')} tested a model`;
  const incomplete = incompleteText(report);
  const quarantined = quarantineTexts(results);
  const fromCache = cached === 0 ? '' : `, ${amountText(cached, 'result')} from the cache`;
  const facts: readonly (readonly [label: string, text: string | undefined, isOdd?: boolean])[] = [
    ['model', shown([modelsText(models)])],
    ['tested', cases === 0 || modelCases === cases ? undefined : tested],
    ['time', `${durationText(report.wallMs)}${fromCache}`],
    ['stopped', sequential && sequentialText(sequential)],
    ['judge', judge && shown([judgeText(judge)]), judge !== undefined && isDoubtful(judge)],
    ['flaky', flaky.length === 0 ? undefined : shown(flaky.map((one) => flakyText(one, arms.length > 1))), true],
    ['quarantine', quarantined.length === 0 ? undefined : shown(quarantined), true],
    ['incomplete', incomplete && shown([incomplete]), true],
    ['partial', isPartial ? 'stopped before all cases ran' : undefined, true],
  ];
  return facts.flatMap(([label, text, isOdd = false]) => (text === undefined ? [] : [{ label, text, isOdd }]));
}

/** A judge that is often wrong, or whose verdicts follow the length of answers, is not believed without a look at them. */
function isDoubtful({ controls, agreement, lengthCorrelation = 0 }: JudgeReport): boolean {
  const isWrong = controls.some(({ isKept }) => !isKept) || agreement.count < agreement.of * 0.8;
  return isWrong || Math.abs(lengthCorrelation) >= 0.5;
}

function judgeText({ id, controls, agreement, lengthCorrelation, cost }: JudgeReport): string {
  const kept = controls.filter(({ isKept }) => isKept).length;
  return [
    `${id}: ${numberText(kept)} of ${amountText(controls.length, 'control')} kept`,
    `agreement with labels ${agreement.of === 0 ? 'unknown (no labelled example)' : rateText(agreement)}`,
    ...(lengthCorrelation === undefined ? [] : [`correlation with length ${lengthCorrelation.toFixed(2)}`]),
    `${amountText(cost.calls, 'call')}, ${numberText(cost.inputTokens + cost.outputTokens)} tokens`,
  ].join(', ');
}

function sequentialText({ rounds, most, detect }: SequentialRun): string {
  const why = rounds < most ? 'decided' : 'limit reached';
  return `after ${numberText(rounds)} of ${amountText(most, 'repetition')} (${why}; looking for ${pointsText(detect)})`;
}

export function flakyText({ case: id, arm, rate, proposal }: FlakyCase, hasArms: boolean): string {
  const passes = `${id}${hasArms ? ` (${arm})` : ''} passes ${numberText(rate.count)} of ${numberText(rate.of)}`;
  return proposal === undefined ? passes : `${passes}: fix it, or add ${quarantineText(proposal)}`;
}

/** As it is written in a case file. */
export function quarantineText({ until, passed, of }: Quarantine): string {
  return `quarantine: { until: ${until}, passed: ${String(passed)}, of: ${String(of)} }`;
}

/** How the flaky cases of the arm with the skill did now. */
function quarantineTexts(results: readonly CaseResult[]): readonly string[] {
  const own = results.filter((result) => result.arm === 'with' && !isCounted(result));
  return [...groupBy(own, (result) => result.case)].map(([id, attempts]) => {
    const { until = '', passed = 0, of = 0 } = attempts[0]?.quarantine ?? {};
    const now = attempts.filter(({ status }) => status === 'passed').length;
    const steady = attempts.length >= of && (now === 0 || now === attempts.length) ? '; steady now: remove it' : '';
    return `${id} until ${until}: passes ${numberText(now)} of ${numberText(attempts.length)} (was ${numberText(passed)} of ${numberText(of)})${steady}`;
  });
}

export function modelsText(models: EvalReport['models']): string {
  return models.length === 0 ? 'none' : models.map(({ id, way }) => (id === way ? id : `${id} (${way})`)).join(', ');
}

/** Returns a function that names the arm and attempt of a result where the report has several. */
export function attemptNames({ results }: EvalReport): (result: CaseResult) => string {
  const hasArms = results.some(({ arm }) => arm !== results[0]?.arm);
  const hasAttempts = results.some(({ attempt }) => attempt > 1);
  return ({ arm, attempt, quarantine }) =>
    [
      ...(hasArms ? [arm] : []),
      ...(hasAttempts ? [`attempt ${String(attempt)}`] : []),
      ...(quarantine === undefined ? [] : [`in quarantine until ${quarantine.until}`]),
    ].join(', ');
}

const ORDER = { failed: 0, error: 1, skipped: 2, passed: 3 } as const satisfies Record<CaseStatus, number>;

export function failuresFirst(results: readonly CaseResult[]): readonly CaseResult[] {
  return results.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
}

/** Failures and errors. A baseline that fails is counted in its arm, and says nothing against the skill; its errors are missing attempts. What counts comes first. */
export function listFailures({ results }: EvalReport): readonly CaseResult[] {
  return failuresFirst(results)
    .filter(({ arm, status }) => status === 'error' || (status === 'failed' && arm === 'with'))
    .toSorted((a, b) => Number(isCounted(b)) - Number(isCounted(a)));
}

export function brokenJudgeControls({ judge }: EvalReport): readonly JudgeControl[] {
  return judge === undefined ? [] : judge.controls.filter(({ isKept }) => !isKept);
}

export function brokenControls({ trigger }: EvalReport): readonly Control[] {
  return trigger === undefined ? [] : trigger.controls.filter(({ isKept }) => !isKept);
}

/** Why there are no scores: a control failed, or no outcome was judged in a comparison. Empty for a valid evaluation. */
export function invalidLines(report: EvalReport): readonly string[] {
  const { trigger, uncompared } = report;
  const lines = [
    ...brokenControls(report).map(({ name, asked, found }) => `${name}: expected ${asked}, found ${found}`),
    ...brokenJudgeControls(report).map(({ name, found }) => `the judge failed its control ${name}: ${found}`),
    ...uncompared.map(({ of, against, reason }) => `${ARM_TITLES[of]} against ${ARM_TITLES[against]}: ${reason}`),
  ];
  return lines.length === 0 && trigger?.isValid === false ? ['the trigger evaluation has no trials'] : lines;
}

/** What the overview of a report says about it as a whole. `invalid` and `rated` are those of `invalidLines` and `isRated`. */
export function summarizeReport(report: EvalReport) {
  return {
    own: ownArm(report),
    cost: sumCosts(report.results),
    invalid: invalidLines(report),
    rated: report.arms.filter((arm) => isRated(arm, report)),
  };
}

function isInvalid(report: EvalReport): boolean {
  return invalidLines(report).length > 0;
}

export function invalidTitle(report: EvalReport): string {
  if (report.trigger?.isValid === false || brokenJudgeControls(report).length > 0)
    return 'a control of the evaluation failed; there is no score';
  return report.uncompared.some(({ reason }) => !reason.startsWith('no outcome was judged'))
    ? 'the arms cannot be compared; there is no score'
    : 'no outcome was judged; there is no score';
}

/** Formats `+25` or `−3` for a part of 1. */
export function signedNumber(part: number): string {
  if (!Number.isFinite(part)) return '?';
  const points = Math.round(part * 100);
  return points < 0 ? `−${String(-points)}` : `+${String(points)}`;
}

/** A single run of a live model proves little, so that the rates decide. */
export function liveText({ cases, before, after, p }: RateChange): string {
  const verdict = p < 0.05 ? 'a regression' : 'no clear regression';
  return `${countText(cases, 'case')}: ${rateText(before)} to ${rateText(after)}, p of a fall ${chanceText(p)}: ${verdict}`;
}

export function confusedPairs({ confusion }: TriggerReport): TriggerReport['confusion'] {
  return confusion.filter(({ wanted, took }) => wanted !== took).toSorted((a, b) => b.count - a.count);
}

export function comparisonTexts(comparison: Comparison) {
  const { cases, pairs, passed, better, worse, smallestVisible, of, against } = comparison;
  const { differing, used, missing, endedEarly, merged } = comparison;
  const facts: readonly (string | undefined)[] = [
    differing.length === 0 ? undefined : `the arms differ in: ${differing.join(', ')}`,
    used && `the skill was loaded in ${numberText(used.count)} of ${amountText(used.of, 'attempt')}`,
    missing.of + missing.against === 0
      ? undefined
      : `missing: ${of} ${numberText(missing.of)}, ${against} ${numberText(missing.against)} of ${numberText(pairs)} (the interval holds whatever they would have been)`,
    endedEarly.by.length === 0
      ? undefined
      : `ended by ${endedEarly.by.join(', ')}: ${of} ${numberText(endedEarly.of)}, ${against} ${numberText(endedEarly.against)} of ${numberText(pairs)} (failed; the interval holds also if they had passed)`,
    merged.length === 0
      ? undefined
      : `near-identical, counted once: ${merged.map((ids) => ids.join(' + ')).join(', ')}`,
  ];
  return {
    cases: countText(cases, 'different case'),
    facts: facts.filter((fact) => fact !== undefined),
    passed: `${of} ${numberText(passed.of)}, ${against} ${numberText(passed.against)} of ${amountText(pairs, 'attempt')} passed`,
    better: numberText(better),
    worse: numberText(worse),
    alike: numberText(cases - better - worse),
    detectable: percentText(smallestVisible).replace(' %', ' points'),
    excluded: excludedText(comparison),
  };
}

/** Names what the comparison leaves out; empty if it leaves out nothing. */
function excludedText({ excluded: { checks, cases } }: Comparison): string {
  const reasons = [...new Set(cases.map(({ reason }) => reason))].map(
    (reason) => `${countText(cases.filter((one) => one.reason === reason).length, 'case')} (${reason})`,
  );
  const kinds = checks.map(({ kind, count }) => countText(count, `${kind} check`));
  return [...reasons, ...kinds].join(', ');
}

export const NOT_USED = 'not used: no effect can be claimed';

/** The interval excludes 0 exactly if the test does. */
export function verdictOfDifference({
  difference,
  p,
  used,
}: Comparison): 'better' | 'worse' | 'no clear difference' | typeof NOT_USED {
  if (used?.count === 0) return NOT_USED;
  if (p >= 0.05) return 'no clear difference';
  return difference.low > 0 ? 'better' : 'worse';
}

export function verdictText(comparison: Comparison): string {
  const verdict = verdictOfDifference(comparison);
  return verdict === NOT_USED ? verdict : `${verdict} on these cases`;
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
