/**
 * Removing a tree that a stranger's program filled: read-only and unreadable folders, names that are no text, any depth, any number
 * of files. No link is followed. Folders inside are first moved to the top, so that neither paths nor open descriptors pile up.
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
import path from 'node:path';

import { descriptorPath } from './directory-handle.ts';
import { isSystemError } from './paths.ts';
import { FOREIGN_FOLDER } from './open-flags.ts';

export interface RemoveTreeOptions {
  /** When to stop, by `Date.now()`; what is left then is removed another time. */
  readonly until?: number;
}

/** Linux's, which Node does not name: a descriptor that needs no permission to read. */
const O_PATH = 0o10000000;
/** Names removed between two pauses. */
const SLICE = 256;
/** Names held at once. */
const MAX_NAMES = 10_000;
/** A folder that is never empty is being filled by somebody. */
const MAX_MS = 10 * 60_000;
/** Names of the pit that may be taken already. */
const MAX_ATTEMPTS = 100;
const PIT_PREFIX = '.skillwright-removed-';

interface Removal {
  /** Where folders that were inside others are moved: the tree itself. */
  readonly pit: string;
  readonly until: number;
  moved: number;
  sinceBreath: number;
}

/**
 * Removes a folder, or a file or a link, and says whether all of it is gone. The folder above must be ours alone. Throws the
 * system's error where it cannot be removed at all.
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
  // The tree is its own pit: whatever ends the work midway, one folder is left and not two.
  const removal: Removal = { pit: tree, until, moved: 0, sinceBreath: 0 };
  for (;;) {
    const folders = await emptyFolder(removal, tree);
    if (folders === undefined) return false;
    if (folders.length === 0 && isRemoved(tree)) return true;
    for (const name of folders)
      if (!(await isFolderRemoved(removal, Buffer.concat([Buffer.from(`${tree}/`), name])))) return false;
  }
}

async function isFolderRemoved(removal: Removal, folder: Buffer): Promise<boolean> {
  const queue = [folder];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const moved = await emptyFolder(removal, next);
    if (moved === undefined) return false;
    // More names than are held at once: another round.
    if (!isRemoved(next)) queue.push(next);
    queue.push(...moved);
  }
  return true;
}

/**
 * Unlinks all that is no folder and gives the folders: those of the pit by name, those of any other folder by their new place in
 * the pit. Nothing where the time is over.
 */
async function emptyFolder(removal: Removal, folder: string | Buffer): Promise<readonly Buffer[] | undefined> {
  const isPit = folder === removal.pit;
  const held = openWritable(folder);
  try {
    const place = process.platform === 'linux' ? Buffer.from(descriptorPath(held)) : Buffer.from(folder);
    const folders: Buffer[] = [];
    for (const { name, isFolder } of entriesIn(place)) {
      removal.sinceBreath += 1;
      if (removal.sinceBreath >= SLICE) {
        removal.sinceBreath = 0;
        if (Date.now() > removal.until) return undefined;
        await breath();
      }
      const at = Buffer.concat([place, SLASH, name]);
      // To try and be refused takes longer than all the rest of it.
      if (!isFolder && isUnlinked(at)) continue;
      if (isPit) folders.push(name);
      else folders.push(moveToPit(removal, at));
    }
    return folders;
  } finally {
    closeSync(held);
  }
}

const SLASH = Buffer.from('/');

interface Entry {
  readonly name: Buffer;
  /** As the folder says it; some file systems say nothing. */
  readonly isFolder: boolean;
}

/**
 * A folder of a million names is not held in memory at once: what is left is seen in the next pass. Latin-1 is bytes as they are,
 * so that names that are no UTF-8 are met as well.
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

/** False: it is a folder. */
function isUnlinked(at: Buffer): boolean {
  try {
    unlinkSync(at);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return true;
    // Linux says EISDIR of a folder, others EPERM.
    if (error.code !== 'EISDIR' && error.code !== 'EPERM') throw error;
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    return false;
  }
}

function moveToPit(removal: Removal, at: Buffer): Buffer {
  for (let attempt = 0; ; attempt += 1) {
    removal.moved += 1;
    const place = path.join(removal.pit, `${PIT_PREFIX}${String(removal.moved)}`);
    try {
      renameSync(at, place);
      return Buffer.from(place);
    } catch (error) {
      if (!isSystemError(error) || attempt === MAX_ATTEMPTS) throw error;
      // A folder that may not be written cannot be moved; one of that name may be there already.
      if (error.code === 'EACCES' || error.code === 'EPERM') closeSync(openWritable(at));
      else if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOTDIR') throw error;
    }
  }
}

/** Opens a folder and sees to it that we may list and change it. */
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

function allowReading(folder: string | Buffer): void {
  if (process.platform !== 'linux') {
    chmodSync(folder, 0o700);
    return;
  }
  const descriptor = openSync(folder, O_PATH | FOREIGN_FOLDER);
  try {
    chmodSync(descriptorPath(descriptor), 0o700);
  } finally {
    closeSync(descriptor);
  }
}

/** False: something is left in it. */
function isRemoved(folder: string | Buffer): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')) return false;
    throw error;
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
