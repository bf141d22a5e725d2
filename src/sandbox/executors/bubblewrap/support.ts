import { SkillError } from '../../../core/errors.ts';
import type { Identity, OutputSink } from '../../../core/execution.ts';
import { DEFAULT_LIMITS } from '../../../core/execution.ts';
import { runChild } from '../../../platform/process/child-process.ts';
import { isPresent } from '../../../platform/fs/paths.ts';
import { tryRead } from '../proc.ts';
import { NEEDED_OPTIONS } from './profile.ts';

const HELP_MS = 10_000;
const MAX_HELP = 64 * 1024;
const INSTALL = 'apt-get install bubblewrap';

const LOCATIONS = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** Searches fixed locations instead of `PATH`: a program named bwrap in a project must not become the sandbox. */
export function findBubblewrap(): string | undefined {
  return LOCATIONS.find((file) => isPresent(file));
}

export function unavailable(reasons: readonly string[], install: string): SkillError<'executor/unavailable'> {
  return new SkillError({
    code: 'executor/unavailable',
    message: `bubblewrap cannot isolate programs here: ${reasons.join('; ')}`,
    hint: install,
    data: { executor: 'bubblewrap', reasons, install },
  });
}

/** Throws `executor/unavailable` where bubblewrap lacks an option that the profile needs. */
export async function checkInstalled(command: string, identity: Identity | undefined): Promise<void> {
  const help = await outputOf([command, '--help'], identity);
  const offered = new Set(help.match(/--[a-z0-9-]+/g));
  const missing = NEEDED_OPTIONS.filter((option) => !offered.has(option));
  if (missing.length > 0)
    throw unavailable([`${command} is too old: it lacks ${missing.join(', ')}`], `${INSTALL} (0.8 or newer)`);
}

async function outputOf(argv: readonly string[], identity: Identity | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  const sink: OutputSink = {
    write: (chunk) => {
      chunks.push(chunk);
      return true;
    },
  };
  await runChild(
    {
      argv,
      cwd: '/',
      env: {},
      executor: 'bubblewrap',
      ...(identity === undefined ? {} : { identity }),
    },
    {
      stdin: new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: HELP_MS, outputBytes: MAX_HELP },
      streams: { stdout: sink, stderr: sink },
    },
  );
  return Buffer.concat(chunks).toString('utf8');
}

export interface Explanation {
  readonly reason: string;
  /** Command or setting that fixes it. */
  readonly install: string;
}

/** Explains an error of bubblewrap on systems where it is known to fail. Returns `undefined` for errors of this workspace alone. */
export function explainFailure(complaint: string): Explanation | undefined {
  if (/(?:find source path|bind mount|open file|chdir)/i.test(complaint) && !/\/proc|uid_map/.test(complaint))
    return undefined;
  if (/^spawn .*(?:EAGAIN|EINVAL|EMFILE|ENFILE|ENOMEM)/.test(complaint))
    return {
      reason: `the system cannot start another process now (${complaint})`,
      install: 'raise the limits of this shell (ulimit -n, ulimit -u) or stop other programs, then try again',
    };
  if (/mount proc/i.test(complaint) || /Can't mount proc/i.test(complaint))
    return {
      reason: `mounting a private /proc is denied, as in Docker or Kubernetes with the default seccomp profile (${complaint})`,
      install:
        'start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or use the container executor',
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
  return { reason: complaint, install: `${INSTALL} (0.8 or newer) on a kernel with unprivileged user namespaces` };
}

function isSetting(file: string, value: string): boolean {
  return tryRead(file)?.trim() === value;
}
