import { linkSync, lstatSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { SkillError } from '../core/errors.ts';
import { writeFileAtomically } from './atomic-write.ts';
import { ownerName, ownerOfName, ownerState, thisProcess } from './folder-lock.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './private-file.ts';
import { temporaryName } from './temporary-name.ts';

export interface FileLockOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process; 10 s. */
  readonly timeoutMs?: number;
}

/** What is done under a lock takes milliseconds: one of somebody we cannot ask about is left over when it is this old. */
const LEFT_OVER_MS = 10_000;
const PAUSE_MS = 5;
const MAX_BYTES = 4096;

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
    if (!removeIfLeftOver(lock)) await sleep(PAUSE_MS * (1 + Math.random()));
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

/**
 * Gives true where the lock may be free now. Only who holds the right to remove locks removes one, and looks again first: else a slow
 * process could remove the new lock that another took after removing the old one.
 */
function removeIfLeftOver(lock: string): boolean {
  const state = stateOf(lock);
  if (state !== 'left-over') return state === 'gone';
  const right = `${lock}.remove`;
  if (!tryLock(right)) {
    if (stateOf(right) === 'left-over') unlinkIfPresent(right);
    return false;
  }
  try {
    if (stateOf(lock) === 'left-over') unlinkIfPresent(lock);
  } finally {
    unlinkIfPresent(right);
  }
  return true;
}

function stateOf(lock: string): 'held' | 'left-over' | 'gone' {
  const stats = lstatSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return 'gone';
  const read = readPrivateFile(lock, { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return 'gone';
  const owner = read.type === 'read' ? ownerOfName(read.bytes.toString('utf8')) : undefined;
  const state = owner === undefined ? 'unknown' : ownerState(owner);
  if (state === 'unknown') return Date.now() - stats.mtimeMs > LEFT_OVER_MS ? 'left-over' : 'held';
  return state === 'dead' ? 'left-over' : 'held';
}

function unlinkIfPresent(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
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
