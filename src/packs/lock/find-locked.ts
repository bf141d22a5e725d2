/** What locks say about skills in any folder. Separate, because `list` needs nothing else of a lock. */
import path from 'node:path';

import { isRefusal } from '../problems.ts';
import { readLock, type LockedSkill } from './lock-file.ts';

/** The lock entries of the skills in these folders, by folder. Reads each lock once; one that cannot be read has no entries. */
export function findLocked(folders: readonly string[]): ReadonlyMap<string, LockedSkill> {
  const locks = new Map<string, ReadonlyMap<string, LockedSkill>>();
  const lockedIn = (root: string): ReadonlyMap<string, LockedSkill> => {
    const lock = readLock(root);
    return lock === undefined || isRefusal(lock) ? new Map() : lock.skills;
  };
  return new Map(
    folders.flatMap((folder) => {
      const root = path.dirname(folder);
      const skills = locks.get(root) ?? lockedIn(root);
      locks.set(root, skills);
      const locked = skills.get(path.basename(folder));
      return locked === undefined ? [] : [[folder, locked] as const];
    }),
  );
}
