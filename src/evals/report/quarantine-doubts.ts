/** Cases in quarantine count in nothing: a verdict that they would change is named. */
import { countText } from '#core';
import { countLooks } from '../statistics/case-differences.ts';
import { compareArms, isComparison } from './compare-arms.ts';
import { verdictOfDifference } from './report-text.ts';
import { isCounted, type EvalReport } from './result.ts';

export function listQuarantineDoubts({ comparisons, results, sequential }: EvalReport): readonly string[] {
  const cases = new Set(results.flatMap((result) => (isCounted(result) ? [] : [result.case]))).size;
  if (cases === 0) return [];
  const looks = sequential === undefined ? 1 : countLooks(sequential.most);
  return comparisons.flatMap((compared) => {
    const { of, against } = compared;
    const whole = compareArms(results, { of, against, looks });
    const [verdict, other] = [
      verdictOfDifference(compared),
      isComparison(whole) ? verdictOfDifference(whole) : 'invalid',
    ];
    return verdict === other
      ? []
      : [`"${verdict}" only without ${countText(cases, 'case')} in quarantine; with all cases it is "${other}"`];
  });
}
