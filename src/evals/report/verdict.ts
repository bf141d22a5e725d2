/** The verdict of a report: whether it can be believed, what it says of the skill, and why. Every format shows it first. */
import {
  brokenControls,
  differenceText,
  incompleteText,
  invalidLines,
  invalidTitle,
  ownArm,
  sumCounts,
  totalsText,
  verdictOfDifference,
} from './report-text.ts';
import { listDoubts } from './arm-doubts.ts';
import { numberText } from './cost-text.ts';
import { listQuarantineDoubts } from './quarantine-doubts.ts';
import { countLeftOut, leftOutText } from './left-out.ts';
import { missingText } from './missing-attempts.ts';
import { judgeResults, splitBySkill } from './report.ts';
import type { Thresholds } from './thresholds.ts';
import type { EvalReport, Verdict } from './result.ts';
import { defined } from '#core';

/** The verdict that was decided with the thresholds of the evaluation, otherwise the one with the default thresholds. */
export function findVerdict(report: EvalReport): Verdict {
  return report.verdict ?? makeVerdict(report, {}, []);
}

/** Decides the verdict and keeps it with the report. `warnings` are those of the suite. A report that cannot be believed claims no effect in any format. */
export function withVerdict(report: EvalReport, thresholds: Thresholds, warnings: readonly string[]): EvalReport {
  const verdict = makeVerdict(report, thresholds, warnings);
  return { ...withoutClaims(report, verdict), thresholds, verdict };
}

function withoutClaims(report: EvalReport, { validity }: Pick<Verdict, 'validity'>): EvalReport {
  return validity === 'invalid' ? { ...report, comparisons: [] } : report;
}

export type EvalVerdict =
  | { readonly type: 'passed' }
  | { readonly type: 'failed' | 'incomplete' | 'invalid'; readonly reasons: readonly string[] };

/** Decides whether a report passed, failed, or cannot be believed, because it is incomplete or invalid. */
export function verdictOf(report: EvalReport, thresholds: Thresholds = {}): EvalVerdict {
  const { validity, reasons } = judgeWhole(report, thresholds);
  return validity === 'incomplete' ? { type: validity, reasons } : judgeResults(report, thresholds);
}

/** The exit code for CI: 0 passed, 1 failed, 5 incomplete or invalid. */
export function exitOf(report: EvalReport, thresholds: Thresholds = {}): 0 | 1 | 5 {
  const exits = { passed: 0, failed: 1, incomplete: 5, invalid: 5 } as const;
  return exits[verdictOf(report, thresholds).type];
}

const STOPPED = 'the evaluation was stopped before all cases ran';

function makeVerdict(report: EvalReport, thresholds: Thresholds, warnings: readonly string[]): Verdict {
  const whole = judgeWhole(report, thresholds);
  const claimed = withoutClaims(report, whole);
  return {
    ...whole,
    warnings: [
      ...new Set([
        ...[leftOutText(report)].filter((text) => text !== undefined),
        ...listDoubts(claimed),
        ...listQuarantineDoubts(claimed),
        ...listJudgeDoubts(report),
        ...loweredThresholds(report, thresholds),
        ...warnings,
      ]),
    ],
  };
}

/** The whole evaluation and each of its skills. */
function judgeWhole(report: EvalReport, thresholds: Thresholds): Omit<Verdict, 'warnings'> {
  const whole = judgeReport(report, thresholds);
  const skills = judgeSkills(report, thresholds)?.map(
    // An error of one skill may be an error of all: the effect on the others is shown by an evaluation of them alone.
    ({ effect, interval, ...one }) =>
      whole.validity === 'invalid' ? one : { ...one, ...defined({ effect, interval }) },
  );
  const unjudged = skills?.filter(({ validity }) => validity === 'invalid').map(({ skill }) => skill) ?? [];
  const isOpen = whole.validity === 'valid' && unjudged.length > 0;
  return {
    ...whole,
    ...(isOpen ? { validity: 'incomplete', reasons: [...whole.reasons, `no verdict on ${unjudged.join(', ')}`] } : {}),
    ...defined({ skills }),
  };
}

/** A model tends to agree with itself. A control that is kept may still have found something. */
function listJudgeDoubts({ judge, models }: EvalReport): readonly string[] {
  const isOwn = models.some(({ id, way }) => id === judge?.id && way !== 'scripted');
  const found = judge?.controls.filter((control) => control.isKept && control.found !== '') ?? [];
  return [
    ...(isOwn ? ['the judge is the model whose answers it grades: pass another one to --judge'] : []),
    ...found.map(
      (control) => `the judge, ${control.name}: ${control.found}; name in the rubric what the request needs`,
    ),
  ];
}

/** Names the thresholds without which the evaluation would not have passed. */
function loweredThresholds(report: EvalReport, thresholds: Thresholds): readonly string[] {
  const { passRate = 1, errors = 0, ...others } = thresholds;
  const isPassed = (some: Thresholds): boolean => judgeResults(report, some).type === 'passed';
  if (!isPassed(thresholds) || isPassed(others)) return [];
  const lower = [
    ...(passRate < 1 ? [`pass rate ${String(passRate)}`] : []),
    ...(errors > 0 ? [`errors ${String(errors)}`] : []),
  ];
  return [`passed only by lower thresholds: ${lower.join(', ')}`];
}

/** The verdict on each skill is that of a report with its cases alone; undefined if no case names its skill. */
function judgeSkills(report: EvalReport, thresholds: Thresholds): Verdict['skills'] {
  const groups = splitBySkill(report);
  if (groups.length === 0) return undefined;
  return groups.map(([skill, own]) => {
    const { validity, result, effect, interval } = judgeReport(own, thresholds);
    const title = verdictTitle({ ...own, verdict: { validity, result, reasons: [], warnings: [] } });
    return { skill, title, validity, result, ...defined({ effect, interval }) };
  });
}

function judgeReport(report: EvalReport, thresholds: Thresholds): Omit<Verdict, 'warnings' | 'skills'> {
  const decided = judgeResults(report, thresholds);
  const { comparisons } = report;
  const missing = missingText(report);
  const isPartial = report.isPartial || missing !== undefined;
  const left = report.isPartial ? STOPPED : (missing ?? incompleteText(report));
  // An evaluation that was stopped has no verdict yet; a broken control makes it worthless in any case.
  const isInvalid = decided.type === 'invalid' && (!isPartial || brokenControls(report).length > 0);
  const validity = isInvalid ? 'invalid' : left === undefined ? 'valid' : 'incomplete';
  const [compared] = isInvalid ? [] : comparisons;
  const reasons = isInvalid
    ? invalidReasons(report, decided.reasons)
    : decided.type === 'passed'
      ? []
      : decided.reasons;
  return {
    validity,
    result: decided.type === 'invalid' ? 'none' : decided.type,
    ...(compared === undefined ? {} : { effect: verdictOfDifference(compared), interval: compared.difference }),
    reasons: [...new Set([...reasons, ...(left === undefined ? [] : [left])])],
  };
}

/** What breaks the scores comes first, in words for people; then everything else that the thresholds say. */
function invalidReasons(report: EvalReport, decided: readonly string[]): readonly string[] {
  const lines = invalidLines(report);
  const isCovered = (reason: string): boolean =>
    /^the (?:control|judge|trigger evaluation)\b/.test(reason) ||
    lines.some((line) => line.endsWith(reason.replace(/^.*? against .*?: /, '')));
  return [...lines, ...decided.filter((reason) => lines.length === 0 || !isCovered(reason))];
}

/** Formats `valid, failed: 2 passed, 1 failed`. Says that all passed only if nothing was left out. */
export function verdictTitle(report: EvalReport): string {
  const { validity, result } = findVerdict(report);
  if (validity === 'invalid')
    return `INVALID: ${invalidLines(report).length === 0 ? 'there is no verdict' : invalidTitle(report)}`;
  const { totals, harness, quarantined, skippedChecks } = ownArm(report);
  const flaky = sumCounts(quarantined);
  const left = countLeftOut(report);
  const isClean =
    skippedChecks +
      totals.failed +
      totals.error +
      totals.skipped +
      harness.failed +
      harness.error +
      harness.skipped +
      flaky +
      left ===
    0;
  const uncounted = [
    ...(flaky === 0 ? [] : [`, ${numberText(flaky)} in quarantine`]),
    ...(left === 0 ? [] : [`, ${numberText(left)} left out`]),
  ].join('');
  const counts = isClean && totals.passed > 0 ? 'all passed' : `${totalsText(totals)}${uncounted}`;
  if (validity === 'incomplete') return `INCOMPLETE: ${counts}`;
  return result === 'passed' && isClean ? `valid, ${counts}` : `valid, ${result}: ${counts}`;
}

/** The effect, the reasons and the warnings, one per line. */
export function verdictLines(report: EvalReport): readonly string[] {
  const { effect, interval, reasons, warnings } = findVerdict(report);
  return [
    ...(effect === undefined || interval === undefined ? [] : [`effect: ${effect}, ${differenceText(interval)}`]),
    ...reasons,
    ...warnings.slice(0, MOST_WARNINGS).map((warning) => `warning: ${warning}`),
    ...(warnings.length > MOST_WARNINGS ? [`and ${String(warnings.length - MOST_WARNINGS)} more warnings`] : []),
  ];
}

const MOST_WARNINGS = 20;
