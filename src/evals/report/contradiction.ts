/** Finds stored results that cannot be true, such as a pass with a failed check, because a report can be edited by hand. */
import { quoted } from '#core';
import { groupBy, isCounted, type CaseResult } from './result.ts';

/** Undefined if the status follows from the checks. */
export function describeContradiction({
  case: id,
  status,
  checks,
}: Pick<CaseResult, 'case' | 'status' | 'checks'>): string | undefined {
  const found = (wanted: CaseResult['status']) => checks.find((check) => check.status === wanted);
  const against =
    status === 'passed' ? (found('failed') ?? found('error')) : status === 'skipped' ? found('failed') : undefined;
  const hasReason = (status !== 'passed' && status !== 'failed') || found(status) !== undefined;
  if (against === undefined && hasReason) return undefined;
  const why =
    against === undefined ? `without a ${status} check` : `with the ${against.status} check ${quoted(against.id)}`;
  return `the case ${quoted(id)} is ${status} ${why}`;
}

/** A quarantine is one of the case. In a part of its results it would leave out just those. */
export function describePartQuarantine(results: readonly CaseResult[]): string | undefined {
  const [id] =
    [...groupBy(results, (one) => one.case)].find(([, own]) => own.some(isCounted) && !own.every(isCounted)) ?? [];
  return id === undefined ? undefined : `the case ${quoted(id)} is in quarantine in some of its results only`;
}
