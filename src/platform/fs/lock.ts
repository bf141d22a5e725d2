/**
 * Locks between processes: a file that names its owner (`lock-owner.ts`). It appears with its content or not at all
 * (`link-new.ts`). The lock of a dead process is removed by the next process that needs it.
 */
import { lstatSync, readdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { SkillError } from '#core';
import { nodeCrypto } from '../hash.ts';
import { linkNew } from './link-new.ts';
import { ownerName, ownerOfName, ownerState, thisProcess } from './lock-owner.ts';
import { isPresent } from './paths.ts';
import { readPrivateFile } from './read-file.ts';
import { isSystemError, quietly } from '../system-error.ts';

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for the current holder (default: 10 s). */
  readonly timeoutMs?: number;
  /** Age after which a lock is stale if its owner cannot be checked: no heartbeat came for this long (default: 10 s). */
  readonly staleMs?: number;
  /** How often the holder touches the lock; needed when it is held for longer than `staleMs`. */
  readonly heartbeatMs?: number;
}

interface Lock {
  /** False if another process removed the lock, for example because this one was suspended for longer than `staleMs`. */
  isHeld(): boolean;
  /** Touches the lock file, so that it does not become stale. */
  renew(): void;
  release(): void;
}

const DEFAULT_MS = 10_000;
const PAUSE_MS = 5;
const MAX_BYTES = 4096;

/** Waits for a lock; `undefined` if it was not free before the timeout. Throws the signal's reason and system errors. */
export async function acquireLock(
  file: string,
  { signal, timeoutMs = DEFAULT_MS, staleMs = DEFAULT_MS, heartbeatMs }: LockOptions = {},
): Promise<Lock | undefined> {
  removeAbandoned(file);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const content = tryLock(file);
    if (content !== undefined) return heldLock(file, content, heartbeatMs);
    if (removeIfStale(file, staleMs)) continue;
    if (Date.now() >= deadline) return undefined;
    // The random part keeps waiting processes from retrying at the same moment.
    await sleep(PAUSE_MS * (1 + Math.random()));
  }
}

/** The pid in a lock file; `undefined` if there is no lock or no owner can be read from it. */
export function lockHolder(file: string): number | undefined {
  return ownerOfName(readLockContent(file))?.pid;
}

/**
 * Runs `act` while no other process holds the lock of the same file, `<file>.lock`. `act` is synchronous, so the lock is held for
 * milliseconds. Throws `io/failed` on timeout, and whatever `act` throws.
 */
export async function withFileLock<T>(
  file: string,
  act: () => T,
  options: Pick<LockOptions, 'signal' | 'timeoutMs'> = {},
): Promise<T> {
  const lock = await acquireLock(`${file}.lock`, options);
  if (lock === undefined) throw locked(file);
  try {
    return act();
  } finally {
    lock.release();
  }
}

/**
 * As `withFileLock`, for callers that cannot wait asynchronously: blocks the process, so every holder must be done within milliseconds.
 */
export function withFileLockSync<T>(file: string, act: () => T, { timeoutMs = DEFAULT_MS }: LockOptions = {}): T {
  const lockFile = `${file}.lock`;
  const deadline = Date.now() + timeoutMs;
  let content = tryLock(lockFile);
  for (; content === undefined; content = tryLock(lockFile)) {
    if (removeIfStale(lockFile, DEFAULT_MS)) continue;
    if (Date.now() >= deadline) throw locked(file);
    removeAbandoned(lockFile);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS * Math.random());
  }
  try {
    return act();
  } finally {
    heldLock(lockFile, content, undefined).release();
  }
}

function locked(file: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `${JSON.stringify(file)} is locked by another process`,
    hint: `try again; if no skillwright process is running, remove ${path.basename(file)}.lock`,
    data: { path: file, cause: 'locked' },
  });
}

function heldLock(file: string, content: string, heartbeatMs: number | undefined): Lock {
  const isHeld = (): boolean => readLockContent(file) === content;
  const renew = (): void => {
    try {
      if (isHeld()) utimesSync(file, Date.now() / 1000, Date.now() / 1000);
    } catch (error) {
      // The lock is gone: `isHeld` reports it before anything is written.
      if (!isSystemError(error)) throw error;
    }
  };
  const timer = heartbeatMs === undefined ? undefined : setInterval(renew, heartbeatMs).unref();
  return {
    isHeld,
    renew,
    release() {
      clearInterval(timer);
      if (isHeld()) quietly(() => unlinkSync(file));
    },
  };
}

/** Starts the names of lock files before they are linked to their place; the owner follows. */
function ownPrefix(file: string): string {
  return `.${path.basename(file)}.`;
}

/** Returns the content of the new lock, which is unique; `undefined` if the lock is taken. */
function tryLock(file: string): string | undefined {
  // Checked first: while the lock is held, waiting writes nothing.
  if (isPresent(file)) return undefined;
  const content = `${ownerName(thisProcess())}.${nodeCrypto().randomBytes(8).toString('hex')}`;
  const own = path.join(path.dirname(file), ownPrefix(file) + content);
  try {
    writeFileSync(own, content, { flag: 'wx', mode: 0o600 });
    linkNew(own, file);
    return content;
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    return undefined;
  } finally {
    quietly(() => unlinkSync(own));
  }
}

/** Removes the unlinked lock files of processes that were killed in `tryLock`. */
function removeAbandoned(file: string): void {
  const [folder, prefix] = [path.dirname(file), ownPrefix(file)];
  for (const name of readdirSync(folder)) {
    const owner = name.startsWith(prefix) ? ownerOfName(name.slice(prefix.length)) : undefined;
    if (owner !== undefined && ownerState(owner) === 'dead') quietly(() => unlinkSync(path.join(folder, name)));
  }
}

/**
 * Removes the lock of a dead process; true if the lock may be free now. Only the holder of a second lock, `<lock>.remove`, removes one,
 * and checks again first: otherwise a slow process could remove the new lock that another process took after removing the old one.
 */
function removeIfStale(file: string, staleMs: number): boolean {
  const state = readLockState(file, staleMs);
  if (state !== 'stale') return state === 'gone';
  const remover = `${file}.remove`;
  if (tryLock(remover) === undefined) {
    if (readLockState(remover, staleMs) === 'stale') quietly(() => unlinkSync(remover));
    return false;
  }
  try {
    if (readLockState(file, staleMs) === 'stale') quietly(() => unlinkSync(file));
  } finally {
    quietly(() => unlinkSync(remover));
  }
  return true;
}

function readLockState(file: string, staleMs: number): 'held' | 'stale' | 'gone' {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return 'gone';
  const owner = ownerOfName(readLockContent(file));
  const state = owner === undefined ? 'unknown' : ownerState(owner);
  if (state === 'unknown') return Date.now() - stats.mtimeMs > staleMs ? 'stale' : 'held';
  return state === 'dead' ? 'stale' : 'held';
}

function readLockContent(file: string): string {
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES });
  return read.type === 'read' ? read.bytes.toString('utf8') : '';
}
