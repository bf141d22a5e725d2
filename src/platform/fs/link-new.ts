/** A finished file that gets its name in one step, and only if the name is free. */
import { closeSync, linkSync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { sha256 } from '../hash.ts';
import { isSystemError, quietly } from '../system-error.ts';

/** What `link` fails with on file systems without hard links, such as FAT and some network mounts. */
const NO_HARD_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

export function isWithoutHardLinks(error: unknown): boolean {
  return isSystemError(error) && NO_HARD_LINKS.has(error.code);
}

/**
 * Gives a finished file its name in the same folder. Throws EEXIST if something is there. `written` may still exist afterwards.
 *
 * Without hard links the file is renamed. A rename replaces what is there, so a reservation beside the name makes sure that one process at
 * a time looks whether the name is free and renames.
 */
export function linkNew(written: string, file: string): void {
  try {
    linkSync(written, file);
  } catch (error) {
    if (!isWithoutHardLinks(error)) throw error;
    const release = reserve(file);
    try {
      if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw exists(file);
      renameSync(written, file);
    } finally {
      release();
    }
  }
}

const PAUSE_MS = 2;
/** A reservation is held for less than a millisecond. One that stays for this long belongs to a killed process. */
const ABANDONED_MS = 5_000;

/** Waits for the reservation of a name; returns the function that ends it. */
function reserve(file: string): () => void {
  // The name may have the maximum length itself.
  const reservation = path.join(path.dirname(file), `.${sha256(path.basename(file)).slice(0, 16)}.reserved`);
  let seen = '';
  // The clock of this process: that of a network mount may differ.
  let since = performance.now();
  for (;;) {
    try {
      closeSync(openSync(reservation, 'wx', 0o600));
      return () => quietly(() => unlinkSync(reservation));
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    }
    const stats = lstatSync(reservation, { throwIfNoEntry: false });
    const now = stats === undefined ? '' : `${String(stats.ino)} ${String(stats.ctimeMs)}`;
    if (now !== seen) [seen, since] = [now, performance.now()];
    else if (now !== '' && performance.now() - since > ABANDONED_MS) quietly(() => unlinkSync(reservation));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS * Math.random());
  }
}

function exists(file: string): Error {
  return Object.assign(new Error(`EEXIST: file already exists, link '${file}'`), {
    code: 'EEXIST',
    errno: -17,
    syscall: 'link',
    path: file,
  });
}
