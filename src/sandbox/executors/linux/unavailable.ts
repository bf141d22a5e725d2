import type { Executor, SkillError } from '#core';
import { executorFailed, executorUnavailable } from '../failures.ts';
import { tryRead } from '../../process/proc.ts';

/** Why a sandbox cannot be built on this machine. */

export function unavailable(
  executor: Executor['name'],
  reasons: readonly string[],
  install: string,
): SkillError<'executor/unavailable'> {
  return executorUnavailable(executor, `${executor} cannot isolate programs here: ${reasons.join('; ')}`, {
    hint: install,
    reasons,
  });
}

export function setupFailed(executor: Executor['name'], cause: string): SkillError<'executor/failed'> {
  const hint = 'run skillwright doctor to see which executors work on this machine';
  return executorFailed(executor, `the sandbox could not be set up: ${cause}`, { hint, cause });
}

export interface Explanation {
  readonly reason: string;
  /** Command or setting that fixes it. */
  readonly install: string;
}

/** Explains an error of a launcher on systems where sandboxes are known to fail. Returns `undefined` for errors of this workspace alone. */
export function explainFailure(complaint: string, install: string): Explanation | undefined {
  if (/(?:find source path|bind mount|open file|chdir)/i.test(complaint) && !/\/proc|uid_map/.test(complaint))
    return undefined;
  if (/^spawn .*(?:EAGAIN|EINVAL|EMFILE|ENFILE|ENOMEM)/.test(complaint))
    return {
      reason: `the system cannot start another process now (${complaint})`,
      install: 'raise the limits of this shell (ulimit -n, ulimit -u) or stop other programs, then try again',
    };
  if (/mount proc|\/proc\/.*: Read-only file system/i.test(complaint))
    return {
      reason: `/proc is read-only or masked, as in Docker or Kubernetes (${complaint})`,
      install: IN_CONTAINER,
    };
  if (isSetting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'))
    return {
      reason: `AppArmor forbids unprivileged user namespaces, as on Ubuntu 24.04 (${complaint})`,
      install:
        'install an AppArmor profile for bwrap with the line "userns," (apt-get install apparmor-profiles), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    };
  if (
    isSetting('/proc/sys/kernel/unprivileged_userns_clone', '0') ||
    isSetting('/proc/sys/user/max_user_namespaces', '0')
  )
    return {
      reason: `unprivileged user namespaces are disabled (${complaint})`,
      install: 'sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000',
    };
  if (/namespace/i.test(complaint) && /^Seccomp:\s*2$/m.test(tryRead('/proc/self/status') ?? ''))
    return {
      reason: `a seccomp filter forbids user namespaces, as in Docker or Kubernetes with the default profile (${complaint})`,
      install: IN_CONTAINER,
    };
  return { reason: complaint, install };
}

/** Landlock needs none of it. */
const IN_CONTAINER =
  'start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (in a pod: seccompProfile Unconfined, procMount Unmasked, hostUsers false), or name the executor landlock, which needs none of it';

function isSetting(file: string, value: string): boolean {
  return tryRead(file)?.trim() === value;
}
