import { statSync } from 'node:fs';

import { sha256 } from '../hash.ts';

export interface Fingerprint {
  /** Differs whenever one of the files was written, replaced, added or removed. */
  readonly fingerprint: string;
  /** False when a file changed so short a time ago that it could change again unseen. */
  readonly isSettled: boolean;
}

/** A file system that keeps whole seconds, or two, is the coarsest there is. */
const SETTLED_MS = 2_100;

/** What files look like from outside; none of them is opened. */
export function fingerprintFiles(files: readonly string[], now: number = Date.now()): Fingerprint {
  let latest = 0;
  let text = '';
  for (const file of files) {
    const stats = statSync(file, { throwIfNoEntry: false });
    text +=
      stats === undefined
        ? `${file}\0-\n`
        : `${file}\0${stats.size}\0${stats.mtimeMs}\0${stats.ctimeMs}\0${stats.ino}\n`;
    if (stats !== undefined) latest = Math.max(latest, stats.mtimeMs, stats.ctimeMs);
  }
  return { fingerprint: sha256(text), isSettled: now - latest > SETTLED_MS };
}
