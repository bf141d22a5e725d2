import { readFileSync } from 'node:fs';

import { isSystemError } from '../fs/paths.ts';

/**
 * The memory that these processes use together. Pages that they share since a fork count for each of them at first; only where that sum
 * would be too much is the exact share asked for, which costs more.
 */
export function memoryOf(pids: readonly number[], limit: number): number {
  const sum = total(pids, 'status', OWN_PAGES);
  return sum <= limit ? sum : total(pids, 'smaps_rollup', SHARES);
}

/** Not the pages of files: the system takes those back when it needs them. */
const OWN_PAGES = /^Rss(?:Anon|Shmem):\s+(\d+) kB/gm;
const SHARES = /^Pss_(?:Anon|Shmem):\s+(\d+) kB/gm;

function total(pids: readonly number[], file: string, pattern: RegExp): number {
  let kibibytes = 0;
  for (const pid of pids)
    for (const [, count] of readOrNothing(`/proc/${String(pid)}/${file}`).matchAll(pattern)) kibibytes += Number(count);
  return kibibytes * 1024;
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    // Gone meanwhile: it uses nothing.
    if (isSystemError(error)) return '';
    throw error;
  }
}
