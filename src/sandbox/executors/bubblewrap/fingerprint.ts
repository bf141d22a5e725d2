import { statSync } from 'node:fs';

import { sha256 } from '../../../platform/hash.ts';
import { isSystemError } from '../../../platform/fs/paths.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { SECCOMP_ARCHITECTURES } from '../seccomp/system-calls.ts';
import type { BubblewrapOptions } from './executor.ts';
import { gatedCommand } from './gate.ts';
import { ENTRY_DESCRIPTOR } from './inherited-files.ts';
import { sandboxArguments } from './profile.ts';
import { findBubblewrap } from './support.ts';
import { DEFAULT_LIMITS } from '../../../core/execution.ts';

/** Changes with the installed bubblewrap, the profile, the seccomp filter and the options. */
export function bubblewrapFingerprint(options: BubblewrapOptions = {}): string {
  const profile = sandboxArguments({
    system: [],
    skills: [],
    writable: [],
    cwd: '.',
    env: {},
    descriptors: { seccomp: 0, passwd: 0, group: 0, hosts: 0, names: 0 },
    temporaryBytes: 0,
    sharedMemoryBytes: 0,
  });
  const gate = gatedCommand({
    argv: [],
    limits: DEFAULT_LIMITS,
    processes: 0,
    cpuSeconds: 0,
    lateEnv: {},
    terminal: false,
    entryDescriptor: ENTRY_DESCRIPTOR,
  });
  const { bridge, ...settings } = options;
  const parts = [stampOf(options.command ?? findBubblewrap()), profile, gate, settings, bridge !== undefined];
  // Only the filter of this processor is used.
  const filters = SECCOMP_ARCHITECTURES.filter((name) => name === process.arch).map((name) =>
    sha256(seccompBytes(name)),
  );
  return `bubblewrap ${sha256(JSON.stringify([parts, filters]))}`;
}

function stampOf(command: string | undefined): string {
  if (command === undefined) return 'absent';
  try {
    const { size, mtimeMs, ino } = statSync(command);
    return `${command} ${String(size)} ${String(mtimeMs)} ${String(ino)}`;
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}
