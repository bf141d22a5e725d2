import path from 'node:path';

import { LOCK_FILE_NAME } from '../lock/lock.ts';
import type { LockFile } from '../lock/lock.ts';
import { EMPTY_LOCK, readLockFile } from '../lock/lock-file.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';

const MAX_BYTES = 256 * 1024 * 1024;

/** The lock of a root, for readers: no right to change it is needed. Nothing where there is none. */
export function readLock(root: string): LockFile | PackRefusal | undefined {
  return readFileAt(path.join(root, LOCK_FILE_NAME));
}

/** The same for whoever changes the root: a missing lock is an empty one. */
export function readLockAt(file: string): LockFile | PackRefusal {
  return readFileAt(file) ?? EMPTY_LOCK;
}

function readFileAt(file: string): LockFile | PackRefusal | undefined {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed') return packRefusal('lock/invalid', `${LOCK_FILE_NAME} cannot be read: ${read.reason}`);
  if (!read.validUtf8) return packRefusal('lock/invalid', `${LOCK_FILE_NAME} is not UTF-8`);
  return readLockFile(read.text);
}
