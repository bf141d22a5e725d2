/** One attempt at one case by another agent, graded from its record. */
import { stableJson } from '#core';
import { sha256 } from '#platform';
import type { Session } from '#runtime';
import type { RunChecker } from '../grade/checker.ts';
import { CHECKER_MS } from '../grade/grade-run.ts';
import { ungradedResult, type CaseResult } from '../report/result.ts';
import { gradeAttempt } from '../run/run-case.ts';
import { runChecker } from '../run/run-checker.ts';
import type { OpenSubject } from './open-subject.ts';
import { runSubject, type SubjectRun } from './run-subject.ts';

interface SubjectAttempt extends SubjectRun {
  /** Opens a session that can run checker scripts; absent if no program can run. */
  readonly openSession?: (() => Promise<Session>) | undefined;
}

/** The agent with its version and its model, as reports name it. */
export function subjectName({ label, model }: Pick<OpenSubject, 'label' | 'model'>): string {
  return model === undefined ? label : `${label} (${model})`;
}

/** Rejects only with the abort reason; any other problem is an `error` result of this case. */
export async function runSubjectCase(attempt: SubjectAttempt): Promise<CaseResult> {
  const { subject, grading, signal } = attempt;
  const empty = ungradedResult(attempt, { id: subjectName(subject), way: 'live' });
  const startedAt = performance.now();
  try {
    const { folder, project, files } = await runSubject(attempt);
    const readOutput = (name: string): Buffer | undefined => files.get(name);
    const runChecks = checkerRunner(attempt.openSession, project, grading.checkerMs ?? CHECKER_MS);
    const given = { environment: sha256(stableJson([subject.program, subject.env])).slice(0, 16) };
    return await gradeAttempt(attempt, { ...empty, given }, { folder, readOutput }, runChecks);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { ...empty, reason, cost: { ...empty.cost, wallMs: performance.now() - startedAt } };
  }
}

/** Checkers get a copy of the project in `PROJECT_DIR`, in the sandbox of an own session. */
function checkerRunner(
  openSession: SubjectAttempt['openSession'],
  project: string,
  deadlineMs: number,
): RunChecker | undefined {
  if (openSession === undefined) return undefined;
  return async (check, signal) => {
    const session = await openSession();
    try {
      const { execution } = session;
      if (execution === undefined) return { type: 'broken', reason: 'the session runs no programs' };
      return await runChecker(check, { execution, project, deadlineMs, signal });
    } finally {
      await session.close();
    }
  };
}
