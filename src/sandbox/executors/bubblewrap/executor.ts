import type { Executor } from '#core';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { bubblewrapLauncher } from './launcher.ts';

export interface BubblewrapOptions extends LinuxSandboxOptions {
  /** Path of bwrap (default: the first of the usual locations; `PATH` is not searched). */
  readonly command?: string;
  /** False: starts programs by a shell, without Landlock, as on machines without perl. */
  readonly hasPerl?: boolean;
}

/** Runs programs in bubblewrap. The default on Linux. */
export function bubblewrapExecutor({ command, hasPerl, ...options }: BubblewrapOptions = {}): Executor {
  return linuxExecutor(bubblewrapLauncher(command, hasPerl), options);
}
