/** Detecting changed files by their metadata, without opening them. */
import { statSync, type Stats } from 'node:fs';

const QUIET = { throwIfNoEntry: false } as const;

/** File system clocks tick coarsely: a file can change twice within one tick and keep its times. */
const TICK_MS = 50;
/** FAT counts in two seconds, ext3 and HFS+ in one. */
const WHOLE_SECOND_TICK_MS = 2_100;

/**
 * True if any change after `readAt` alters the stamp. False if the last change was within one tick of the clock or lies in the future;
 * such a file must be read again (git calls it racily clean).
 */
export function isSettled({ mtimeMs, ctimeMs }: Pick<Stats, 'mtimeMs' | 'ctimeMs'>, readAt: number): boolean {
  const tick = mtimeMs % 1000 === 0 || ctimeMs % 1000 === 0 ? WHOLE_SECOND_TICK_MS : TICK_MS;
  return Math.max(mtimeMs, ctimeMs) + tick < readAt;
}

interface Fingerprint {
  /** Differs whenever one of the files was written, replaced, added or removed. As long as the paths: hash it to name a file. */
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
  return { fingerprint: text, isSettled: now - latest > WHOLE_SECOND_TICK_MS };
}
