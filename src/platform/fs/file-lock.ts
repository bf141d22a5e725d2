import { linkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { SkillError } from '../../core/errors.ts';
import { writeFileAtomically } from './atomic-write.ts';
import { ownerName, thisProcess } from './folder-lock.ts';
import { removeIfLeftOver, unlinkIfPresent } from './left-over-lock.ts';
import { isSystemError } from './paths.ts';
import { temporaryName } from './temporary-name.ts';

export interface FileLockOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process; 10 s. */
  readonly timeoutMs?: number;
}

/** What is done under a lock takes milliseconds: one of somebody we cannot ask about is left over when it is this old. */
const LEFT_OVER_MS = 10_000;
const PAUSE_MS = 5;

/**
 * Does something that no other process does for the same file meanwhile. `act` does not wait for anything, so a lock is held for
 * milliseconds; that of a process that died is taken away. Throws `io/failed` where it is never free, and what `act` throws.
 */
export async function withFileLock<T>(
  file: string,
  act: () => T,
  { signal, timeoutMs = 10_000 }: FileLockOptions = {},
): Promise<T> {
  const lock = `${file}.lock`;
  const end = Date.now() + timeoutMs;
  while (!tryLock(lock)) {
    signal?.throwIfAborted();
    if (Date.now() > end) throw heldTooLong(file, lock);
    // Not all at the same moment again.
    if (!removeIfLeftOver(lock, { leftOverMs: LEFT_OVER_MS, take: tryLock }))
      await sleep(PAUSE_MS * (1 + Math.random()));
  }
  try {
    return act();
  } finally {
    unlinkIfPresent(lock);
  }
}

/** A link appears with its contents or not at all: nobody ever reads half an owner. */
function tryLock(lock: string): boolean {
  const own = temporaryName(lock, '.new');
  writeFileAtomically(own, Buffer.from(ownerName(thisProcess())));
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    unlinkIfPresent(own);
  }
}

function heldTooLong(file: string, lock: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `${JSON.stringify(file)} is in use by another process`,
    hint: `try again; where no skillwright runs, remove ${path.basename(lock)} beside it`,
    data: { path: file, cause: 'locked' },
  });
}
