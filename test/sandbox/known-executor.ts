import os from 'node:os';

import type { Executor, ExecutorName } from '../../src/core/execution.ts';
import { executorCandidates } from '../../src/sandbox/executors/find-executor.ts';

/**
 * The executor that a session makes for a name, without the probe that a session runs first, which takes seconds. `local` is not probed.
 * `bridgeFolder` is where programs find the proxy of granted hosts.
 */
export function knownExecutor(name: ExecutorName, bridgeFolder = os.tmpdir()): Executor | 'local' {
  if (name === 'local') return name;
  const made = executorCandidates({ bridgeFolder }).find((candidate) => candidate.name === name);
  if (made === undefined) throw new Error(`the executor ${name} does not exist on this system`);
  return made.make({ isKnown: true });
}
