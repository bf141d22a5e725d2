/** What a comparison of two reports may claim: nothing if one of them is invalid. */
import { countText, defined, stableJson } from '#core';
import {
  compareReports,
  isRegression,
  type BeforeAfter,
  type CaseChange,
  type ReportComparison,
} from './compare-reports.ts';
import { listServed } from './arm-doubts.ts';
import { leftOutText } from './left-out.ts';
import { liveText } from './report-text.ts';
import { groupBy, isCounted, type EvalReport, type Verdict } from './result.ts';
import { findVerdict, verdictTitle } from './verdict.ts';

export interface ComparisonVerdict extends Omit<Verdict, 'skills' | 'effect' | 'interval'> {
  /** The verdict on each skill in both reports, such as `valid, all passed`; absent where the report has no case of it. */
  readonly skills: readonly { readonly skill: string; readonly before?: string; readonly after?: string }[];
}

export function compareVerdicts(
  before: EvalReport,
  after: EvalReport,
  comparison: ReportComparison,
): ComparisonVerdict {
  const [old, now] = [findVerdict(before), findVerdict(after)];
  const { isTooFew, reasons: left } = findGaps(comparison);
  const validities = new Set([old.validity, now.validity, ...(isTooFew ? ['invalid'] : [])]);
  const validity = validities.has('invalid') ? 'invalid' : validities.has('incomplete') ? 'incomplete' : 'valid';
  const { counts, live } = comparison;
  const hasRegression = isRegression(comparison);
  const titles = (verdict: Verdict): ReadonlyMap<string, string> =>
    new Map(verdict.skills?.map(({ skill, title }) => [skill, title]));
  const [earlier, later] = [titles(old), titles(now)];
  return {
    validity,
    result: validity === 'invalid' ? 'none' : hasRegression ? 'failed' : 'passed',
    reasons: [
      ...(old.validity === 'valid' ? [] : [`before: ${verdictTitle(before)}`]),
      ...(now.validity === 'valid' ? [] : [`after: ${verdictTitle(after)}`]),
      ...left,
      ...(counts.broken === 0 ? [] : [`${countText(counts.broken, 'case')} broke`]),
      ...(hasRegression && live !== undefined ? [`live ${liveText(live)}`] : []),
    ],
    warnings: [
      ...listLeftOut({ before, after }),
      ...listCauses(before, after, comparison),
      ...listQuarantined(before, after, hasRegression),
    ],
    skills: [...new Set([...earlier.keys(), ...later.keys()])].map((skill) => ({
      skill,
      ...defined({ before: earlier.get(skill), after: later.get(skill) }),
    })),
  };
}

const MOST_LEFT_OUT = 1 / 3;
const MOST_NAMES = 10;

/** Edited, flaky and removed cases say nothing; if they are too many, or no case is left, neither does the rest: what broke may be among them. */
function findGaps({ edited, changes, counts, same }: ReportComparison) {
  const own = edited.filter(({ arm }) => arm === 'with');
  const compared = same + changes.length - counts.added - counts.removed;
  const left = edited.length + counts.removed;
  const isTooFew = compared === 0 || left > (left + compared) * MOST_LEFT_OUT;
  const names = (ids: readonly string[]): string =>
    `${ids.slice(0, MOST_NAMES).join(', ')}${ids.length > MOST_NAMES ? ` and ${String(ids.length - MOST_NAMES)} more` : ''}`;
  const reasons = [...groupBy(own, ({ reason }) => reason)].map(
    ([reason, cases]) => `not compared, because ${reason}: ${names(cases.map((one) => one.case))}`,
  );
  const listed = (
    change: 'added' | 'removed',
    isListed: (one: CaseChange) => boolean = () => true,
  ): readonly string[] =>
    changes.filter((one) => one.change === change && one.arm === 'with' && isListed(one)).map((one) => one.case);
  const unit = [...edited, ...changes].some(({ arm }) => arm !== 'with') ? 'result' : 'case';
  const removed = listed('removed');
  const failing = listed('added', ({ after }) => after?.status === 'failed' || after?.status === 'error');
  return {
    isTooFew,
    reasons: [
      ...(compared === 0 && own.length === 0 ? ['no case is in both reports'] : []),
      ...(isTooFew && compared > 0
        ? [`${String(left)} of ${countText(left + compared, unit)} cannot be compared`]
        : []),
      ...(removed.length > 0 && compared > 0 ? [`missing in the second report: ${names(removed)}`] : []),
      ...(failing.length > 0 && compared > 0 ? [`only in the second report, and not passed: ${names(failing)}`] : []),
      ...reasons,
    ],
  };
}

const regressionText = (hasRegression: boolean): string => (hasRegression ? 'a regression' : 'no regression');

/** Names a verdict that cases in quarantine would change. */
function listQuarantined(before: EvalReport, after: EvalReport, hasRegression: boolean): readonly string[] {
  const all = [...before.results, ...after.results];
  const count = new Set(all.flatMap((one) => (isCounted(one) ? [] : [one.case]))).size;
  if (count === 0) return [];
  const [old, now] = [before, after].map((report) => ({
    ...report,
    results: report.results.map(({ quarantine: _quarantine, ...one }) => one),
  }));
  if (old === undefined || now === undefined || isRegression(compareReports(old, now)) === hasRegression) return [];
  return [
    `"${regressionText(hasRegression)}" only without ${countText(count, 'case')} in quarantine; with all cases it is "${regressionText(!hasRegression)}"`,
  ];
}

function listLeftOut(reports: BeforeAfter<EvalReport>): readonly string[] {
  return (['before', 'after'] as const).flatMap((side) => {
    const text = leftOutText(reports[side]);
    return text === undefined ? [] : [`${side}: ${text}`];
  });
}

/** Causes of a change that are not the skill. */
function listCauses(
  before: EvalReport,
  after: EvalReport,
  { skills, counts, same }: ReportComparison,
): readonly string[] {
  const common = same + counts.broken + counts.fixed + counts.unclear + counts.other;
  const [old, now] = [before, after].map(({ results }) => listServed(results, 'models').join(', '));
  const isSame =
    before.startedAt === after.startedAt && common > 0 && stableJson(before.results) === stableJson(after.results);
  if (isSame) return ['both are the same report, so that nothing is compared'];
  return [
    ...(skills.length > 0 || common === 0 || before.skills.length === 0
      ? []
      : ['the skills are identical in both reports: changes come from the model, the cases or chance']),
    ...(old === now || old === '' || now === '' ? [] : [`different models answered: ${old ?? ''} to ${now ?? ''}`]),
  ];
}

/** Formats `valid, failed` or `INVALID: the reports cannot be compared`. */
export function comparisonTitle({ validity, result, reasons }: Omit<Verdict, 'warnings' | 'skills'>): string {
  const isDoubtful = reasons.some((reason) => /^(?:before|after): INVALID/.test(reason));
  if (validity === 'invalid')
    return isDoubtful ? 'INVALID: one of the reports cannot be believed' : 'INVALID: the reports cannot be compared';
  const regression = regressionText(result === 'failed');
  return validity === 'incomplete' ? `INCOMPLETE: ${regression} so far` : `valid, ${result}: ${regression}`;
}
