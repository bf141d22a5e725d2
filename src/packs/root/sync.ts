/**
 * Bytes on the disk before anything counts on them. For a few files each is waited for; for many one call that writes all of a file system is
 * several times faster (18 skills, 411 files: 8 ms to 42 ms). Node has no such call, the program `sync` does.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';

import { isSystemError } from '../../platform/fs/paths.ts';
import { FOREIGN_FILE } from '../../platform/fs/open-flags.ts';

/** Up to so many are written one by one. */
const FEW = 48;
/** By full path: whatever the search path of the user has is not asked. */
const PROGRAMS = ['/usr/bin/sync', '/bin/sync'];
/** A disk that others write to as fast as it goes: then one by one, which waits for our files alone. */
const MAX_MS = 20_000;

export interface ToSync {
  /** About how many there are. */
  readonly count: number;
  readonly places: () => readonly string[];
  /** A real path on the same file system. */
  readonly within: string;
}

/** Waits until files and folders are on the disk. Throws the system's error. */
export async function syncPaths({ count, places, within }: ToSync): Promise<void> {
  if (count > FEW && (await isSynced(within))) return;
  for (const place of places()) syncPath(place);
}

/** Files that are being written to the disk while other things are done. */
export interface BackgroundSync {
  /** Whether all that was there when it began is on the disk. Waits for it. */
  readonly isDone: () => Promise<boolean>;
  /** Nobody waits for it any more. */
  readonly drop: () => void;
}

/** Begins to write about so many files and folders of a file system to the disk. Nothing where one by one is as fast. */
export function startBackgroundSync({ count, within }: Pick<ToSync, 'count' | 'within'>): BackgroundSync | undefined {
  if (count <= FEW) return undefined;
  const dropped = new AbortController();
  const done = isSynced(within, dropped.signal);
  return { isDone: () => done, drop: () => dropped.abort() };
}

export function syncPath(place: string): void {
  const descriptor = openSync(place, FOREIGN_FILE);
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // File systems that cannot do so for a folder do it with the file.
    if (!isSystemError(error) || error.code !== 'EINVAL') throw error;
  } finally {
    closeSync(descriptor);
  }
}

function isSynced(within: string, signal?: AbortSignal): Promise<boolean> {
  const program = process.platform === 'linux' ? PROGRAMS.find((file) => existsSync(file)) : undefined;
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    // `-f`: the file system that holds the folder, and no other.
    const child = spawn(program, ['-f', '--', within], {
      stdio: 'ignore',
      env: {},
      timeout: MAX_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
