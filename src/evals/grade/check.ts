/** Builds the result of one check. */
import type { CheckKind, CheckResult } from '../report/result.ts';

export interface CheckHead {
  readonly id: string;
  readonly kind: CheckKind;
  readonly asked: string;
}

/** Limit for untrusted text quoted in a result. */
export const SHOWN_CHARACTERS = 200;

export function passed(head: CheckHead, events: readonly number[] = [], found = ''): CheckResult {
  return { ...head, status: 'passed', found, events };
}

export function failed(head: CheckHead, found: string, events: readonly number[] = []): CheckResult {
  return { ...head, status: 'failed', found, events };
}

/** The check has no verdict: the check, the record or the judge is at fault, not the skill. */
export function errored(head: CheckHead, found: string, events: readonly number[] = []): CheckResult {
  return { ...head, status: 'error', found, events };
}

export function skipped(head: CheckHead, found: string): CheckResult {
  return { ...head, status: 'skipped', found, events: [] };
}

export function checked(head: CheckHead, problem: string, events: readonly number[] = []): CheckResult {
  return problem === '' ? passed(head, events) : failed(head, problem, events);
}

export function listText(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
