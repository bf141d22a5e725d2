/** Only one process at a time changes a root. */
import { refused } from '../problems.ts';
import { quoted, type SkillError } from '#core';
import { acquireLock, lockHolder } from '#platform';
import { statePath, type RootHandle } from './root-paths.ts';

export interface RootLockOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process (default: 30 s). */
  readonly timeoutMs?: number;
}

export interface RootLock {
  /** Throws a refusal if another process removed the lock, by hand or because this process was suspended for too long. */
  refuseLost(): void;
  release(): void;
}

const TIMEOUT_MS = 30_000;
/** Processes in other containers cannot check whether the holder is alive; they rely on the heartbeat. */
const HEARTBEAT_MS = 5_000;
const STALE_MS = 60_000;

/** Waits until this process may change the root. Throws a refusal on timeout, and system errors. */
export async function lockRoot(
  handle: RootHandle,
  { signal, timeoutMs = TIMEOUT_MS }: RootLockOptions = {},
): Promise<RootLock> {
  const file = statePath(handle, 'lock');
  const lock = await acquireLock(file, {
    timeoutMs,
    staleMs: STALE_MS,
    heartbeatMs: HEARTBEAT_MS,
    signal,
  });
  if (lock === undefined) throw busy(handle, file);
  return {
    refuseLost() {
      if (!lock.isHeld()) throw busy(handle, file);
      lock.renew();
    },
    release: () => lock.release(),
  };
}

function busy(handle: RootHandle, file: string): SkillError {
  const pid = lockHolder(file);
  const who = pid === undefined ? 'another process' : `process ${String(pid)}`;
  return refused('install/busy', `${who} is changing ${quoted(handle.path, 200)}`, handle.path);
}
