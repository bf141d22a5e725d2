import type { Executor } from '#core';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { namespacesLauncher } from './launcher.ts';

/** Runs programs in namespaces that it creates itself, for Linux machines without bubblewrap. */
export function namespacesExecutor(options: LinuxSandboxOptions = {}): Executor {
  return linuxExecutor(namespacesLauncher(), options);
}
