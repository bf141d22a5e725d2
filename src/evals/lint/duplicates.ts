/** Requests that ask the same twice: they count as one case. */
import { quoted } from '#core';
import { groupSameRequests } from '../report/same-requests.ts';
import { toAskedRequest } from '../cases/asked-request.ts';
import type { CaseFinding, LintedCase } from './finding.ts';

/** Each case is reported once, against the first case that it repeats. */
export function duplicateFindings(cases: readonly LintedCase[]): readonly (readonly [LintedCase, CaseFinding])[] {
  const groups = groupSameRequests(cases.map(({ evalCase }) => toAskedRequest(evalCase)));
  const repeated = new Map(groups.flatMap(([first = '', ...others]) => others.map((id) => [id, first] as const)));
  return cases.flatMap((one) => {
    const first = repeated.get(one.evalCase.id);
    if (first === undefined) return [];
    const message = `the request is nearly the same as that of ${quoted(first)}`;
    const hint = 'it counts as one case: ask something else, or use repeat to run it several times';
    return [[one, { rule: 'duplicate', severity: 'warning', message, hint }] as const];
  });
}
