/** Reading files below a directory so that nothing outside of it is reached, whatever another process swaps meanwhile. */
import { closeSync, fstatSync, lstatSync, readSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import path from 'node:path';

import { compareText, toRelativePath, type RelativePath, type ActionProblem, isProblem } from '#core';
import {
  DirectoryHandle,
  descriptorPath,
  failed,
  notRegular,
  openRegularFile,
  readLink,
  systemFailure,
  type Confinement,
  type OpenFailed,
  type OpenedDirectory,
  type OpenedFile,
} from './directory-handle.ts';
import { isInside, tryRealPath } from './paths.ts';
import { walk, type WalkProblem } from './walk.ts';
import { isSystemError, quietly } from '../system-error.ts';

/** A whole file, or why it is not read. */
export type ConfinedFile =
  | { readonly type: 'read'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | OpenFailed;

export type FoundFile = { readonly type: 'found'; readonly bytes: number; readonly isExecutable: boolean } | OpenFailed;

export interface LinkRule {
  /** Read files that have a second name elsewhere (default: false): the other name may belong to anyone. */
  readonly allowHardLinks?: boolean;
  /** `false` for a path that was already resolved: a link in it is `file/changed`. */
  readonly followLinks?: boolean;
}

export interface ReadLimits extends LinkRule {
  readonly maxBytes: number;
}

export interface ListLimits {
  readonly maxFiles: number;
  /** Levels of directories below the top; 0 lists the top alone. */
  readonly maxDepth: number;
}

interface ConfinedEntry {
  /** Relative to the directory, as `read` takes it. */
  readonly path: string;
  /** For a link, the length of its target. */
  readonly bytes: number;
  readonly type: 'file' | 'link' | 'other';
  readonly isExecutable: boolean;
  /** Everybody may read it; otherwise only opening it tells. */
  readonly isPublic: boolean;
}

export interface ConfinedListing {
  readonly files: readonly ConfinedEntry[];
  /** Files whose names are not valid paths, sorted. */
  readonly misnamed: readonly string[];
  /** Why files may be missing otherwise, with the folder; empty is the folder itself. At most as many as there may be files. */
  readonly problems: readonly { readonly path: string; readonly problem: WalkProblem }[];
  /** Some files are missing: too many, too deep, unreadable, or with names that are not valid paths. */
  readonly isCut: boolean;
}

export type ConfinedOpening =
  | { readonly type: 'open'; readonly directory: ConfinedDirectory }
  | { readonly type: 'failed'; readonly code: ActionProblem['code'] };

/** Links followed for one path. */
export const MAX_LINKS = 8;
/** Directories held open for one path. */
const MAX_DEPTH = 64;
/** Directories that are not part of a skill. */
const NOT_LISTED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Names read for each file that may be listed: a tree of empty directories ends too. */
const NAMES_PER_FILE = 4;

/** Opens a directory; it may be a link itself. */
export function openConfined(
  directory: string,
  { confinement }: { readonly confinement?: Confinement } = {},
): ConfinedOpening {
  try {
    const options = { followLink: true, confinement };
    return {
      type: 'open',
      directory: new ConfinedDirectory(DirectoryHandle.open(directory, options), directory),
    };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP';
    return { type: 'failed', code: isGone ? 'skill/gone' : 'file/unreadable' };
  }
}

/** Calls `act` with a directory that is held open until it returns, or `otherwise` with why it cannot be opened. */
export function inConfined<Result, Otherwise = Result>(
  directory: string,
  act: (directory: ConfinedDirectory) => Result,
  otherwise: (code: ActionProblem['code']) => Otherwise,
): Result | Otherwise {
  const opening = openConfined(directory);
  if (opening.type === 'failed') return otherwise(opening.code);
  try {
    return act(opening.directory);
  } finally {
    opening.directory.close();
  }
}

/** A directory held open. Close it. */
export class ConfinedDirectory {
  readonly #handle: DirectoryHandle;
  readonly #name: string;
  #isOpen = true;

  /** Use `openConfined`. Takes the handle over; `name` is the path by which it was opened. */
  constructor(handle: DirectoryHandle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  /** Reads a whole file as it was at one moment; retries once if it changed meanwhile. */
  read(file: RelativePath, limits: ReadLimits): ConfinedFile {
    const first = this.#readOnce(file, limits);
    return first.type === 'failed' && first.code === 'file/changed' ? this.#readOnce(file, limits) : first;
  }

  /** Checks what `read` checks, without reading. */
  resolve(file: RelativePath, { allowHardLinks = false, followLinks = true }: LinkRule = {}): FoundFile {
    const opened = this.open(file, { followLinks });
    if (opened.type === 'failed') return opened;
    const { descriptor, stats } = opened;
    closeSync(descriptor);
    if (stats.nlink > 1 && !allowHardLinks) return failed('path/hard-link');
    return { type: 'found', bytes: stats.size, isExecutable: isExecutable(stats) };
  }

  /** Lists files below by name and size. Opens none and follows no link. */
  list({ maxFiles, maxDepth }: ListLimits): ConfinedListing {
    const files: ConfinedEntry[] = [];
    const misnamed: string[] = [];
    const problems: ConfinedListing['problems'][number][] = [];
    let isCut = false;
    const addProblem = (problem: WalkProblem, path: string): void => {
      isCut = true;
      const last = problems.at(-1);
      if (problems.length < maxFiles && (last?.path !== path || last.problem !== problem))
        problems.push({ path, problem });
    };
    const policy = {
      maxNames: maxFiles * NAMES_PER_FILE,
      maxDepth,
      directoriesLast: true,
      accept: ({ kind, name }: { readonly kind: string; readonly name: string }) =>
        kind !== 'directory' || !NOT_LISTED.has(name),
      onProblem: addProblem,
    };
    for (const { path: relative, place, directory } of walk(this.#opened(), policy)) {
      if (isCut && files.length === maxFiles) break;
      const spelled = toRelativePath(relative);
      const stats = statQuietly(place);
      if (isProblem(spelled) || spelled !== relative) {
        isCut = true;
        if (directory === undefined && misnamed.length < maxFiles) misnamed.push(relative);
      } else if (directory !== undefined || stats === undefined) continue;
      else if (files.length === maxFiles) addProblem('too-many', '');
      else files.push(listedEntry(relative, stats));
    }
    return {
      files: files.toSorted((a, b) => compareText(a.path, b.path)),
      misnamed: misnamed.toSorted(),
      problems,
      isCut,
    };
  }

  /** Opens a regular file below. The caller closes the descriptor. */
  open(file: RelativePath, { followLinks = true }: Pick<LinkRule, 'followLinks'> = {}): OpenedFile {
    const handle = this.#opened();
    const maxLinks = followLinks ? MAX_LINKS : 0;
    if (handle.confinement === 'paths') return openByPath(handle.place, file, maxLinks);
    const homes = (): readonly string[] => [this.#name, readlinkSync(descriptorPath(handle.descriptor))];
    return openByDescriptor(handle, file, { homes, maxLinks });
  }

  close(): void {
    this.#handle.close();
    this.#isOpen = false;
  }

  #opened(): DirectoryHandle {
    if (!this.#isOpen) throw new TypeError('the folder was closed');
    return this.#handle;
  }

  #readOnce(file: RelativePath, { maxBytes, allowHardLinks = false, followLinks = true }: ReadLimits): ConfinedFile {
    const opened = this.open(file, { followLinks });
    if (opened.type === 'failed') return opened;
    const { descriptor, stats } = opened;
    try {
      if (stats.nlink > 1 && !allowHardLinks) return failed('path/hard-link');
      if (stats.size > maxBytes) return failed('file/too-large', `${String(stats.size)} bytes`);
      return readWhole(descriptor, stats);
    } catch (error) {
      return systemFailure(error);
    } finally {
      closeSync(descriptor);
    }
  }
}

function readWhole(descriptor: number, before: Stats): ConfinedFile {
  // One byte more than the size, to notice a file that grew.
  const buffer = Buffer.allocUnsafe(before.size + 1);
  let length = readSync(descriptor, buffer, 0, buffer.length, 0);
  for (let count = length; count !== 0 && length < before.size; length += count)
    count = readSync(descriptor, buffer, length, buffer.length - length, length);
  const after = fstatSync(descriptor);
  const isSame =
    length === before.size &&
    after.size === before.size &&
    after.mtimeMs === before.mtimeMs &&
    after.ctimeMs === before.ctimeMs;
  if (!isSame) return failed('file/changed');
  return { type: 'read', bytes: buffer.subarray(0, length), isExecutable: isExecutable(before) };
}

function listedEntry(relative: string, stats: Stats): ConfinedEntry {
  const type = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
  return {
    path: relative,
    bytes: stats.size,
    type,
    isExecutable: type === 'file' && isExecutable(stats),
    isPublic: type === 'file' && (stats.mode & 0o004) !== 0,
  };
}

function isExecutable(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}

function statQuietly(place: string): Stats | undefined {
  return quietly(() => lstatSync(place, { throwIfNoEntry: false }));
}

interface LinkResolution {
  /** Paths of the root itself: an absolute link that starts with one of them is resolved from the root. */
  readonly homes: () => readonly string[];
  /** 0 for a path that was already resolved: a link in it was put there since. */
  readonly maxLinks: number;
}

/**
 * Opens one name at a time, each below the handle of the one before; the system follows no link. Links are read and resolved here: `..`
 * returns to the previous handle, and `..` at the root leads outside.
 */
function openByDescriptor(root: DirectoryHandle, file: RelativePath, { homes, maxLinks }: LinkResolution): OpenedFile {
  const held: DirectoryHandle[] = [];
  // The next name is last.
  const pending = file.split('/').reverse();
  let links = 0;
  try {
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (held.length === 0) return failed('path/link-outside');
        held.pop()?.close();
        continue;
      }
      const parent = held.at(-1) ?? root;
      const step = pending.length === 0 ? openLeaf(`${parent.place}/${name}`) : parent.tryChild(name);
      if (step.type === 'open' || step.type === 'failed') return step;
      if (step.type === 'directory') {
        held.push(step.directory);
        if (held.length >= MAX_DEPTH) return failed('path/too-long');
        continue;
      }
      links += 1;
      if (links > maxLinks) return failed(maxLinks === 0 ? 'file/changed' : 'path/link-loop');
      if (step.type === 'retry') {
        pending.push(name);
        continue;
      }
      const isAbsolute = step.target.startsWith('/');
      const target = isAbsolute ? pathBelow(step.target, homes()) : step.target;
      if (target === undefined) return failed('path/link-outside');
      if (isAbsolute) while (held.length > 0) held.pop()?.close();
      pending.push(...target.split('/').reverse());
    }
    // The last name was `.` or `..` of a link, or the link ended with a slash.
    return failed('file/directory');
  } catch (error) {
    return systemFailure(error);
  } finally {
    for (const directory of held) directory.close();
  }
}

/** The rest of an absolute path that starts with one of these directories. */
export function pathBelow(target: string, homes: readonly string[]): string | undefined {
  const home = homes.find((name) => target.startsWith(`${name}/`));
  return home === undefined ? undefined : target.slice(home.length + 1);
}

function openLeaf(place: string): OpenedFile | Exclude<OpenedDirectory, { readonly type: 'directory' }> {
  // Only a hint, so that a device is not opened; the opened file is checked again.
  const hint = lstatSync(place, { throwIfNoEntry: false });
  if (hint === undefined) return failed('file/missing');
  if (hint.isSymbolicLink()) return readLink(place);
  const problem = notRegular(hint);
  if (problem !== undefined) return failed(problem);
  try {
    return openRegularFile(place);
  } catch (error) {
    return isSystemError(error) && error.code === 'ELOOP' ? { type: 'retry' } : systemFailure(error);
  }
}

/**
 * For systems without /proc/self/fd: the real path of the file must lie below the root. It is opened without following a link, and
 * afterwards the path must still be real and still lead to the opened file.
 */
function openByPath(realRoot: string, file: RelativePath, maxLinks: number): OpenedFile {
  try {
    const target = realpathSync.native(path.join(realRoot, file));
    if (!isInside(target, realRoot)) return failed('path/link-outside');
    if (maxLinks === 0 && target !== path.join(realRoot, file)) return failed('file/changed');
    const opened = openLeaf(target);
    // The real path of a file is not a link, unless it was swapped.
    if (opened.type === 'link' || opened.type === 'retry') return failed('file/changed');
    if (opened.type === 'failed') return opened.code === 'file/missing' ? failed('file/changed') : opened;
    if (isStillAt(target, opened.descriptor)) return opened;
    closeSync(opened.descriptor);
    return failed('file/changed');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ELOOP') return failed('path/link-loop');
    return systemFailure(error);
  }
}

/** Compares as bigint: file ids of Windows do not fit into a double. */
function isStillAt(target: string, descriptor: number): boolean {
  if (tryRealPath(target) !== target) return false;
  const named = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  const opened = fstatSync(descriptor, { bigint: true });
  return named?.dev === opened.dev && named.ino === opened.ino && tryRealPath(target) === target;
}
