import { statSync } from 'node:fs';

import { quietly, sha256 } from '#platform';
import { UNCOUNTED_MEMORY } from '../seccomp/calls.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { findArchitecture } from '../seccomp/system-calls.ts';
import type { LaunchRequest } from './launcher.ts';
import { sandboxEntries } from './profile.ts';

/** A program with nothing of this machine in it: what a launcher makes of it changes with the launcher and the profile only. */
export const EMPTY_REQUEST: LaunchRequest = {
  entries: sandboxEntries({
    system: [],
    skills: [],
    writable: [],
    mounts: [],
    temporaryBytes: 0,
    sharedMemoryBytes: 0,
  }),
  cwd: '/',
  env: {},
  argv: [],
  limits: { processes: 0, fileBytes: 0, openFiles: 0, cpuSeconds: 0 },
  hasEntry: true,
};

/** Identifies an installed tool, the seccomp filter and everything in `parts`. */
export function sandboxFingerprint(tool: string | undefined, parts: unknown): string {
  filterDigests ??= digestsOfFilters();
  return sha256(JSON.stringify([stampCommand(tool), parts, filterDigests]));
}

/** Computed once for all executors. */
let filterDigests: readonly string[] | undefined;

/** Only the filters of this processor are used. */
function digestsOfFilters(): readonly string[] {
  const own = findArchitecture();
  return own === undefined ? [] : [[], UNCOUNTED_MEMORY].map((further) => sha256(seccompBytes(own, further)));
}

function stampCommand(command: string | undefined): string {
  if (command === undefined) return 'absent';
  const stats = quietly(() => statSync(command), undefined);
  return [command, stats?.size, stats?.mtimeMs, stats?.ino].join(' ');
}
