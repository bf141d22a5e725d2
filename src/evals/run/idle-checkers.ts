/** Finds checkers that pass before anything is done, by running them on a project that no model has seen. */
import type { Session } from '#runtime';
import type { EvalCase } from '../cases/case.ts';
import type { RunChecker } from '../grade/checker.ts';
import type { CaseResult } from '../report/result.ts';
import { runChecker } from './run-checker.ts';

/**
 * Takes the verdict from a passed result whose only evidence are checkers that also pass on an untouched project, which `prepare` makes.
 * With other checks a checker may be there to find damage, and passes at first.
 */
export async function withoutIdleCheckers(
  result: CaseResult,
  { expect }: EvalCase,
  prepare: () => RunChecker | undefined,
  signal: AbortSignal,
): Promise<CaseResult> {
  const { output = [], rubric = [], trigger, skills, actions, security } = expect;
  const checkers = output.filter((check) => check.type === 'checker');
  const hasOthers = [trigger, skills, actions, security].some((one) => one !== undefined);
  const isDecisive = checkers.length > 0 && checkers.length === output.length && rubric.length === 0 && !hasOthers;
  const run = result.status === 'passed' && isDecisive ? prepare() : undefined;
  if (run === undefined) return result;
  for (const check of checkers) {
    const end = await run(check, signal);
    if (end.type !== 'exited' || end.code !== 0) return result;
  }
  const reason = 'the checkers also pass if nothing is done: check what the task has to change';
  return { ...result, status: 'error', reason };
}

/** Checkers get a copy of the project in `PROJECT_DIR`, in the sandbox of an own session. */
export function checkerRunner(openSession: () => Promise<Session>, project: string, deadlineMs: number): RunChecker {
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
