/** What the user accepted of the scan, as locks record it. Separate, because `list` needs nothing else of a lock. */
import path from 'node:path';

import { readTextFile } from '#platform';
import { isRefusal } from '../problems.ts';
import { LOCK_FILE_NAME, readLock } from './lock-file.ts';

/** The rules of the scan that the user accepted, by folder of the skill. Reads the lock of each root only if it has any. */
export function readAccepted(folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const accepted = new Map<string, readonly string[]>();
  for (const root of new Set(folders.map((folder) => path.dirname(folder)))) {
    const read = readTextFile(path.join(root, LOCK_FILE_NAME), MAX_LOCK);
    const lock = read.type === 'read' && read.text.includes('"accepted"') ? readLock(root) : undefined;
    if (lock === undefined || isRefusal(lock)) continue;
    for (const { name, accepted: rules } of lock.skills.values())
      if (rules !== undefined) accepted.set(path.join(root, name), rules);
  }
  return accepted;
}

const MAX_LOCK = 64 * 1024 * 1024;
