/** One process at a time changes a root. As `platform/fs/file-lock.ts`, for work that takes longer and waits for other things. */
import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { PackRefused, refused } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { ownerName, ownerOfName, ownerState, thisProcess } from '../../platform/fs/folder-lock.ts';
import type { FolderOwner } from '../../platform/fs/folder-lock.ts';
import { removeIfLeftOver, unlinkIfPresent } from '../../platform/fs/left-over-lock.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { readPrivateFile } from '../../platform/fs/private-file.ts';
import { identityAt, statePath } from './root-paths.ts';
import type { RootHandle } from './root-paths.ts';

export interface RootLockOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process; 30 s. */
  readonly timeoutMs?: number;
}

export interface RootLock {
  /** Throws `PackRefused` where somebody took the lock away meanwhile, by hand or because we slept for too long. */
  refuseLost(): void;
  release(): void;
}

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 10;
/** A holder shows this often that it lives, for those who cannot ask the system about it: other containers. */
const SIGN_MS = 5_000;
/** The lock of somebody we cannot ask about is left over when it gave no sign for this long. */
const LEFT_OVER_MS = 60_000;
const MAX_BYTES = 4096;
/** Starts the names of locks that are not yet in their place; the owner follows. */
const HALF = '.lock.';

/** Waits for the right to change a root. Throws `PackRefused` where it is never free, and what the system says. */
export async function lockRoot(
  handle: RootHandle,
  { signal, timeoutMs = TIMEOUT_MS }: RootLockOptions = {},
): Promise<RootLock> {
  const lock = statePath(handle, 'lock');
  removeHalfLocks(handle);
  const end = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const owner = tryLock(lock);
    if (owner !== undefined) return ownedLock(handle, lock, owner);
    if (removeIfLeftOver(lock, { leftOverMs: LEFT_OVER_MS, take: (one) => tryLock(one) !== undefined })) continue;
    if (Date.now() >= end) throw busy(handle, lock);
    // Not all at the same moment again.
    await sleep(PAUSE_MS * (1 + Math.random()), undefined, signal === undefined ? {} : { signal });
  }
}

/** What processes that were killed while they asked for the lock left of it. */
function removeHalfLocks(handle: RootHandle): void {
  for (const name of readdirSync(statePath(handle))) {
    const owner = name.startsWith(HALF) ? ownerOfName(name.slice(HALF.length)) : undefined;
    if (owner !== undefined && ownerState(owner) === 'dead') unlinkIfPresent(statePath(handle, name));
  }
}

function ownedLock(handle: RootHandle, lock: string, owner: string): RootLock {
  const isOurs = (): boolean => textOf(lock) === owner;
  const timer = setInterval(() => {
    if (isOurs()) sign(lock);
  }, SIGN_MS);
  timer.unref();
  return {
    refuseLost() {
      if (!isOurs()) throw busy(handle, lock);
      sign(lock);
    },
    release() {
      clearInterval(timer);
      if (isOurs()) unlinkIfPresent(lock);
    },
  };
}

function sign(lock: string): void {
  try {
    utimesSync(lock, Date.now() / 1000, Date.now() / 1000);
  } catch (error) {
    // Whoever needs the lock asks for it by name before they write.
    if (!isSystemError(error)) throw error;
  }
}

/** A link appears with its contents or not at all: nobody ever reads half an owner. Gives what stands in it, which is like no other. */
function tryLock(lock: string): string | undefined {
  // Most of the time nobody holds it; where somebody does, nothing need be written to see that.
  if (identityAt(lock) !== undefined) return undefined;
  const text = `${ownerName(thisProcess())}.${randomBytes(8).toString('hex')}`;
  const own = path.join(path.dirname(lock), HALF + text);
  try {
    writeFileSync(own, text, { flag: 'wx', mode: 0o600 });
    linkSync(own, lock);
    return text;
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    return undefined;
  } finally {
    unlinkIfPresent(own);
  }
}

function holderOf(lock: string): FolderOwner | undefined {
  return ownerOfName(textOf(lock));
}

function textOf(lock: string): string {
  const read = readPrivateFile(lock, { maxBytes: MAX_BYTES });
  return read.type === 'read' ? read.bytes.toString('utf8') : '';
}

function busy(handle: RootHandle, lock: string): PackRefused {
  const holder = holderOf(lock);
  const who = holder === undefined ? 'another process' : `process ${String(holder.pid)}`;
  return refused('install/busy', `${who} changes ${quoted(handle.path, 200)}`, handle.path);
}
