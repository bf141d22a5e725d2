import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import { isSystemError } from './paths.ts';
import { temporaryName, temporaryPrefix } from './temporary-name.ts';

export interface AtomicWriteOptions {
  /** Permission bits of a new file; 0o600. */
  readonly mode?: number;
  /** Wait until the bytes are on the disk: for what cannot be made again. */
  readonly sync?: boolean;
  /** The file that is replaced: its permission bits whatever the umask, and its owner where we may give files away. */
  readonly like?: { readonly mode: number; readonly uid: number; readonly gid: number };
}

/**
 * Replaces a file by one rename: a reader sees the old bytes or the new ones, never a part. A link at `file` is replaced, not
 * followed. Throws the system's error, with no temporary file left behind.
 */
export function writeFileAtomically(
  file: string,
  data: Uint8Array | Iterable<Uint8Array>,
  { mode = 0o600, sync = false, like }: AtomicWriteOptions = {},
): void {
  const pieces = data instanceof Uint8Array ? [data] : data;
  const temporary = temporaryName(file, SUFFIX);
  try {
    // `wx` refuses a file or a link that somebody put there first.
    const descriptor = openSync(temporary, 'wx', mode);
    try {
      for (const piece of pieces) writeWhole(descriptor, piece);
      if (like !== undefined) takeAfter(descriptor, like);
      if (sync) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    removeIfPresent(temporary);
    throw error;
  }
}

export interface WrittenFile {
  readonly file: string;
  readonly data: Uint8Array;
}

/**
 * The same for files that belong together, for us alone: the bytes of all of them are written, then `before` has its turn, then they are
 * replaced in this order. A disk that is made to wait for one of them while the next is not even begun takes longer for each.
 */
export function writeFilesAtomically(
  files: readonly WrittenFile[],
  before: () => void,
  { mode = 0o600, sync = false }: AtomicWriteOptions = {},
): void {
  const written = new Array<{ readonly temporary: string; readonly file: string; readonly descriptor: number }>();
  const open = new Set<number>();
  try {
    for (const { file, data } of files) {
      const temporary = temporaryName(file, SUFFIX);
      const descriptor = openSync(temporary, 'wx', mode);
      open.add(descriptor);
      written.push({ temporary, file, descriptor });
      writeWhole(descriptor, data);
    }
    before();
    for (const { descriptor } of written) {
      if (sync) fsyncSync(descriptor);
      open.delete(descriptor);
      closeSync(descriptor);
    }
    for (const { temporary, file } of written) renameSync(temporary, file);
  } catch (error) {
    for (const descriptor of open) closeSync(descriptor);
    // Those that have their place already have this name no more.
    for (const { temporary } of written) removeIfPresent(temporary);
    throw error;
  }
}

/** A file where nothing stands, at once under its name: for what nobody looks for before something else speaks of it. */
export function writeNewFile(
  file: string,
  data: Uint8Array,
  { mode = 0o600, sync = false }: AtomicWriteOptions = {},
): void {
  const descriptor = openSync(file, 'wx', mode);
  try {
    writeWhole(descriptor, data);
    if (sync) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes temporary files of `file` that a killed process left behind, once they are older than `olderThanMs`. */
export function removeStaleTemporaries(
  file: string,
  { now, olderThanMs }: { readonly now: number; readonly olderThanMs: number },
): void {
  const directory = path.dirname(file);
  const prefix = temporaryPrefix(file);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue;
    const temporary = path.join(directory, name);
    const stats = lstatSync(temporary, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < now - olderThanMs) removeIfPresent(temporary);
  }
}

const SUFFIX = '.tmp';

function takeAfter(descriptor: number, { mode, uid, gid }: NonNullable<AtomicWriteOptions['like']>): void {
  const { uid: ownUid, gid: ownGid } = fstatSync(descriptor);
  try {
    if (ownUid !== uid || ownGid !== gid) fchownSync(descriptor, uid, gid);
  } catch (error) {
    // Only the superuser gives files away; for all others the new file is their own, as after any editor that renames.
    if (!isSystemError(error)) throw error;
  }
  // After the owner: giving a file away can take bits from it. Some file systems have no bits and refuse to be asked.
  if (((fstatSync(descriptor).mode ^ mode) & 0o777) !== 0) fchmodSync(descriptor, mode & 0o777);
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written);
}

function removeIfPresent(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    // Gone already, or in a directory that refused it in the first place: the error that matters is another.
    if (!isSystemError(error)) throw error;
  }
}
