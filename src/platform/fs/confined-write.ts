/** Writing and moving files below one directory, by directory handles: no link is followed, neither on the way nor at its end. */
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  opendirSync,
  readSync,
  renameSync,
  unlinkSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';

import type { RelativePath } from '#core';
import { PendingFile, writeAll } from './atomic-replace.ts';
import {
  failed,
  giveTo,
  inDirectory,
  notRegular,
  openRegularFile,
  systemFailure,
  type Confinement,
  type DirectoryHandle,
  type OpenFailed,
} from './directory-handle.ts';
import { ownerName, ownerOfName, ownerState, thisProcess } from './lock-owner.ts';
import { FOREIGN_FILE } from './open-flags.ts';
import { isSystemError, quietly } from '../system-error.ts';

/**
 * `replaced` is the SHA-256 of the replaced file, in hex; absent for a new file. `mode` are the permissions of the new one. `lostBits` are
 * the setuid, setgid and sticky bits of the replaced one: other content does not inherit them.
 */
export type Written =
  | { readonly type: 'written'; readonly replaced?: string; readonly mode: number; readonly lostBits: number }
  | OpenFailed;

export type Moved = { readonly type: 'moved' } | OpenFailed;

export interface WriteBeneathOptions {
  /** Decides by the SHA-256 of the existing file, `undefined` for a new file, whether to write. */
  readonly mayReplace?: (digest: string | undefined) => boolean;
  /** Permissions of a new file before the umask (default: 0666). */
  readonly mode?: number;
  /** The permissions of the file, whatever it had before and whatever the umask is (default: those of the old file). */
  readonly exactMode?: number | undefined;
  readonly confinement?: Confinement;
}

/** A replaced file is read for its digest; a larger one is not replaced by a text. */
const MAX_REPLACED_BYTES = 64 * 1024 * 1024;
const PIECE = 64 * 1024;

/**
 * Writes a file below `root`, a real path, and creates missing directories. One rename puts it in place: readers see the old file or the
 * new one, even if this process is killed. The new file has the permissions of the old. A second name of the old file, a hard link,
 * keeps the old bytes.
 */
export function writeBeneath(
  root: string,
  file: RelativePath,
  bytes: Uint8Array,
  { mayReplace = () => true, mode = 0o666, exactMode, ...options }: WriteBeneathOptions = {},
): Written {
  const { folder, name } = splitPath(file);
  const write = (directory: DirectoryHandle): Written =>
    orFailed(() => replaceIn(directory, name, bytes, { mayReplace, mode, exactMode }));
  const written = inDirectory(root, folder, write, { ...options, create: true });
  return written.type === 'failed' ? forWriting(written) : written;
}

function replaceIn(
  directory: DirectoryHandle,
  name: string,
  bytes: Uint8Array,
  {
    mayReplace,
    mode,
    exactMode,
  }: Pick<WriteBeneathOptions, 'exactMode'> & Required<Pick<WriteBeneathOptions, 'mayReplace' | 'mode'>>,
): Written {
  const target = path.join(directory.place, name);
  const old = readOld(target);
  if (old.type === 'failed') return old;
  const replaced = old.type === 'file' ? old.digest : undefined;
  if (!mayReplace(replaced)) return failed('file/changed');
  // The temporary name does not contain the name of the file, which may have the maximum length.
  const temporary = path.join(directory.place, `skillwright.${ownerName(thisProcess())}`);
  const pending = new PendingFile(target, { mode, temporary });
  try {
    pending.write(bytes);
    giveTo(pending.descriptor, old.type === 'file' ? old.stats : directory.stats());
    const kept = exactMode ?? (old.type === 'file' ? old.stats.mode & 0o777 : undefined);
    if (kept !== undefined) fchmodSync(pending.descriptor, kept);
    mode = fstatSync(pending.descriptor).mode & 0o777;
    pending.sync();
    pending.replace();
  } catch (error) {
    pending.discard();
    throw error;
  }
  quietly(() => removeStale(directory.place));
  const lostBits = old.type === 'file' ? old.stats.mode & 0o7000 : 0;
  return { type: 'written', mode, lostBits, replaced };
}

/** Earlier versions did not name the owner. */
const TEMPORARY = /^\.skillwright\.(\d+\.\d*\.[0-9a-f]*\.\d*\.)?[0-9a-z]{12,}\.tmp$/;
const STALE_MS = 60 * 60_000;
/** Names checked for stale files in one directory. */
const MAX_NAMES = 1000;

/** Removes the temporary files that killed processes left in a folder below `root`. Each write does this for its own folder. */
export function removeLeftovers(root: string, folder: RelativePath | ''): void {
  inDirectory(root, folder, (directory) => quietly(() => removeStale(directory.place)));
}

function removeStale(place: string): void {
  const folder = opendirSync(place);
  try {
    for (let count = 0; count < MAX_NAMES; count += 1) {
      const name = folder.readSync()?.name;
      if (name === undefined) return;
      const found = TEMPORARY.exec(name);
      if (found === null) continue;
      const stats = lstatSync(path.join(place, name), { throwIfNoEntry: false });
      const isStale = stats?.isFile() === true && (isDead(found[1]) || stats.mtimeMs < Date.now() - STALE_MS);
      if (isStale) unlinkSync(path.join(place, name));
    }
  } finally {
    folder.closeSync();
  }
}

/** An owner of another boot may be a machine that shares the folder. */
function isDead(name: string | undefined): boolean {
  const owner = name === undefined ? undefined : ownerOfName(name);
  return owner !== undefined && owner.boot === thisProcess().boot && ownerState(owner) === 'dead';
}

type OldFile =
  | { readonly type: 'file'; readonly digest: string; readonly stats: Stats }
  | { readonly type: 'none' }
  | OpenFailed;

function readOld(target: string): OldFile {
  const hint = lstatSync(target, { throwIfNoEntry: false });
  if (hint === undefined) return { type: 'none' };
  const problem = notRegular(hint);
  if (problem !== undefined) return failed(problem);
  const opened = openRegularFile(target);
  if (opened.type === 'failed') return opened;
  const { descriptor, stats } = opened;
  try {
    // A rename could replace it, but its owner made it read-only on purpose.
    if ((stats.mode & 0o222) === 0) return failed('file/unwritable', 'it is read-only');
    if (stats.size > MAX_REPLACED_BYTES) return failed('file/too-large', `${String(stats.size)} bytes`);
    return { type: 'file', digest: hashDescriptor(descriptor), stats };
  } finally {
    closeSync(descriptor);
  }
}

function hashDescriptor(descriptor: number): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE);
  let at = 0;
  for (let count = -1; count !== 0 && at <= MAX_REPLACED_BYTES; at += count) {
    count = readSync(descriptor, piece, 0, piece.length, at);
    hash.update(piece.subarray(0, count));
  }
  return hash.digest('hex');
}

/**
 * Moves a file to an unused path below `root`, or with `replaces` over another file, and creates missing directories. Between two file
 * systems the file is copied and then removed.
 */
export function moveBeneath(
  root: string,
  from: RelativePath,
  to: RelativePath,
  { replaces = false, ...options }: Pick<WriteBeneathOptions, 'confinement'> & { readonly replaces?: boolean } = {},
): Moved {
  const source = splitPath(from);
  const target = splitPath(to);
  const take = (old: DirectoryHandle): Moved => {
    const place = path.join(old.place, source.name);
    const hint = lstatSync(place, { throwIfNoEntry: false });
    const problem = hint === undefined ? 'file/missing' : notRegular(hint);
    if (problem !== undefined) return failed(problem);
    const put = (directory: DirectoryHandle): Moved =>
      orFailed(() => move(place, path.join(directory.place, target.name), replaces));
    return inDirectory(root, target.folder, put, { ...options, create: true });
  };
  const moved = inDirectory(root, source.folder, (old) => orFailed(() => take(old)), options);
  return moved.type === 'failed' ? forWriting(moved) : moved;
}

function move(from: string, to: string, replaces: boolean): Moved {
  const there = lstatSync(to, { throwIfNoEntry: false });
  if (there !== undefined && !(replaces && there.isFile())) return failed('file/exists');
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EXDEV') throw error;
    if (there !== undefined) unlinkSync(to);
    copyOver(from, to);
    unlinkSync(from);
  }
  return { type: 'moved' };
}

/** Copies from a descriptor: a link that took the place of the file is not followed. */
function copyOver(from: string, to: string): void {
  const descriptor = openSync(from, FOREIGN_FILE);
  try {
    const piece = Buffer.allocUnsafe(PIECE);
    const mode = fstatSync(descriptor).mode & 0o777;
    const copy = openSync(to, 'wx', mode);
    try {
      fchmodSync(copy, mode);
      for (let at = 0, count = -1; count !== 0; at += count) {
        count = readSync(descriptor, piece, 0, piece.length, at);
        writeAll(copy, piece.subarray(0, count));
      }
      fsyncSync(copy);
    } catch (error) {
      quietly(() => unlinkSync(to));
      throw error;
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(descriptor);
  }
}

function splitPath(file: RelativePath): { readonly folder: RelativePath | ''; readonly name: string } {
  const slash = file.lastIndexOf('/');
  // The start of a relative path is a relative path.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { folder: file.slice(0, Math.max(0, slash)) as RelativePath | '', name: file.slice(slash + 1) };
}

function orFailed<Result>(act: () => Result): Result | OpenFailed {
  try {
    return act();
  } catch (error) {
    // A link was put in the place of the file.
    return isSystemError(error) && error.code === 'ELOOP' ? failed('file/changed') : systemFailure(error);
  }
}

function forWriting(problem: OpenFailed): OpenFailed {
  return problem.code === 'file/unreadable' ? { ...problem, code: 'file/unwritable' } : problem;
}
