/**
 * Control groups from the service manager of the user, for machines on which this process may not create one itself: an ordinary login
 * session under systemd. Each program starts in a scope of its own (`systemd-run --user --scope`), whose memory the kernel limits.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';

import { isPresent } from '#platform';
import type { RunGroup } from './cgroup.ts';
import { readProcFile } from '../process/proc.ts';
import type { RunLimits } from '../program-types.ts';

/** A service manager that starts scopes with a memory limit. */
export interface SystemdScopes {
  readonly version: 'scope';
  readonly programs: ScopePrograms;
}

export interface ScopePrograms {
  readonly run: string;
  readonly control: string;
  /** `XDG_RUNTIME_DIR`, where the manager listens. */
  readonly runtimeFolder: string;
}

const CALL_MS = 10_000;
const TRIAL_BYTES = 64 * 1024 * 1024;

function systemPrograms(): ScopePrograms {
  const runtimeFolder = `/run/user/${String(process.getuid?.() ?? 0)}`;
  return { run: '/usr/bin/systemd-run', control: '/usr/bin/systemctl', runtimeFolder };
}

/** Finds a manager by starting a trial scope and reading its limit. An installed systemd says little: in a container it is not running. */
export function findScopes(programs: ScopePrograms = systemPrograms()): SystemdScopes | undefined {
  if (![programs.run, programs.control, `${programs.runtimeFolder}/systemd/private`].every(isPresent)) return undefined;
  const script = 'cat "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/memory.max"';
  const [command = '', ...words] = scopeCommand(programs, trialName(), TRIAL_BYTES, ['/bin/sh', '-c', script]);
  const { stdout } = spawnSync(command, words, { env: outerEnv(programs), encoding: 'utf8', timeout: CALL_MS });
  return stdout.trim() === String(TRIAL_BYTES) ? { version: 'scope', programs } : undefined;
}

function trialName(): string {
  return `skillwright-${String(process.pid)}-${randomUUID().slice(0, 13)}.scope`;
}

function outerEnv({ runtimeFolder }: ScopePrograms): Readonly<Record<string, string>> {
  return { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: runtimeFolder };
}

/** `systemd-run` becomes the command, in the same process. The command does not see where the manager listens. */
function scopeCommand(
  { run }: ScopePrograms,
  name: string,
  memoryBytes: number,
  argv: readonly string[],
): readonly string[] {
  const limits = [`MemoryMax=${String(memoryBytes)}`, 'MemorySwapMax=0'].flatMap((property) => ['-p', property]);
  const options = ['--user', '--scope', '--quiet', '--unit', name, ...limits];
  return [run, ...options, '--', '/usr/bin/env', '-u', 'XDG_RUNTIME_DIR', ...argv];
}

/** The scope of one program. The manager removes it when its last process has ended, and keeps the result of one that was killed. */
export function makeScope({ programs }: SystemdScopes, { memoryBytes }: Pick<RunLimits, 'memoryBytes'>): RunGroup {
  const name = trialName();
  const control = (...words: readonly string[]): string =>
    spawnSync(programs.control, ['--user', ...words], {
      env: outerEnv(programs),
      encoding: 'utf8',
      timeout: CALL_MS,
    }).stdout.trim();
  let kills: number | undefined;
  return {
    entersItself: true,
    outerEnv: outerEnv(programs),
    wrap: (argv) => scopeCommand(programs, name, memoryBytes, argv),
    // The launcher is in the scope from the start, and so are all that it starts. A process outside cannot be moved into it.
    add: () => Promise.reject(Object.assign(new Error('not in its scope'), { code: 'EPERM', syscall: 'write' })),
    has: (pid) => (readProcFile(pid, 'cgroup') ?? '').split('\n').some((line) => line.endsWith(`/${name}`)),
    memoryKills: (isLast) => {
      if (isLast) kills ??= control('show', '-p', 'Result', '--value', name) === 'oom-kill' ? 1 : 0;
      return kills ?? 0;
    },
    refusedProcesses: () => undefined,
    remove: () => {
      if (kills === 1) control('reset-failed', name);
      return Promise.resolve(true);
    },
  };
}
