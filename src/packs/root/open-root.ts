/** A root of skills, opened for changes by one process at a time. */
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { LockFile } from '../lock/lock.ts';
import { PackRefused, isRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { orSystemRefusal } from '../system-refusal.ts';
import type { OnStep } from './apply.ts';
import { JOURNAL_NAME, STATE_FOLDER, holdRoot, lockPlace, prepareState, releaseRoot } from './places.ts';
import { readLockAt } from './read-lock.ts';
import { recoverHeld } from './recover.ts';
import type { Recovered } from './recover.ts';
import { lockRoot } from './root-lock.ts';
import type { RootLock } from './root-lock.ts';
import { RootSession } from './root-session.ts';
import type { OpenRoot } from './root-session.ts';

export type { Committed, OpenRoot } from './root-session.ts';

export interface WithRootOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process; 30 s. */
  readonly timeoutMs?: number;
  /** Make the root where there is none. */
  readonly create?: boolean;
  readonly onRecovered?: (what: Recovered) => void;
  /** For tests: told after everything that recovery does and others can see. */
  readonly onStep?: OnStep;
}

/**
 * Opens a root, brings it to rest where somebody left it in the middle, and lets `act` change it while nobody else does. Refused where the
 * root cannot be used, is in use for too long, or has a lock that cannot be read. A `PackRefused` of `act` is its refusal; all else that it
 * throws flies on.
 */
export async function withRoot<T>(
  root: string,
  options: WithRootOptions,
  act: (open: OpenRoot) => Promise<T>,
): Promise<T | PackRefusal> {
  const opened = await orSystemRefusal(() => open(root, options), `${quoted(root, 200)} cannot be used`);
  if (isRefusal(opened)) return opened;
  try {
    return await act(opened.handle());
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  } finally {
    await opened.close();
  }
}

/** Brings a root to rest; nothing more. */
export async function recoverRoot(
  root: string,
  options: Omit<WithRootOptions, 'create'> = {},
): Promise<{ readonly type: 'recovered'; readonly lock: LockFile } | PackRefusal> {
  return withRoot(root, options, ({ lock }) => Promise.resolve({ type: 'recovered', lock }));
}

/** Somebody is in the middle of a change, or died there. One look, for readers. */
export function needsRecovery(root: string): boolean {
  return existsSync(path.join(root, STATE_FOLDER, JOURNAL_NAME));
}

async function open(root: string, options: WithRootOptions): Promise<RootSession> {
  const held = holdRoot(root, { create: options.create ?? false });
  let rootLock: RootLock | undefined;
  try {
    prepareState(held);
    rootLock = await lockRoot(held, options);
    await recoverHeld(held, options);
    const lock = readLockAt(lockPlace(held));
    if (isRefusal(lock)) throw new PackRefused(lock);
    return new RootSession(held, rootLock, lock);
  } catch (error) {
    rootLock?.release();
    releaseRoot(held);
    throw error;
  }
}
