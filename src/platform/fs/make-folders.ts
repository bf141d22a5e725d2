import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isSystemError } from '../system-error.ts';

/**
 * Creates a folder and its missing parents, one `mkdir` at a time. Throws system errors. Node's recursive `mkdir` is not used: it
 * reports ENOENT instead of EROFS, and never returns where the system answers ENOENT below an existing folder, as it does in /proc and
 * in a folder that was removed.
 */
export function makeFolders(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = folder; !tryMake(at, mode) && at !== path.dirname(at); at = path.dirname(at)) missing.push(at);
  // The parent of each exists now, so another ENOENT is final.
  for (const at of missing.reverse()) if (!tryMake(at, mode)) mkdirSync(at, { mode });
}

/** False if the parent is missing. */
function tryMake(folder: string, mode: number): boolean {
  if (isFolder(folder)) return true;
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return false;
    // Another process may have created it meanwhile.
    if (error.code === 'EEXIST' && isFolder(folder)) return true;
    throw error;
  }
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}
