/** One thing that every executor does alike. Any test runner can run it. */
export interface ConformanceCase {
  readonly name: string;
  /** `EXEC-1` and so on. */
  readonly requirement: string;
  /** Asks for isolation: an executor that has none skips it with the words `no isolation`. */
  readonly isIsolation: boolean;
  /** Rejects with `CaseSkipped` where it cannot be asked here, with anything else where the executor does not do it. */
  readonly run: () => Promise<void>;
}

/** Neither passed nor failed. */
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

/** Runs a case and tells the three outcomes apart, for runners that do not know what a skip is. */
export async function judgeCase(test: Pick<ConformanceCase, 'run'>): Promise<CaseVerdict> {
  try {
    await test.run();
    return { type: 'passed' };
  } catch (error) {
    return error instanceof CaseSkipped ? { type: 'skipped', reason: error.reason } : { type: 'failed', error };
  }
}
