import type { LimitName } from '../../core/execution.ts';
import type { Bench } from './bench.ts';

/** What an executor must say that it can do before it is asked to. */
export interface Needs {
  readonly limits?: readonly LimitName[];
  readonly interaction?: boolean;
  readonly terminal?: boolean;
  /** Programs that must be where the executor runs programs. */
  readonly programs?: readonly string[];
}

export interface CaseDefinition {
  readonly name: string;
  readonly requirement: `EXEC-${number}`;
  readonly isIsolation?: boolean;
  readonly needs?: Needs;
  /** A workspace of its own, because it breaks, fills or ends one; the others share one. */
  readonly ownWorkspace?: boolean;
  run(bench: Bench): Promise<void>;
}
