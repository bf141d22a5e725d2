import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from './paths.ts';

/**
 * A folder and those above it, where they are not there yet. Throws the system's error. Not Node's own way: that one has ENOENT in the
 * place of all that it does not know, a file system that cannot be written among it, and never ends where the system says ENOENT below
 * a folder that is there, as it does of /proc and of a folder that was removed.
 */
export function makeFolders(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = folder; !isMade(at, mode) && at !== path.dirname(at); at = path.dirname(at)) missing.push(at);
  // What is above each of them is there now: one more ENOENT is the answer.
  for (const at of missing.reverse()) if (!isMade(at, mode)) mkdirSync(at, { mode });
}

/** False where there is nothing to make it in. */
function isMade(folder: string, mode: number): boolean {
  if (isFolder(folder)) return true;
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return false;
    // Another process may have been faster.
    if (error.code === 'EEXIST' && isFolder(folder)) return true;
    throw error;
  }
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
