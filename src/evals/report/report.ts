/** Makes the report from results, and its verdict for CI. Errors count as neither passed nor failed. */
import { compareArms, isComparison } from './compare-arms.ts';
import {
  amountText,
  brokenControls,
  brokenJudgeControls,
  sumCosts,
  ownArm,
  chanceText,
  verdictOfDifference,
  NOT_USED,
} from './report-text.ts';
import {
  addJudgeCosts,
  ARMS,
  didRun,
  groupBy,
  hasVerdict,
  isCounted,
  type Arm,
  type ArmSummary,
  type CaseResult,
  type Comparison,
  type CaseStatus,
  type EvalReport,
  type FlakyCase,
  type JudgeReport,
  type SequentialRun,
  type StatusCounts,
  type TriggerReport,
} from './result.ts';
import { countText, defined, durationText } from '#core';
import { missingText } from './missing-attempts.ts';
import { usdText, type AmountText } from './cost-text.ts';
import { measureCosts } from './costs.ts';
import type { Thresholds } from './thresholds.ts';
import type { Measure, ModelPrice } from './measures.ts';
import { priceResults, type ConfiguredPrices } from './prices.ts';
import { VERSION } from '../../version.ts';
import { ratePasses } from './same-requests.ts';
import { proposeQuarantine } from '../cases/quarantine.ts';
import { countLooks } from '../statistics/case-differences.ts';
import { computeRate, computeShare, correlation } from '../statistics/statistics.ts';

/** What writes a report. */
export const TOOL = `skillwright ${VERSION}`;

export interface ReportParts extends Pick<
  EvalReport,
  | 'tool'
  | 'startedAt'
  | 'wallMs'
  | 'skills'
  | 'isPartial'
  | 'verdict'
  | 'thresholds'
  | 'missing'
  | 'leftOut'
  | 'suiteErrors'
> {
  readonly results: readonly CaseResult[];
  /** Absent in reports of earlier versions. */
  readonly prices?: readonly ModelPrice[];
  readonly trigger?: TriggerReport;
  readonly sequential?: SequentialRun;
  readonly judge?: Omit<JudgeReport, 'cost' | 'lengthCorrelation'>;
}

/** Everything that follows from the results is computed here, also when a stored report is read. */
export function makeReport(parts: ReportParts): EvalReport {
  const { tool, startedAt, wallMs, skills, isPartial, results, trigger, sequential } = parts;
  const counted = results.filter(isCounted);
  const arms = ARMS.filter((arm) => results.some((result) => result.arm === arm));
  const looks = sequential === undefined ? 1 : countLooks(sequential.most);
  const compared = arms
    .filter((arm) => arm !== 'with' && arms.includes('with'))
    .map((against) => compareArms(counted, { of: 'with', against, looks }))
    .map((one): typeof one => {
      const reason = reasonNotToCompare(parts);
      if (reason === undefined) return one;
      const { of, against, excluded } = one;
      return { of, against, reason, excluded };
    });
  return {
    schema: 1,
    ...defined({
      verdict: parts.verdict,
      thresholds: parts.thresholds,
      missing: parts.missing?.length === 0 ? undefined : parts.missing,
      leftOut: parts.leftOut,
      suiteErrors: parts.suiteErrors,
    }),
    tool,
    startedAt,
    wallMs,
    skills,
    models: listModels(results),
    prices: parts.prices ?? [],
    results,
    arms: arms.map((arm) => summarizeArm(arm, results)),
    comparisons: compared.filter(isComparison),
    uncompared: compared.flatMap((one) => (isComparison(one) ? [] : [one])),
    trigger,
    flaky: arms.flatMap((arm) => findFlakyCases(arm, counted, startedAt)),
    sequential,
    judge: parts.judge && reportJudge(parts.judge, results),
    isPartial,
  };
}

/** Every planned attempt counts, also one that did not run; and a judge that is wrong about known answers says nothing. */
function reasonNotToCompare({ isPartial, missing = [], judge, results }: ReportParts): string | undefined {
  if (missing.length > 0) return 'not all planned attempts have a record';
  if (isPartial) return 'stopped before all planned attempts ran (--resume goes on)';
  const wrong = judge?.controls.find(({ isKept }) => !isKept);
  const isJudged = results.some(({ checks }) => checks.some(({ kind }) => kind === 'judge'));
  return wrong === undefined || !isJudged ? undefined : `the judge failed its control ${wrong.name}`;
}

function reportJudge(judge: NonNullable<ReportParts['judge']>, results: readonly CaseResult[]): JudgeReport {
  const { id, controls, agreement, controlCost } = judge;
  const own = results.flatMap(({ isCached, judged }) => (isCached || judged === undefined ? [] : [judged]));
  const points = results.flatMap(({ answer, checks }): readonly (readonly [number, number])[] => {
    const lines = checks.filter((check) => check.kind === 'judge' && hasVerdict(check));
    const held = lines.filter(({ status }) => status === 'passed').length;
    return lines.length === 0 ? [] : [[answer.length, held / lines.length]];
  });
  return {
    id,
    controls,
    agreement,
    controlCost,
    ...defined({ lengthCorrelation: correlation(points) }),
    cost: addJudgeCosts([controlCost, ...own]),
  };
}

/** `prices` are those of the configuration, which replace the built-in ones. */
export function finishReport(
  startedAt: Date,
  parts: Omit<ReportParts, 'tool' | 'startedAt' | 'wallMs' | 'skills' | 'prices'> &
    Partial<Pick<ReportParts, 'skills'>> & { readonly prices?: ConfiguredPrices },
): EvalReport {
  const wallMs = Date.now() - startedAt.getTime();
  return makeReport({
    tool: TOOL,
    startedAt: startedAt.toISOString(),
    wallMs,
    skills: [],
    ...parts,
    ...priceResults(parts.results, parts.prices),
  });
}

function summarizeArm(arm: Arm, results: readonly CaseResult[]): ArmSummary {
  const all = results.filter((result) => result.arm === arm);
  const counted = all.filter(isCounted);
  const own = counted.filter(({ isHarnessCheck }) => isHarnessCheck !== true);
  const totals = countStatuses(own);
  const casesIn = (some: readonly CaseResult[]): number => new Set(some.map((result) => result.case)).size;
  return {
    arm,
    totals,
    harness: countStatuses(counted.filter(({ isHarnessCheck }) => isHarnessCheck === true)),
    quarantined: countStatuses(all.filter((result) => !isCounted(result))),
    passRate: ratePasses(own),
    skippedChecks: own
      .filter(hasVerdict)
      .reduce((sum, { checks }) => sum + checks.filter(({ status }) => status === 'skipped').length, 0),
    cases: casesIn(counted),
    modelCases: casesIn(counted.filter((result) => hasVerdict(result) && result.model.way !== 'scripted')),
    cost: sumCosts(all),
    perRun: measureCosts(counted),
  };
}

function countStatuses(results: readonly CaseResult[]): StatusCounts {
  const many = (status: CaseStatus): number => results.filter((result) => result.status === status).length;
  return { passed: many('passed'), failed: many('failed'), error: many('error'), skipped: many('skipped') };
}

function listModels(results: readonly CaseResult[]): EvalReport['models'] {
  const asked = results.filter(didRun);
  const models = new Map(asked.map(({ model: { id, way } }) => [JSON.stringify([id, way]), { id, way }]));
  return [...models.values()];
}

function findFlakyCases(arm: Arm, results: readonly CaseResult[], startedAt: string): readonly FlakyCase[] {
  const own = results.filter((result) => result.arm === arm && hasVerdict(result));
  return [...groupBy(own, (result) => result.case)].flatMap(([id, attempts]) => {
    const passed = attempts.filter(({ status }) => status === 'passed').length;
    if (passed === 0 || passed === attempts.length) return [];
    // The baseline is no test of the skill.
    const proposal = arm === 'with' ? proposeQuarantine(passed, attempts.length, startedAt) : undefined;
    return [{ case: id, arm, rate: computeRate(passed, attempts.length), ...defined({ proposal }) }];
  });
}

type Judgement =
  | { readonly type: 'passed' }
  /** `invalid` means that a control failed, no outcome was judged, no case tested anything, or there are too many errors. */
  | { readonly type: 'failed' | 'invalid'; readonly reasons: readonly string[] };

/** What the results say, whether they are complete or not. A suite passes only if each of its skills does. */
export function judgeResults(report: EvalReport, thresholds: Thresholds): Judgement {
  const whole = verdictOfWhole(report, thresholds);
  if (whole.type !== 'passed') return whole;
  const skills = splitBySkill(report).flatMap(([skill, own]) => {
    const verdict = verdictOfWhole(own, thresholds);
    return verdict.type === 'passed' ? [] : [{ type: verdict.type, reason: `${skill}: ${verdict.reasons.join('; ')}` }];
  });
  // A skill without a verdict, such as one that needs a model, leaves the evaluation incomplete.
  const failed = skills.filter(({ type }) => type === 'failed').map(({ reason }) => reason);
  return failed.length > 0 ? { type: 'failed', reasons: failed } : whole;
}

/** A report of each evaluated skill with its own cases. */
export function splitBySkill(report: EvalReport): readonly (readonly [string, EvalReport])[] {
  const groups = [...groupBy(report.results, ({ skill = '' }) => skill)].filter(([skill]) => skill !== '');
  return groups.map(([skill, results]) => [skill, makeReport({ ...report, leftOut: undefined, results })] as const);
}

/** The verdict on all results together. */
function verdictOfWhole(report: EvalReport, thresholds: Thresholds): Judgement {
  const invalid = invalidReasons(report, thresholds);
  if (invalid.length > 0) return { type: 'invalid', reasons: invalid };
  const failed = failedReasons(report, thresholds);
  return failed.length > 0 ? { type: 'failed', reasons: failed } : { type: 'passed' };
}

function invalidReasons(report: EvalReport, { errors = 0 }: Thresholds): readonly string[] {
  const { trigger, uncompared, suiteErrors = [] } = report;
  const { totals, harness } = ownArm(report);
  const broken = brokenControls(report);
  const failures = totals.error + harness.error;
  if (suiteErrors.length > 0) return suiteErrors;
  return [
    ...broken.map(({ name, asked, found }) => `the control ${name} failed: expected ${asked}, found ${found}`),
    ...(trigger !== undefined && !trigger.isValid && broken.length === 0
      ? ['the trigger evaluation has no trials, or a control is missing']
      : []),
    ...brokenJudgeControls(report).map(({ name, found }) => `the judge failed its control ${name}: ${found}`),
    ...uncompared.map(({ of, against, reason }) => `${of} against ${against}: ${reason}`),
    ...(totals.passed + totals.failed > 0
      ? []
      : harness.passed + harness.failed > 0
        ? ['no case tested a model: harness checks have generated answers; pass --model NAME']
        : ['no case has a verdict']),
    ...[missingText(report)].filter((text) => text !== undefined),
    ...(!(failures <= errors)
      ? [`${countText(failures, 'case')} ended with an error; the limit is ${String(errors)}`]
      : []),
  ];
}

function failedReasons(report: EvalReport, thresholds: Thresholds): readonly string[] {
  const { trigger, comparisons, isPartial } = report;
  const { precision, recall, difference, seconds } = thresholds;
  const mostMs = seconds === undefined ? undefined : seconds * 1000;
  const { passRate, harness, perRun } = ownArm(report);
  const below = (name: string, found: number, least: number | undefined): readonly string[] => {
    // A threshold of NaN is never met.
    if (least === undefined || found >= least) return [];
    return [`${name} is ${found.toFixed(3)}; the minimum is ${String(least)}`];
  };
  const [compared] = comparisons;
  return [
    ...below('the pass rate', computeShare(passRate), thresholds.passRate ?? 1),
    ...(harness.failed === 0 ? [] : [`${countText(harness.failed, 'harness check')} failed`]),
    ...(trigger === undefined ? [] : below('the precision', computeShare(trigger.overall.precision), precision)),
    ...(trigger === undefined ? [] : below('the recall', computeShare(trigger.overall.recall), recall)),
    ...(difference !== undefined && compared === undefined
      ? ['there is no comparison for the difference threshold']
      : []),
    ...(compared === undefined ? [] : below('the difference', compared.difference.mean, difference)),
    ...(compared === undefined ? [] : unprovenDifference(compared, difference)),
    ...(comparisons.some((one) => verdictOfDifference(one) === 'worse') ? ['results are worse with the skill'] : []),
    ...aboveMost('tokens', perRun.tokens, thresholds.tokens, (count) => amountText(count, 'token')),
    ...aboveMost('money', perRun.usd, thresholds.usd, usdText),
    ...aboveMost('latency', perRun.wallMs, mostMs, durationText),
    ...(isPartial ? ['the evaluation was stopped before all cases ran'] : []),
  ];
}

/** A mean above the threshold proves nothing if chance explains it. */
function unprovenDifference(compared: Comparison, least: number | undefined): readonly string[] {
  const effect = verdictOfDifference(compared);
  if (least === undefined || effect === 'better') return [];
  if (effect === NOT_USED) return [`the skill was ${NOT_USED}`];
  return least > 0 ? [`the difference is not proven: ${effect} (p ${chanceText(compared.p)})`] : [];
}

/** A mean of some cases may hide the expensive ones, so that all must be known. */
function aboveMost(name: string, { mean, cases, of }: Measure, most: number | undefined, format: AmountText) {
  if (most === undefined || of === 0) return [];
  if (mean === undefined || cases < of)
    return [`the ${name} threshold cannot be checked: known for ${String(cases)} of ${countText(of, 'case')}`];
  // A threshold of NaN is never met.
  return mean <= most ? [] : [`a run needs ${format(mean)} on average; the maximum is ${format(most)}`];
}
