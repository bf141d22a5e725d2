import type { Executor } from '#core';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { bubblewrapLauncher } from './launcher.ts';
import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import { sandboxArguments } from './arguments.ts';
import { isPresent } from '#platform';
import { LAUNCHER_SCRIPT } from '../namespaces/launcher-script.ts';
import { PERL, gatePlan } from '../namespaces/launcher.ts';
import { gatedCommand } from './gate.ts';
import { findBubblewrap } from './support.ts';

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

/** Changes with the installed bubblewrap, the profile, the seccomp filter and the options. */
export function bubblewrapFingerprint(options: BubblewrapOptions = {}): string {
  const { entries } = EMPTY_REQUEST;
  const profile = sandboxArguments({ ...EMPTY_REQUEST, filter: 0, files: entries.map(() => 0) });
  const gate = gatedCommand({ ...EMPTY_REQUEST, lateEnv: {} });
  const inner = isPresent(PERL) ? [LAUNCHER_SCRIPT, gatePlan(EMPTY_REQUEST)] : [];
  const { bridge, ...settings } = options;
  const tool = options.command ?? findBubblewrap();
  return `bubblewrap ${sandboxFingerprint(tool, [profile, gate, inner, settings, bridge !== undefined])}`;
}
