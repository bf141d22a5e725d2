/** One run against one case. Code first; programs of the suite next; a judge last, and only for what no code can check. */
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult, CheckResult } from '../report/result.ts';
import type { Model } from '../../core/model.ts';
import { SHOWN_CHARACTERS } from './check.ts';
import { gradeByCheckers } from './checker.ts';
import type { RunChecker } from './checker.ts';
import { gradeActions } from './grade-actions.ts';
import { gradeBudget, gradeOutcome, gradeStreaming } from './grade-course.ts';
import { gradeDisclosure } from './grade-disclosure.ts';
import { gradeOutput } from './grade-output.ts';
import { gradeSecurity } from './grade-security.ts';
import { gradeSkills } from './grade-skills.ts';
import { judgeRubric, rubricSkipped } from './judge.ts';
import type { RunFacts } from './run-facts.ts';

/** All that can be graded from the facts alone. Equal facts give equal checks. */
export function gradeFacts(one: EvalCase, facts: RunFacts): readonly CheckResult[] {
  const checks = [
    ...gradeSkills(one, facts),
    ...gradeActions(one, facts),
    ...gradeDisclosure(one, facts),
    ...gradeSecurity(one, facts),
    ...gradeBudget(one, facts),
    ...gradeOutcome(one, facts),
    ...gradeOutput(one, facts),
    ...gradeStreaming(one, facts),
  ];
  return brokenReason(one, facts) === '' ? checks : checks.map((check) => unsaid(check, facts.broken));
}

/** Why a run says nothing about this case; a case may well ask for a run that fails, or set the time that was up. */
export function brokenReason({ expect, limits }: EvalCase, { broken, outcome, budgetEnds }: RunFacts): string {
  if (expect.outcome?.some((wanted) => wanted === outcome) === true) return '';
  const isOwnLimit = limits.wallMs !== undefined && budgetEnds.some(({ name }) => name === 'wallMs');
  return outcome === 'degraded' && isOwnLimit ? '' : broken;
}

/** What a broken run seems to show it does not show, whether it looks good or bad. */
function unsaid(check: CheckResult, reason: string): CheckResult {
  return { ...check, status: 'error', found: reason };
}

export interface GradeOptions {
  readonly runChecker?: RunChecker;
  /** For one checker; 30,000. */
  readonly checkerMs?: number;
  readonly judge?: Model;
  readonly signal?: AbortSignal;
}

const CHECKER_MS = 30_000;

export async function gradeRun(
  one: EvalCase,
  facts: RunFacts,
  { runChecker, checkerMs = CHECKER_MS, judge, signal = new AbortController().signal }: GradeOptions = {},
): Promise<readonly CheckResult[]> {
  const checks = gradeFacts(one, facts);
  const { rubric = [] } = one.expect;
  const broken = brokenReason(one, facts);
  if (broken !== '') return [...checks, ...rubricSkipped(rubric, broken)];
  const byCheckers = await gradeByCheckers(one, facts, { run: runChecker, deadlineMs: checkerMs, signal });
  const judged =
    judge === undefined
      ? rubricSkipped(rubric, 'no judge was given')
      : await judgeRubric(judge, one, facts, { signal });
  return [...checks, ...byCheckers, ...judged];
}

/** A failed check is a failed case; then one that could not be judged leaves the case without a verdict. Skipped checks say nothing. */
export function caseVerdict(
  one: EvalCase,
  checks: readonly CheckResult[],
  broken = '',
): Pick<CaseResult, 'status' | 'reason'> {
  if (broken !== '') return { status: 'error', reason: broken };
  if (checks.length === 0) {
    const { file, line } = one.place;
    return { status: 'error', reason: `${file}:${String(line)}: the case asks nothing of a run` };
  }
  if (checks.some(({ status }) => status === 'failed')) return { status: 'failed', reason: '' };
  const unjudged = checks.find(({ status }) => status === 'error');
  if (unjudged !== undefined)
    return { status: 'error', reason: `${unjudged.id}: ${unjudged.found.slice(0, SHOWN_CHARACTERS)}` };
  if (checks.some(({ status }) => status === 'passed')) return { status: 'passed', reason: '' };
  return { status: 'skipped', reason: checks[0]?.found ?? '' };
}
