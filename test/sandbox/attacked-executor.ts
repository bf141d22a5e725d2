import type { Executor } from '../../src/core/execution.ts';
import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';

/** The executor of that name, with the settings of a user. */
export function attackedExecutor(name: string): Executor {
  if (name === 'landlock') return landlockExecutor();
  return name === 'namespaces' ? namespacesExecutor() : bubblewrapExecutor();
}
