/** What locks say about skills in any folder. Separate, because `list` needs nothing else of a lock. */
import path from 'node:path';

import { readTextFile } from '#platform';
import { isRefusal } from '../problems.ts';
import { LOCK_FILE_NAME, MAX_LOCK_BYTES, readLockFile, type LockedSkill } from './lock-file.ts';

/**
 * The lock entries of the skills in these folders, by folder. Reads each lock once; one that cannot be read has no entries. With `field`,
 * locks without such a field may count as empty: a lock of thousands of skills takes long to validate.
 */
export function findLocked(folders: readonly string[], field?: keyof LockedSkill): ReadonlyMap<string, LockedSkill> {
  const locks = new Map<string, ReadonlyMap<string, LockedSkill>>();
  const lockedIn = (root: string): ReadonlyMap<string, LockedSkill> => {
    const read = readTextFile(path.join(root, LOCK_FILE_NAME), MAX_LOCK_BYTES);
    if (read.type !== 'read' || !read.validUtf8) return new Map();
    // JSON may write any letter as an escape.
    if (field !== undefined && !read.text.includes(`"${field}"`) && !read.text.includes(String.raw`\u`))
      return new Map();
    const lock = readLockFile(read.text);
    return isRefusal(lock) ? new Map() : lock.skills;
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
