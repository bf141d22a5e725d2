/** Grades everything that code can check. Loaded lazily, since it loads the regular expression engine. */
import type { EvalCase } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { gradeActions } from './grade-actions.ts';
import { gradeBudget, gradeOutcome, gradeSkills, gradeStreaming } from './grade-course.ts';
import { gradeDisclosure } from './grade-disclosure.ts';
import { gradeOutput, type CheckSchema } from './grade-output.ts';
import { gradeSecurity } from './grade-security.ts';
import { brokenReason, type RunFacts } from './run-facts.ts';

/** Equal facts give equal checks. */
export function gradeFacts(one: EvalCase, facts: RunFacts, checkSchema?: CheckSchema): readonly CheckResult[] {
  const checks = [
    ...gradeSkills(one, facts),
    ...gradeActions(one, facts),
    ...gradeDisclosure(one, facts),
    ...gradeSecurity(one, facts),
    ...gradeBudget(one, facts),
    ...gradeOutcome(one, facts),
    ...gradeOutput(one, facts, checkSchema),
    ...gradeStreaming(one, facts),
  ];
  // A broken run proves neither success nor failure.
  return brokenReason(one, facts) === ''
    ? checks.map((check) => withEvidence(check, facts))
    : checks.map((check) => ({ ...check, status: 'error', found: facts.broken }));
}

/** What did not happen is shown by the end of the run. */
function withEvidence(check: CheckResult, { end }: RunFacts): CheckResult {
  return check.status === 'failed' && check.events.length === 0 ? { ...check, events: [end] } : check;
}
