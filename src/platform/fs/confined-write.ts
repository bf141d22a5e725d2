/** Writing and moving files below one folder, by descriptors: no link is followed, neither on the way nor at its end. */
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
  writeSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import type { FailureCode } from '../../core/failure-codes.ts';
import type { RelativePath } from '../../core/path.ts';
import type { Confinement } from './confined-directory.ts';
import { systemFailure } from './confined-open.ts';
import type { OpenFailed } from './confined-open.ts';
import { giveTo, inFolder } from './held-folder.ts';
import type { HeldFolder } from './held-folder.ts';
import { isSystemError } from './paths.ts';
import { temporaryName } from './atomic-replace.ts';
import { FOREIGN_FILE } from './open-flags.ts';

/** `replaced` is the SHA-256 of what was there, in hex; absent for a new file. */
export type Written = { readonly type: 'written'; readonly replaced?: string } | OpenFailed;

export type Moved = { readonly type: 'moved' } | OpenFailed;

export interface WriteBeneathOptions {
  /** Says whether what is there now may be replaced: its SHA-256, nothing where there is none. */
  readonly mayReplace?: (digest: string | undefined) => boolean;
  readonly confinement?: Confinement;
}

/** Files that are replaced are read whole for their digest; nobody means to replace a larger one by a text. */
const MAX_REPLACED_BYTES = 64 * 1024 * 1024;
const PIECE = 64 * 1024;

/**
 * Writes a whole file below `root`, a real path; folders on the way are made. One rename puts it there: whoever looks, and whatever
 * kills us, it is the old file or the new one. The new one has the permissions of the old. Another name of the old file, a hard link,
 * keeps the old bytes.
 */
export function writeBeneath(
  root: string,
  file: RelativePath,
  bytes: Uint8Array,
  { mayReplace = () => true, ...way }: WriteBeneathOptions = {},
): Written {
  const { folder, name } = splitPath(file);
  const write = (held: HeldFolder): Written => orFailed(() => replaceIn(held, name, bytes, mayReplace));
  const written = inFolder(root, folder, write, { ...way, make: true });
  return written.type === 'failed' ? forWriting(written) : written;
}

function replaceIn(
  held: HeldFolder,
  name: string,
  bytes: Uint8Array,
  mayReplace: (digest: string | undefined) => boolean,
): Written {
  const target = path.join(held.place, name);
  const old = digestAt(target);
  if (old.type === 'failed') return old;
  const replaced = old.type === 'file' ? old.digest : undefined;
  if (!mayReplace(replaced)) return failed('file/changed');
  // Not after the file: its name may be as long as a name can be.
  const temporary = temporaryName(path.join(held.place, 'skillwright'), '.tmp');
  try {
    // `wx` refuses a file or a link that somebody put there first.
    const descriptor = openSync(temporary, 'wx', 0o666);
    try {
      writeWhole(descriptor, bytes);
      giveTo(descriptor, old.type === 'file' ? old.stats : held.stats);
      if (old.type === 'file') fchmodSync(descriptor, old.stats.mode & 0o777);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    unlinkQuietly(temporary);
    throw error;
  }
  quietly(() => removeStale(held.place));
  return { type: 'written', ...(replaced === undefined ? {} : { replaced }) };
}

const TEMPORARY = /^\.skillwright\.[0-9a-z]{12,}\.tmp$/;
const STALE_MS = 60 * 60_000;
/** In a folder with more names the rest is not looked at. */
const MAX_NAMES = 1000;

/** What a killed process left here: nobody else would know what it is. */
function removeStale(place: string): void {
  const folder = opendirSync(place);
  try {
    for (let count = 0; count < MAX_NAMES; count += 1) {
      const name = folder.readSync()?.name;
      if (name === undefined) return;
      if (!TEMPORARY.test(name)) continue;
      const stats = lstatSync(path.join(place, name), { throwIfNoEntry: false });
      const isStale = stats?.isFile() === true && stats.mtimeMs < Date.now() - STALE_MS;
      if (isStale) unlinkSync(path.join(place, name));
    }
  } finally {
    folder.closeSync();
  }
}

type OldFile =
  | { readonly type: 'file'; readonly digest: string; readonly stats: Stats }
  | { readonly type: 'none' }
  | OpenFailed;

function digestAt(target: string): OldFile {
  const hint = lstatSync(target, { throwIfNoEntry: false });
  if (hint === undefined) return { type: 'none' };
  const problem = kindProblem(hint);
  if (problem !== undefined) return failed(problem);
  const descriptor = openSync(target, FOREIGN_FILE);
  try {
    const stats = fstatSync(descriptor);
    const kind = kindProblem(stats);
    if (kind !== undefined) return failed(kind);
    // By a rename it could be replaced; but whoever made it read-only meant it.
    if ((stats.mode & 0o222) === 0) return { ...failed('file/unwritable'), detail: 'it is read-only' };
    if (stats.size > MAX_REPLACED_BYTES) return { ...failed('file/too-large'), detail: `${String(stats.size)} bytes` };
    return { type: 'file', digest: digestOf(descriptor), stats };
  } finally {
    closeSync(descriptor);
  }
}

function digestOf(descriptor: number): string {
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
 * Moves a file from one place below `root` to another that is free; folders on the way to it are made. Between two file systems it is
 * copied first and removed then.
 */
export function moveBeneath(
  root: string,
  from: RelativePath,
  to: RelativePath,
  way: Pick<WriteBeneathOptions, 'confinement'> = {},
): Moved {
  const source = splitPath(from);
  const target = splitPath(to);
  const take = (old: HeldFolder): Moved => {
    const place = path.join(old.place, source.name);
    const hint = lstatSync(place, { throwIfNoEntry: false });
    const problem = hint === undefined ? 'file/missing' : kindProblem(hint);
    if (problem !== undefined) return failed(problem);
    const put = (held: HeldFolder): Moved => orFailed(() => move(place, path.join(held.place, target.name)));
    return inFolder(root, target.folder, put, { ...way, make: true });
  };
  const moved = inFolder(root, source.folder, (old) => orFailed(() => take(old)), way);
  return moved.type === 'failed' ? forWriting(moved) : moved;
}

function move(from: string, to: string): Moved {
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return failed('file/exists');
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EXDEV') throw error;
    copyOver(from, to);
    unlinkSync(from);
  }
  return { type: 'moved' };
}

/** By the descriptor, so that what is copied is a file and no link that took its place. */
function copyOver(from: string, to: string): void {
  const descriptor = openSync(from, FOREIGN_FILE);
  try {
    const piece = Buffer.allocUnsafe(PIECE);
    const copy = openSync(to, 'wx', fstatSync(descriptor).mode & 0o777);
    try {
      for (let at = 0, count = -1; count !== 0; at += count) {
        count = readSync(descriptor, piece, 0, piece.length, at);
        writeWhole(copy, piece.subarray(0, count));
      }
      fsyncSync(copy);
    } catch (error) {
      unlinkQuietly(to);
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
  // The start of such a path is one too.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { folder: file.slice(0, Math.max(0, slash)) as RelativePath | '', name: file.slice(slash + 1) };
}

function kindProblem(stats: Stats): FailureCode | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isSymbolicLink()) return 'file/changed';
  return stats.isDirectory() ? 'file/directory' : 'file/not-regular';
}

function orFailed<Result>(act: () => Result): Result | OpenFailed {
  try {
    return act();
  } catch (error) {
    // A link where a file was a moment ago.
    if (isSystemError(error) && error.code === 'ELOOP') return failed('file/changed');
    return systemFailure(error);
  }
}

/** What the system forbids is here the writing. */
function forWriting(problem: OpenFailed): OpenFailed {
  return problem.code === 'file/unreadable' ? { ...problem, code: 'file/unwritable' } : problem;
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written);
}

function unlinkQuietly(file: string): void {
  quietly(() => unlinkSync(file));
}

/** Tidying up: what the system says to it changes nothing. */
function quietly(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function failed(code: FailureCode): OpenFailed {
  return { type: 'failed', code };
}
