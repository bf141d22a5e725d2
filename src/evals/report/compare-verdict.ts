/** What a comparison of two reports may claim: nothing if one of them is invalid. */
import { countText, defined } from '#core';
import { isRegression, type ReportComparison } from './compare-reports.ts';
import { liveText } from './report-text.ts';
import type { EvalReport, Verdict } from './result.ts';
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
  const validities = new Set([old.validity, now.validity]);
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
      ...(counts.broken === 0 ? [] : [`${countText(counts.broken, 'case')} broke`]),
      ...(hasRegression && live !== undefined ? [`live ${liveText(live)}`] : []),
    ],
    warnings: [],
    skills: [...new Set([...earlier.keys(), ...later.keys()])].map((skill) => ({
      skill,
      ...defined({ before: earlier.get(skill), after: later.get(skill) }),
    })),
  };
}

/** Formats `valid, failed` or `INVALID: one of the reports cannot be believed`. */
export function comparisonTitle({ validity, result }: Pick<Verdict, 'validity' | 'result'>): string {
  if (validity === 'invalid') return 'INVALID: one of the reports cannot be believed';
  const regression = result === 'failed' ? 'a regression' : 'no regression';
  return validity === 'incomplete' ? `INCOMPLETE: ${regression} so far` : `valid, ${result}: ${regression}`;
}
