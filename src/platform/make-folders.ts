import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { isPresent, isSystemError } from './paths.ts';

/**
 * A folder and those above it, where they are not there yet. Throws the system's error: Node's own has ENOENT in the place of all that
 * it does not know, a file system that cannot be written among it.
 */
export function makeFolders(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { recursive: true, mode });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    let top = folder;
    for (let above = path.dirname(top); above !== top && !isPresent(above); above = path.dirname(top)) top = above;
    mkdirSync(top, { mode });
    // It came to be possible meanwhile.
    mkdirSync(folder, { recursive: true, mode });
  }
}
