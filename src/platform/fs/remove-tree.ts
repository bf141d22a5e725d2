/**
 * Removes a tree that an untrusted program filled: read-only and unreadable folders, names that are not UTF-8, any depth, any number of
 * files. No link is followed. Folders inside are first moved to the top, so that neither paths nor open descriptors accumulate.
 */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  opendirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { descriptorPath } from './directory-handle.ts';
import { FOREIGN_FOLDER, UNREADABLE_FOLDER } from './open-flags.ts';
import { isSystemError } from '../system-error.ts';

export interface RemoveTreeOptions {
  /** When to stop, as `Date.now()`; the caller removes the rest later. */
  readonly until?: number;
}

/** Names removed between two pauses. */
const SLICE = 256;
/** Names held at once. */
const MAX_NAMES = 10_000;
/** Limits the work on a folder that another process keeps filling. */
const MAX_MS = 10 * 60_000;
/** Retries to find an unused name at the top. */
const MAX_ATTEMPTS = 100;
const MOVED_PREFIX = '.skillwright-removed-';

interface Removal {
  /** The tree itself, to which nested folders are moved. */
  readonly top: string;
  readonly until: number;
  moved: number;
  sincePause: number;
}

/**
 * Removes a folder, a file or a link; false if the time was over before all of it was removed. No other process may write to the
 * parent folder. Throws system errors.
 */
export async function removeTree(
  tree: string,
  { until = Date.now() + MAX_MS }: RemoveTreeOptions = {},
): Promise<boolean> {
  const stats = lstatSync(tree, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isDirectory()) {
    unlinkSync(tree);
    return true;
  }
  // Nested folders move to the top of the tree itself: if the work is interrupted, one folder is left and not two.
  const removal: Removal = { top: tree, until, moved: 0, sincePause: 0 };
  for (;;) {
    const folders = await emptyFolder(removal, tree);
    if (folders === undefined) return false;
    if (folders.length === 0 && (await isEmptied(tree))) return true;
    for (const name of folders)
      if (!(await isFolderRemoved(removal, Buffer.concat([Buffer.from(`${tree}/`), name])))) return false;
  }
}

async function isFolderRemoved(removal: Removal, folder: Buffer): Promise<boolean> {
  const queue = [folder];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const moved = await emptyFolder(removal, next);
    if (moved === undefined) return false;
    // Not empty: it has more names than are read at once.
    if (!isRemoved(next)) queue.push(next);
    queue.push(...moved);
  }
  return true;
}

/**
 * Unlinks everything except folders and returns the folders: those at the top by name, nested ones by their new path. `undefined` if the
 * time is over.
 */
async function emptyFolder(removal: Removal, folder: string | Buffer): Promise<readonly Buffer[] | undefined> {
  const isTop = folder === removal.top;
  const held = openWritable(folder);
  try {
    const place = process.platform === 'linux' ? Buffer.from(descriptorPath(held)) : Buffer.from(folder);
    const folders: Buffer[] = [];
    for (const { name, isFolder } of entriesIn(place)) {
      removal.sincePause += 1;
      if (removal.sincePause >= SLICE) {
        removal.sincePause = 0;
        if (Date.now() > removal.until) return undefined;
        await nextTurn();
      }
      const at = Buffer.concat([place, SLASH, name]);
      if (!isFolder && isUnlinked(at)) continue;
      folders.push(isTop ? name : moveToTop(removal, at));
    }
    return folders;
  } finally {
    closeSync(held);
  }
}

const SLASH = Buffer.from('/');

interface Entry {
  readonly name: Buffer;
  /** As listed; some file systems do not list the kind. */
  readonly isFolder: boolean;
}

/**
 * At most `MAX_NAMES` at once: the next pass reads the rest. Latin-1 keeps every byte, so names that are not UTF-8 are removed too.
 */
function entriesIn(place: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  const folder = opendirSync(place, { bufferSize: SLICE, encoding: 'latin1' });
  try {
    for (let entry = folder.readSync(); entry !== null && entries.length < MAX_NAMES; entry = folder.readSync())
      entries.push({ name: Buffer.from(entry.name, 'latin1'), isFolder: entry.isDirectory() });
  } finally {
    folder.closeSync();
  }
  return entries;
}

/** False if it is a folder. */
function isUnlinked(at: Buffer): boolean {
  try {
    unlinkSync(at);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return true;
    // Linux reports EISDIR for a folder, other systems EPERM.
    if (error.code !== 'EISDIR' && error.code !== 'EPERM') throw error;
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    return false;
  }
}

function moveToTop(removal: Removal, at: Buffer): Buffer {
  for (let attempt = 0; ; attempt += 1) {
    removal.moved += 1;
    const place = path.join(removal.top, `${MOVED_PREFIX}${String(removal.moved)}`);
    try {
      renameSync(at, place);
      return Buffer.from(place);
    } catch (error) {
      if (!isSystemError(error) || attempt === MAX_ATTEMPTS) throw error;
      // A read-only folder cannot be moved; or the name is taken.
      if (error.code === 'EACCES' || error.code === 'EPERM') closeSync(openWritable(at));
      else if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOTDIR') throw error;
    }
  }
}

/** Opens a folder and gives this user all permissions on it. */
function openWritable(folder: string | Buffer): number {
  let descriptor: number;
  try {
    descriptor = openSync(folder, FOREIGN_FOLDER);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EACCES') throw error;
    allowReading(folder);
    descriptor = openSync(folder, FOREIGN_FOLDER);
  }
  try {
    fchmodSync(descriptor, 0o700);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Gives this user all permissions on a folder that it cannot read. A link in its place is not followed. Throws the system's error. */
export function allowReading(folder: string | Buffer): void {
  if (process.platform !== 'linux') {
    chmodSync(folder, 0o700);
    return;
  }
  const descriptor = openSync(folder, UNREADABLE_FOLDER);
  try {
    chmodSync(descriptorPath(descriptor), 0o700);
  } finally {
    closeSync(descriptor);
  }
}

/** False if it is not empty. */
function isRemoved(folder: string | Buffer): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (isNotEmpty(error)) return false;
    throw error;
  }
}

/** The same for the last folder of a tree. A disk that is being written can take milliseconds for it, in which this process does other work. */
async function isEmptied(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (isNotEmpty(error)) return false;
    throw error;
  }
}

function isNotEmpty(error: unknown): boolean {
  return isSystemError(error) && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');
}
