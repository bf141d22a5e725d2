/** Locks with their owner in them: whether one is held, and how one that a dead process left is taken away. */
import { lstatSync, unlinkSync } from 'node:fs';

import { ownerOfName, ownerState } from './folder-lock.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './private-file.ts';

export interface LeftOverRule {
  /** The lock of somebody we cannot ask about is left over when it gave no sign for this long. */
  readonly leftOverMs: number;
  /** Takes a lock; false where somebody has it. */
  readonly take: (lock: string) => boolean;
}

const MAX_BYTES = 4096;

/**
 * Gives true where the lock may be free now. Only who holds the right to remove locks removes one, and looks again first: else a slow
 * process could remove the new lock that another took after removing the old one.
 */
export function removeIfLeftOver(lock: string, { leftOverMs, take }: LeftOverRule): boolean {
  const state = stateOf(lock, leftOverMs);
  if (state !== 'left-over') return state === 'gone';
  const right = `${lock}.remove`;
  if (!take(right)) {
    if (stateOf(right, leftOverMs) === 'left-over') unlinkIfPresent(right);
    return false;
  }
  try {
    if (stateOf(lock, leftOverMs) === 'left-over') unlinkIfPresent(lock);
  } finally {
    unlinkIfPresent(right);
  }
  return true;
}

function stateOf(lock: string, leftOverMs: number): 'held' | 'left-over' | 'gone' {
  const stats = lstatSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return 'gone';
  const read = readPrivateFile(lock, { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return 'gone';
  const owner = read.type === 'read' ? ownerOfName(read.bytes.toString('utf8')) : undefined;
  const state = owner === undefined ? 'unknown' : ownerState(owner);
  if (state === 'unknown') return Date.now() - stats.mtimeMs > leftOverMs ? 'left-over' : 'held';
  return state === 'dead' ? 'left-over' : 'held';
}

/** What somebody else removed first is removed. */
export function unlinkIfPresent(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
