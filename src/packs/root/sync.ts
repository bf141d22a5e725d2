/**
 * Syncs files to disk before a commit relies on them. A few files are synced one by one. For many files, syncing the whole file system is
 * several times faster (18 skills, 411 files: 8 ms instead of 42 ms); Node cannot do that, the program `sync` can.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';

import { OPEN_FLAGS, isSystemError } from '#platform';

/** Up to this number, files are synced one by one. */
const FEW = 48;
/** Full paths, so that the user's PATH does not matter. */
const PROGRAMS = ['/usr/bin/sync', '/bin/sync'];
/** If other processes keep the disk busy, falls back to syncing only our own files. */
const MAX_MS = 20_000;

export interface ToSync {
  /** Approximate number of paths. */
  readonly count: number;
  readonly places: () => readonly string[];
  /** A path on the same file system, without links. */
  readonly within: string;
}

/** Waits until files and folders are on disk. Throws system errors. */
export async function syncPaths({ count, places, within }: ToSync): Promise<void> {
  if (count > FEW && (await isSynced(within))) return;
  for (const place of places()) syncPath(place);
}

export interface BackgroundSync {
  /** Waits for the sync. Resolves to true if everything that existed at its start is on disk. */
  readonly isDone: () => Promise<boolean>;
  /** Cancels the sync. */
  readonly drop: () => void;
}

/** Starts to sync about `count` files and folders. Returns undefined if syncing them one by one is as fast. */
export function startBackgroundSync({ count, within }: Pick<ToSync, 'count' | 'within'>): BackgroundSync | undefined {
  if (count <= FEW) return undefined;
  const dropped = new AbortController();
  const done = isSynced(within, dropped.signal);
  return { isDone: () => done, drop: () => dropped.abort() };
}

export function syncPath(place: string): void {
  const descriptor = openSync(place, OPEN_FLAGS.foreignFile);
  try {
    syncDescriptor(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function syncDescriptor(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems cannot sync folders; they sync them with the files.
    if (!isSystemError(error) || error.code !== 'EINVAL') throw error;
  }
}

function isSynced(within: string, signal?: AbortSignal): Promise<boolean> {
  const program = process.platform === 'linux' ? PROGRAMS.find((file) => existsSync(file)) : undefined;
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    // `-f` syncs only the file system that contains the folder.
    const child = spawn(program, ['-f', '--', within], { stdio: 'ignore', env: {}, timeout: MAX_MS, signal });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
