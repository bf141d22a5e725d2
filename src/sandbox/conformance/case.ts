/** One behaviour that every executor must have. Runs in any test runner. */
export interface ConformanceCase {
  readonly name: string;
  /** Requirement id, such as `EXEC-1`. */
  readonly requirement: string;
  /** Tests isolation: skipped with the reason `no isolation` for executors without it. */
  readonly isIsolation: boolean;
  /** Rejects with `CaseSkipped` where the case cannot run here, and with any other error where the executor fails it. */
  readonly run: () => Promise<void>;
}

/** Thrown by a case that neither passed nor failed. */
export class CaseSkipped extends Error {
  override readonly name = 'CaseSkipped';
  readonly reason: string;

  constructor(reason: string) {
    super(`skipped: ${reason}`);
    this.reason = reason;
  }
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
    return error instanceof CaseSkipped ? { type: 'skipped', reason: error.reason } : { type: 'failed', error };
  }
}
