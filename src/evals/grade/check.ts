/** How checks are written down. */
import type { CheckKind, CheckResult } from '../report/result.ts';

/** What is the same for all that can come of a check. */
export interface CheckHead {
  readonly id: string;
  readonly kind: CheckKind;
  readonly asked: string;
}

/** What is shown of a stranger's text in a check. */
export const SHOWN_CHARACTERS = 200;

export function passed(head: CheckHead, events: readonly number[] = [], found = ''): CheckResult {
  return { ...head, status: 'passed', found, events };
}

export function failed(head: CheckHead, found: string, events: readonly number[] = []): CheckResult {
  return { ...head, status: 'failed', found, events };
}

/** It cannot be judged: the check, the record or the judge is at fault, and not the skill. */
export function notJudged(head: CheckHead, found: string, events: readonly number[] = []): CheckResult {
  return { ...head, status: 'error', found, events };
}

export function skipped(head: CheckHead, found: string): CheckResult {
  return { ...head, status: 'skipped', found, events: [] };
}

/** Passed where a sentence about what is wrong is empty. */
export function judged(head: CheckHead, wrong: string, events: readonly number[] = []): CheckResult {
  return wrong === '' ? passed(head, events) : failed(head, wrong, events);
}

export function listText(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
