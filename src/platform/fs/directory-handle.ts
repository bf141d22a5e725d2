/**
 * Directories that are held open. What is reached through a handle lies in the directory that was opened, whatever its name leads to
 * later, and no link is followed. With Linux's /proc/self/fd this is exact. Other systems fall back to real paths, which are checked
 * before and after use; a process that swaps directories several times within a few calls could win there.
 */
import { closeSync, fchownSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync, type Stats } from 'node:fs';

import type { RelativePath, ActionProblem } from '#core';
import { FOREIGN_FILE, FOREIGN_FOLDER, NAMED_FOLDER } from './open-flags.ts';
import { realPath, tryRealPath } from './paths.ts';
import { isSystemError, quietly } from '../system-error.ts';

/** `descriptors` where the system has /proc/self/fd; `paths` everywhere else. */
export type Confinement = 'descriptors' | 'paths';

/** False in containers without /proc, even on Linux. */
export const HAS_DESCRIPTOR_PATHS =
  process.platform === 'linux' && lstatSync('/proc/self/fd', { throwIfNoEntry: false }) !== undefined;
const DEFAULT_CONFINEMENT: Confinement = HAS_DESCRIPTOR_PATHS ? 'descriptors' : 'paths';

/** The path by which this process reaches what a descriptor holds open; `otherwise` on systems without such paths. */
export function descriptorPath(descriptor: number, otherwise?: string): string {
  return otherwise === undefined || HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${String(descriptor)}` : otherwise;
}

export interface OpenFailed {
  readonly type: 'failed';
  readonly code: ActionProblem['code'];
  /** The error code of the system, or the size of a file that is too large. */
  readonly detail?: string;
}

/** The caller closes the descriptor. */
export type OpenedFile = { readonly type: 'open'; readonly descriptor: number; readonly stats: Stats } | OpenFailed;

export type OpenedDirectory =
  | { readonly type: 'directory'; readonly directory: DirectoryHandle }
  | { readonly type: 'link'; readonly target: string }
  /** The entry changed between two system calls: retry. */
  | { readonly type: 'retry' }
  | OpenFailed;

export interface OpenDirectoryOptions {
  /** Follow links on the way to the directory and at its end (default: false, for the end). */
  readonly followLink?: boolean;
  readonly confinement?: Confinement;
}

export class DirectoryHandle {
  readonly descriptor: number;
  /** The path by which entries are reached: `${place}/${name}`. */
  readonly place: string;
  readonly confinement: Confinement;
  #isOpen = true;

  private constructor(descriptor: number, place: string, confinement: Confinement) {
    this.descriptor = descriptor;
    this.place = place;
    this.confinement = confinement;
  }

  /** Throws system errors; ELOOP or ENOTDIR for a link that is not followed. */
  static open(
    directory: string,
    { followLink = false, confinement = DEFAULT_CONFINEMENT }: OpenDirectoryOptions = {},
  ): DirectoryHandle {
    const descriptor = openSync(directory, followLink ? NAMED_FOLDER : FOREIGN_FOLDER);
    if (HAS_DESCRIPTOR_PATHS && confinement === 'descriptors')
      return new DirectoryHandle(descriptor, descriptorPath(descriptor), confinement);
    return new DirectoryHandle(descriptor, followLink ? realPath(directory) : directory, 'paths');
  }

  /** Opens a directory and reports a link at its end instead of following it. */
  static tryOpen(directory: string, confinement: Confinement = DEFAULT_CONFINEMENT): OpenedDirectory {
    try {
      return { type: 'directory', directory: DirectoryHandle.open(directory, { confinement }) };
    } catch (error) {
      // Linux reports ENOTDIR for a link that must not be followed, other systems ELOOP.
      if (!isSystemError(error) || (error.code !== 'ENOTDIR' && error.code !== 'ELOOP')) return systemFailure(error);
      return readLink(directory);
    }
  }

  /** Opens a directory in this one. Throws system errors. */
  child(name: string): DirectoryHandle {
    return DirectoryHandle.open(`${this.place}/${name}`, { confinement: this.confinement });
  }

  /** Opens a directory in this one and reports a link instead of following it. */
  tryChild(name: string): OpenedDirectory {
    return DirectoryHandle.tryOpen(`${this.place}/${name}`, this.confinement);
  }

  stats(): Stats {
    return fstatSync(this.descriptor);
  }

  /** False if the handle works by path and the path leads elsewhere by now. */
  isInPlace(): boolean {
    return this.confinement === 'descriptors' || tryRealPath(this.place) === this.place;
  }

  /** May be called twice. */
  close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }
}

export function readLink(place: string): Exclude<OpenedDirectory, { readonly type: 'directory' }> {
  try {
    return { type: 'link', target: readlinkSync(place) };
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EINVAL') return systemFailure(error);
    // Not a link: a file where a directory was expected, unless another process swaps them.
    const now = lstatSync(place, { throwIfNoEntry: false });
    return now?.isDirectory() === true || now?.isSymbolicLink() === true ? { type: 'retry' } : failed('file/missing');
  }
}

/** Opens a regular file without following a link at its end. Throws ELOOP for a link. */
export function openRegularFile(place: string): OpenedFile {
  const descriptor = openSync(place, FOREIGN_FILE);
  let isKept = false;
  try {
    const stats = fstatSync(descriptor);
    const problem = notRegular(stats);
    if (problem !== undefined) return failed(problem);
    isKept = true;
    return { type: 'open', descriptor, stats };
  } finally {
    if (!isKept) closeSync(descriptor);
  }
}

/** Why this is not a regular file; `undefined` if it is one. A link is `file/changed`: links are resolved before. */
export function notRegular(stats: Stats): ActionProblem['code'] | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isSymbolicLink()) return 'file/changed';
  return stats.isDirectory() ? 'file/directory' : 'file/not-regular';
}

export interface InDirectoryOptions {
  /** Create missing directories. */
  readonly create?: boolean;
  readonly confinement?: Confinement;
}

/**
 * Calls `act` with a directory below `root`, a real path. Each name is opened below the handle of the one before. A link on the way is
 * `file/changed`, because callers resolve links first.
 */
export function inDirectory<Result>(
  root: string,
  folder: RelativePath | '',
  act: (directory: DirectoryHandle) => Result,
  { create = false, confinement = DEFAULT_CONFINEMENT }: InDirectoryOptions = {},
): Result | OpenFailed {
  let directory: DirectoryHandle | undefined;
  try {
    try {
      let opened = openResolved(root, confinement);
      for (const name of folder.split('/').filter((part) => part !== '')) {
        if (opened instanceof DirectoryHandle) directory = opened;
        else return opened;
        opened = openOrCreate(directory, name, create);
        directory.close();
      }
      if (!(opened instanceof DirectoryHandle)) return opened;
      directory = opened;
    } catch (error) {
      return systemFailure(error);
    }
    return act(directory);
  } finally {
    directory?.close();
  }
}

function openOrCreate(parent: DirectoryHandle, name: string, create: boolean): DirectoryHandle | OpenFailed {
  const place = `${parent.place}/${name}`;
  const first = openResolved(place, parent.confinement);
  if (!create || first instanceof DirectoryHandle || first.code !== 'file/missing') return first;
  const isCreated = createDirectory(place);
  const second = openResolved(place, parent.confinement);
  if (isCreated && second instanceof DirectoryHandle) giveTo(second.descriptor, parent.stats());
  return second;
}

function openResolved(place: string, confinement: Confinement): DirectoryHandle | OpenFailed {
  const opened = DirectoryHandle.tryOpen(place, confinement);
  if (opened.type === 'link' || opened.type === 'retry') return failed('file/changed');
  if (opened.type === 'failed')
    return opened.code === 'file/missing' && lstatSync(place, { throwIfNoEntry: false }) !== undefined
      ? failed('file/exists')
      : opened;
  if (opened.directory.isInPlace()) return opened.directory;
  opened.directory.close();
  return failed('file/changed');
}

function createDirectory(place: string): boolean {
  try {
    mkdirSync(place);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** What root creates in a user's directory belongs to that user, who could not change it otherwise. */
export function giveTo(descriptor: number, { uid, gid }: Stats): void {
  if (process.getuid?.() !== 0) return;
  // A file system without owners.
  quietly(() => fchownSync(descriptor, uid, gid));
}

export function failed(code: ActionProblem['code'], detail?: string): OpenFailed {
  return { type: 'failed', code, detail };
}

/** A system error as a value. Any other error is a bug and is thrown. */
export function systemFailure(error: unknown): OpenFailed {
  if (!isSystemError(error)) throw error;
  const code = FAILURES[error.code];
  return code === undefined ? failed('file/unreadable', error.code) : failed(code);
}

const FAILURES: Readonly<Record<string, ActionProblem['code']>> = {
  ENOENT: 'file/missing',
  ENOTDIR: 'file/missing',
  ENAMETOOLONG: 'path/too-long',
  EISDIR: 'file/directory',
  ENXIO: 'file/not-regular',
  ENODEV: 'file/not-regular',
  EOPNOTSUPP: 'file/not-regular',
};
