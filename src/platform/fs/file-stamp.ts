import { lstatSync } from 'node:fs';

import { isSystemError } from './paths.ts';

/** What tells one state of a file from another without reading it. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

const QUIET = { throwIfNoEntry: false } as const;

/** The state of a regular file, its links not followed; nothing where there is none or it cannot be asked. */
export function statFile(file: string): FileStamp | undefined {
  try {
    const stats = lstatSync(file, QUIET);
    return stats?.isFile() === true ? stats : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Clocks of file systems tick coarsely: a file can change again within one tick and keep its time stamps. */
const TICK_MS = 50;
/** FAT counts in two seconds, ext3 and HFS+ in one. */
const WHOLE_SECOND_TICK_MS = 2_100;

/**
 * The stamp of a file read at `readAt` will differ after any later change. It would not where the last change was within one
 * tick of the clock, or lies in the future; such a file is to be read again (git calls it racily clean).
 */
export function isSettled({ mtimeMs, ctimeMs }: FileStamp, readAt: number): boolean {
  const tick = mtimeMs % 1000 === 0 || ctimeMs % 1000 === 0 ? WHOLE_SECOND_TICK_MS : TICK_MS;
  return Math.max(mtimeMs, ctimeMs) + tick < readAt;
}
