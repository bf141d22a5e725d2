/**
 * Paths in a root. Skills are folders of the root itself. All other files are in `.skillwright`; its leading dot keeps it out of scans for
 * skills. It may come with a cloned repository, so links in it are never followed and only files of our own user are trusted.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { quoted, type SkillError } from '#core';
import { DirectoryHandle, isSystemError, makeFolders, tryRealPath, acquireLock, lockHolder } from '#platform';
import { LOCK_FILE_NAME } from '../lock/lock-file.ts';
import { refused } from '../problems.ts';

export const STATE_FOLDER = '.skillwright';
export const JOURNAL_NAME = 'transaction.json';
/** Folders of the state that hold backups of skills. */
export const BACKUP_PARTS = ['trash', 'previous', 'backups'] as const;
/** `staging` holds work in progress, `originals` the texts of installed versions. */
const STATE_PARTS = ['staging', 'originals', ...BACKUP_PARTS] as const;
type StatePart = (typeof STATE_PARTS)[number];

/** An open root. The descriptor keeps referring to the same folder, even if the path changes. */
export interface RootHandle {
  /** Absolute path without links, for display. */
  readonly path: string;
  /** The path that the caller passed, made absolute. */
  readonly requestedPath: string;
  /** Prefix of paths in the root, resolved through the descriptor where the system supports it. */
  readonly place: string;
  readonly directory: DirectoryHandle;
  readonly identity: string;
}

/** Opens a root and optionally creates it. Throws a refusal and system errors. */
export function openRootHandle(root: string, { create }: { readonly create: boolean }): RootHandle {
  if (create) makeFolders(root);
  const real = tryRealPath(root);
  if (real === undefined) throw unusable(`the folder ${quoted(root, 200)} does not exist`, root);
  let directory: DirectoryHandle;
  try {
    directory = DirectoryHandle.open(real);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOTDIR') throw unusable(`${quoted(root, 200)} is not a folder`, root);
    throw error;
  }
  const { place } = directory;
  return { path: real, requestedPath: path.resolve(root), place, directory, identity: toIdentity(directory.stats()) };
}

export function closeRootHandle({ directory }: RootHandle): void {
  directory.close();
}

/** Throws a refusal if the path now refers to another folder. */
export function refuseReplaced({ requestedPath, path: real, identity }: RootHandle): void {
  const stats = tryRealPath(requestedPath) === real ? lstatSync(real, { throwIfNoEntry: false }) : undefined;
  if (stats === undefined || toIdentity(stats) !== identity)
    throw unusable(`${quoted(requestedPath, 200)} was replaced during the change`, requestedPath);
}

/** Identifies a file or folder independently of its path. */
function toIdentity({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${String(dev)}:${String(ino)}`;
}

/** Identity of the entry at a path, without following links; undefined if nothing exists there. */
export function identityAt(place: string): string | undefined {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats === undefined ? undefined : toIdentity(stats);
}

/** The root itself. The trailing dot is needed because a descriptor path is a link. */
export function rootPath({ place }: RootHandle): string {
  return `${place}/.`;
}

export function skillPath({ place }: RootHandle, name: string): string {
  return `${place}/${name}`;
}

export function lockPath({ place }: RootHandle): string {
  return `${place}/${LOCK_FILE_NAME}`;
}

/** A path in the state folder; `below` is relative to it. */
export function statePath({ place }: RootHandle, below = ''): string {
  return below === '' ? `${place}/${STATE_FOLDER}` : `${place}/${STATE_FOLDER}/${below}`;
}

/** The same path for display. */
export function displayPath({ path: root }: RootHandle, below: string): string {
  return path.join(root, STATE_FOLDER, below);
}

/** Creates the state folder and its subfolders and checks that they belong to us. Throws a refusal and system errors. */
export function prepareState(handle: RootHandle): void {
  makeOwn(handle, '');
  const ignore = statePath(handle, '.gitignore');
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeOnce(ignore, '*\n');
  for (const part of STATE_PARTS) makeOwn(handle, part);
}

function makeOwn(handle: RootHandle, part: StatePart | ''): void {
  const place = statePath(handle, part);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) {
    try {
      mkdirSync(place, { mode: 0o700 });
      return;
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    }
  }
  requireOwnFolder(handle, part);
}

/** Throws a refusal if a folder of the state is a link, a file, or owned by another user. */
function requireOwnFolder(handle: RootHandle, below: string): void {
  const stats = lstatSync(statePath(handle, below));
  const shown = displayPath(handle, below);
  if (!stats.isDirectory()) throw unusable(`${quoted(shown, 200)} is not a folder of skillwright: remove it`, shown);
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stats.uid !== uid)
    throw unusable(`${quoted(shown, 200)} belongs to another user`, shown);
}

function writeOnce(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

/** A unique name that sorts by time. */
export function timedName(at: Date, what: string): string {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${time}-${String(at.getMilliseconds()).padStart(3, '0')}-${what}-${randomBytes(4).toString('hex')}`;
}

export function unusable(message: string, at: string): SkillError {
  return refused('install/root', message, at);
}

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
  const lock = await acquireLock(file, { timeoutMs, staleMs: STALE_MS, heartbeatMs: HEARTBEAT_MS, signal });
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
