import type { Executor } from '#core';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { namespacesLauncher, PERL, namespacePlan } from './launcher.ts';
import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import { LAUNCHER_SCRIPT } from './launcher-script.ts';

/** Runs programs in namespaces that it creates itself, for Linux machines without bubblewrap. */
export function namespacesExecutor(options: LinuxSandboxOptions = {}): Executor {
  return linuxExecutor(namespacesLauncher(), options);
}

/** Changes with the installed perl, the launcher, the profile and the seccomp filter. */
export function namespacesFingerprint(): string {
  return `namespaces ${sandboxFingerprint(PERL, [LAUNCHER_SCRIPT, namespacePlan(EMPTY_REQUEST, 0)])}`;
}
