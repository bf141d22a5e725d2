import type { RunLimits } from '#core';
import type { Fixture } from './fixture.ts';

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

/** Capabilities and programs that a case requires. */
export interface Needs {
  readonly limits?: readonly (keyof RunLimits)[];
  readonly interaction?: boolean;
  readonly terminal?: boolean;
  /** Programs that must be installed inside the sandbox. */
  readonly programs?: readonly string[];
}

export interface CaseDefinition {
  readonly name: string;
  readonly requirement: `${'EXEC' | 'ENV'}-${number}`;
  readonly isIsolation?: boolean;
  readonly needs?: Needs;
  /** Runs in its own workspace, because it damages, fills or detaches it. Other cases share one. */
  readonly ownWorkspace?: boolean;
  run(fixture: Fixture): Promise<void>;
}

type CaseOptions = Pick<CaseDefinition, 'isIsolation' | 'needs' | 'ownWorkspace'>;
type Conform = readonly [run: CaseDefinition['run']] | readonly [options: CaseOptions, run: CaseDefinition['run']];

/** Defines a case. Options come before its function, as in test runners. */
export function conform(requirement: CaseDefinition['requirement'], name: string, ...rest: Conform): CaseDefinition {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  return { name, requirement, ...options, run };
}

export const ISOLATED = { isIsolation: true };
export const ALONE = { ownWorkspace: true };
