import { statSync } from 'node:fs';

import { sha256 } from '../../../platform/hash.ts';
import { isSystemError } from '../../../platform/fs/paths.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { SECCOMP_ARCHITECTURES } from '../seccomp/system-calls.ts';
import type { BubblewrapOptions } from './executor.ts';
import { gatedCommand } from './gate.ts';
import { ENTRY_DESCRIPTOR } from './launcher.ts';
import { sandboxArguments } from './arguments.ts';
import { findBubblewrap } from './support.ts';
import { sandboxEntries } from '../linux/profile.ts';

/** Changes with the installed bubblewrap, the profile, the seccomp filter and the options. */
export function bubblewrapFingerprint(options: BubblewrapOptions = {}): string {
  const entries = sandboxEntries({
    system: [],
    skills: [],
    writable: [],
    mounts: [],
    temporaryBytes: 0,
    sharedMemoryBytes: 0,
  });
  const profile = sandboxArguments({ entries, cwd: '/', env: {}, filter: 0, files: entries.map(() => 0) });
  const gate = gatedCommand({
    argv: [],
    limits: { processes: 0, fileBytes: 0, openFiles: 0, cpuSeconds: 0 },
    lateEnv: {},
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
