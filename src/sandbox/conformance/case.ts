import { isSkillError, raise, type Problem } from '#core';

/** One behaviour that every executor must have. Runs in any test runner. */
export interface ConformanceCase {
  readonly name: string;
  /** Requirement id, such as `EXEC-1`. */
  readonly requirement: string;
  /** Tests isolation: skipped with the reason `no isolation` for executors without it. */
  readonly isIsolation: boolean;
  /** Rejects with a `SkillError` of the code `case/skipped` where the case cannot run here, and with any other error where the executor fails it. */
  readonly run: () => Promise<void>;
}

/** Raised by a case that neither passed nor failed; its message is the reason. `judgeCase` turns it into a verdict. */
export type CaseSkipped = Problem<'case/skipped'>;

export function skipCase(reason: string): never {
  raise({ code: 'case/skipped', message: reason, hint: '' });
}

function isCaseSkipped(problem: Problem): problem is CaseSkipped {
  return problem.code === 'case/skipped';
}

export type CaseVerdict =
  | { readonly type: 'passed' }
  | { readonly type: 'skipped'; readonly reason: string }
  | { readonly type: 'failed'; readonly error: unknown };

/** Runs a case and returns its outcome, for test runners without skips. */
export async function judgeCase(test: Pick<ConformanceCase, 'run'>): Promise<CaseVerdict> {
  try {
    await test.run();
    return { type: 'passed' };
  } catch (error) {
    const skipped = isSkillError(error) ? error.raised : undefined;
    return skipped !== undefined && isCaseSkipped(skipped)
      ? { type: 'skipped', reason: skipped.message }
      : { type: 'failed', error };
  }
}
