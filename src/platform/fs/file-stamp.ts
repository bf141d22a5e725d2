/** Detecting changed files by their metadata, without opening them. */
import { lstatSync, lutimesSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { sha256 } from '../hash.ts';
import { isSystemError } from '../system-error.ts';

export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

const QUIET = { throwIfNoEntry: false } as const;

/** The stamp of a regular file; `undefined` for anything else, a link included, and for system errors. */
export function statFile(file: string): FileStamp | undefined {
  try {
    const stats = lstatSync(file, QUIET);
    return stats?.isFile() === true ? stats : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** File system clocks tick coarsely: a file can change twice within one tick and keep its times. */
const TICK_MS = 50;
/** FAT counts in two seconds, ext3 and HFS+ in one. */
const WHOLE_SECOND_TICK_MS = 2_100;

/**
 * True if any change after `readAt` alters the stamp. False if the last change was within one tick of the clock or lies in the future;
 * such a file must be read again (git calls it racily clean).
 */
export function isSettled({ mtimeMs, ctimeMs }: FileStamp, readAt: number): boolean {
  const tick = mtimeMs % 1000 === 0 || ctimeMs % 1000 === 0 ? WHOLE_SECOND_TICK_MS : TICK_MS;
  return Math.max(mtimeMs, ctimeMs) + tick < readAt;
}

/**
 * A change time (`ctimeMs`) that divides changes: earlier ones of this file system are before it, later ones are not. The entry must be
 * new. Waits for the next tick of the clock where needed: Linux since 6.13 stamps a change exactly if the stamp before it was read. On
 * file systems with long ticks it returns the current tick, which earlier changes may share.
 */
export async function nextChangeTime(entry: string): Promise<number> {
  const { ctimeMs: made } = lstatSync(entry);
  for (const deadline = performance.now() + TICK_MS; performance.now() < deadline; await delay(1)) {
    const now = new Date();
    lutimesSync(entry, now, now);
    const { ctimeMs } = lstatSync(entry);
    if (ctimeMs > made) return ctimeMs;
  }
  return made;
}

export interface Fingerprint {
  /** Differs whenever one of the files was written, replaced, added or removed. */
  readonly fingerprint: string;
  /** False if a file changed so recently that it could change again without a different fingerprint. */
  readonly isSettled: boolean;
}

/** The fingerprint of files, links followed. */
export function fingerprintFiles(files: readonly string[], now: number = Date.now()): Fingerprint {
  let latest = 0;
  let text = '';
  for (const file of files) {
    const stats = statSync(file, QUIET);
    text +=
      stats === undefined
        ? `${file}\0-\n`
        : `${file}\0${stats.size}\0${stats.mtimeMs}\0${stats.ctimeMs}\0${stats.ino}\n`;
    if (stats !== undefined) latest = Math.max(latest, stats.mtimeMs, stats.ctimeMs);
  }
  return { fingerprint: sha256(text), isSettled: now - latest > WHOLE_SECOND_TICK_MS };
}
