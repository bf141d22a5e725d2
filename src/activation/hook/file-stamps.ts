import { statSync } from 'node:fs';

import { fingerprintFiles, isSettled, quietly } from '#platform';

/** Files, and what tells that one of them changed. */
export interface WatchedFiles {
  readonly files: readonly string[];
  readonly fingerprint: string;
}

/** Undefined if a file cannot be looked at. */
export function fingerprintOf(files: readonly string[]): string | undefined {
  return quietly(() => fingerprintFiles(files).fingerprint);
}

/** Undefined if the file cannot be looked at, or changed so shortly before `readAt` that what was read may be older. */
export function stampOf(file: string, readAt = Infinity): string | undefined {
  const stats = quietly(() => statSync(file));
  return stats !== undefined && isSettled(stats, readAt)
    ? [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino].join(':')
    : undefined;
}
