/** Whether a file system keeps the executable bits of files. FAT and exFAT give every file the mode of the mount. */
import { chmodSync, closeSync, lstatSync, openSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { OPEN_FLAGS, isProgram, isSystemError, quietly } from '#platform';

/** By device: the answer does not change while it is mounted. */
const KNOWN = new Map<number, boolean>();

/** Sets and clears the bit of a new file beside the folder. True if no file can be made there, so that modes count when in doubt. */
export function keepsModes(folder: string): boolean {
  try {
    const { dev } = lstatSync(folder);
    const parent = path.dirname(folder);
    // The parent may be the link of an open directory in /proc.
    if (statSync(parent).dev !== dev) return true;
    const isKept = KNOWN.get(dev) ?? probeModes(parent);
    KNOWN.set(dev, isKept);
    return isKept;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return true;
  }
}

function probeModes(folder: string): boolean {
  const file = path.join(folder, `.skillwright-modes-${String(process.pid)}`);
  closeSync(openSync(file, OPEN_FLAGS.newFile, 0o644));
  try {
    return [0o755, 0o644].every((mode) => {
      tryChmod(file, mode);
      return isProgram(lstatSync(file)) === (mode === 0o755);
    });
  } finally {
    unlinkSync(file);
  }
}

/** Some of these file systems refuse the change, others ignore it. */
function tryChmod(file: string, mode: number): void {
  quietly(() => chmodSync(file, mode));
}
