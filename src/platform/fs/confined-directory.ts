import { closeSync, fstatSync, lstatSync, openSync, readSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';

import type { FailureCode } from '../../core/failure-codes.ts';
import type { RelativePath } from '../../core/path.ts';
import { listBeneath } from './confined-list.ts';
import type { ConfinedListing, ListLimits } from './confined-list.ts';
import { MAX_LINKS, descriptorPath, openBeneath, openInside, systemFailure } from './confined-open.ts';
import type { OpenFailed, Opened } from './confined-open.ts';
import { isDirectory, isSystemError, tryRealPath } from './paths.ts';
import { NAMED_FOLDER } from './open-flags.ts';

/** One file, whole; or why not a byte of it is given. */
export type ConfinedFile =
  | { readonly type: 'read'; readonly bytes: Buffer; readonly isExecutable: boolean }
  | OpenFailed;

export type FoundFile = { readonly type: 'found'; readonly bytes: number; readonly isExecutable: boolean } | OpenFailed;

export interface LinkRule {
  /** A file with a second name somewhere else is refused otherwise: that name may be anybody's. */
  readonly allowHardLinks?: boolean;
  /** `false` for a path whose links were resolved when it was judged: a link there now is `file/changed`. */
  readonly followLinks?: boolean;
}

export interface ReadLimits extends LinkRule {
  readonly maxBytes: number;
}

export type ConfinedOpening =
  | { readonly type: 'open'; readonly directory: ConfinedDirectory }
  | { readonly type: 'failed'; readonly code: FailureCode };

/** Linux has them, but a container may come without /proc. */
export const HAS_DESCRIPTOR_PATHS =
  process.platform === 'linux' && lstatSync('/proc/self/fd', { throwIfNoEntry: false }) !== undefined;

/** `descriptors` where the system has /proc/self/fd; `paths` everywhere else. See `confined-open.ts` for what each can promise. */
export type Confinement = 'descriptors' | 'paths';

/**
 * Opens a folder, once: all that is read through it is what lies in this folder now, wherever its name leads later. The folder
 * itself may be a link.
 */
export function openConfined(
  directory: string,
  { confinement }: { readonly confinement?: Confinement } = {},
): ConfinedOpening {
  if (confinement === 'paths' || !HAS_DESCRIPTOR_PATHS) return openByPath(directory);
  let descriptor: number;
  try {
    descriptor = openSync(directory, NAMED_FOLDER);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP';
    return { type: 'failed', code: isGone ? 'skill/gone' : 'file/unreadable' };
  }
  return { type: 'open', directory: new ConfinedDirectory({ descriptor, name: directory }) };
}

function openByPath(directory: string): ConfinedOpening {
  const real = tryRealPath(directory);
  if (real === undefined || !isDirectory(real)) return { type: 'failed', code: 'skill/gone' };
  return { type: 'open', directory: new ConfinedDirectory({ realPath: real }) };
}

/** What holds the folder, and under which name it was opened; or its real path. */
type ConfinedRoot = { readonly descriptor: number; readonly name: string } | { readonly realPath: string };

/** A folder held open. Close it. */
export class ConfinedDirectory {
  #root: ConfinedRoot | undefined;

  /** Use `openConfined`. Takes a descriptor over. */
  constructor(root: ConfinedRoot) {
    this.#root = root;
  }

  /** A whole file, exactly as it was at one moment; looked at a second time where it changed meanwhile. */
  read(file: RelativePath, limits: ReadLimits): ConfinedFile {
    const first = this.#readOnce(file, limits);
    return first.type === 'failed' && first.code === 'file/changed' ? this.#readOnce(file, limits) : first;
  }

  /** What `read` would judge, without reading. */
  resolve(file: RelativePath, { allowHardLinks = false, followLinks = true }: LinkRule = {}): FoundFile {
    const opened = this.#open(file, followLinks);
    if (opened.type === 'failed') return opened;
    const { descriptor, stats } = opened;
    closeSync(descriptor);
    if (stats.nlink > 1 && !allowHardLinks) return { type: 'failed', code: 'path/hard-link' };
    return { type: 'found', bytes: stats.size, isExecutable: isExecutable(stats) };
  }

  /** The files below, by name and size. None is opened, no link is followed. */
  list(limits: ListLimits): ConfinedListing {
    return listBeneath(this.#opened(), limits);
  }

  close(): void {
    if (this.#root !== undefined && 'descriptor' in this.#root) closeSync(this.#root.descriptor);
    this.#root = undefined;
  }

  #opened(): ConfinedRoot {
    if (this.#root === undefined) throw new TypeError('the folder was closed');
    return this.#root;
  }

  #open(file: RelativePath, followLinks: boolean): Opened {
    const root = this.#opened();
    const maxLinks = followLinks ? MAX_LINKS : 0;
    if ('realPath' in root) return openInside(root.realPath, file, maxLinks);
    const home = (): readonly string[] => [root.name, readlinkSync(descriptorPath(root.descriptor))];
    return openBeneath(root.descriptor, file, home, maxLinks);
  }

  #readOnce(file: RelativePath, { maxBytes, allowHardLinks = false, followLinks = true }: ReadLimits): ConfinedFile {
    const opened = this.#open(file, followLinks);
    if (opened.type === 'failed') return opened;
    const { descriptor, stats } = opened;
    try {
      if (stats.nlink > 1 && !allowHardLinks) return { type: 'failed', code: 'path/hard-link' };
      if (stats.size > maxBytes)
        return { type: 'failed', code: 'file/too-large', detail: `${String(stats.size)} bytes` };
      return readOpened(descriptor, stats);
    } catch (error) {
      return systemFailure(error);
    } finally {
      closeSync(descriptor);
    }
  }
}

function readOpened(descriptor: number, before: Stats): ConfinedFile {
  // Room for one byte more: a file that grew is noticed and not cut.
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
  if (!isSame) return { type: 'failed', code: 'file/changed' };
  return { type: 'read', bytes: buffer.subarray(0, length), isExecutable: isExecutable(before) };
}

function isExecutable(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}
