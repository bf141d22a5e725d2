import path from 'node:path';

import { writeFileAtomically } from '../platform/atomic-write.ts';
import { makeFolders } from '../platform/make-folders.ts';
import { isSystemError } from '../platform/paths.ts';

/** Writes compiled code where the next process finds it. A cache that cannot be written is no failure. */
export function writeCode(file: string, pieces: readonly Uint8Array[]): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    // On the disk before it has its name: V8 believes every byte, so that a file with a hole would end each process that reads it.
    writeFileAtomically(file, pieces, { sync: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
