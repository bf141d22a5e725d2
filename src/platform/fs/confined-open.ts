/**
 * Opening a file below a folder so that nothing outside it can be reached, whatever is swapped meanwhile. Two ways: by
 * descriptors, which is exact and needs Linux's /proc/self/fd, and by real paths, for every other system.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import type { FailureCode } from '../../core/failure-codes.ts';
import type { RelativePath } from '../../core/path.ts';
import { isInside, isSystemError, tryRealPath } from './paths.ts';
import { FOREIGN_FILE, FOREIGN_FOLDER } from './open-flags.ts';

export interface OpenFailed {
  readonly type: 'failed';
  readonly code: FailureCode;
  /** The system's own code, or the size of a file that is too large. */
  readonly detail?: string;
}

/** Whoever gets a descriptor closes it. */
export type Opened = { readonly type: 'open'; readonly descriptor: number; readonly stats: Stats } | OpenFailed;

/** Links followed for one path. */
export const MAX_LINKS = 8;
/** Folders held open for one path. */
const MAX_DEPTH = 64;

const QUIET = { throwIfNoEntry: false } as const;

/** The name that this process has for what a descriptor holds open. */
export function descriptorPath(descriptor: number): string {
  return `/proc/self/fd/${String(descriptor)}`;
}

/**
 * Walks from the folder that `root` holds open, one name at a time, each below the descriptor of the one before, no link followed
 * by the system. A link is read and walked by hand: `..` goes back to the descriptor we came from, and past the first is outside.
 * `home` are the names of the root itself: an absolute link that starts with one of them is walked from the root like any other.
 * `maxLinks` 0 is for a path whose links were resolved before: one that is there now was put there since.
 */
export function openBeneath(
  root: number,
  file: RelativePath,
  home: () => readonly string[],
  maxLinks = MAX_LINKS,
): Opened {
  const held = [root];
  try {
    return walk(held, file, home, maxLinks);
  } catch (error) {
    return systemFailure(error);
  } finally {
    while (held.length > 1) release(held);
  }
}

function walk(held: number[], file: RelativePath, home: () => readonly string[], maxLinks: number): Opened {
  // The next name stands last.
  const pending = file.split('/').reverse();
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (held.length === 1) return failed('path/link-outside');
      release(held);
      continue;
    }
    const place = `${descriptorPath(held.at(-1) ?? -1)}/${name}`;
    const step = pending.length === 0 ? openLeaf(place) : openFolder(place);
    if (step.type === 'open' || step.type === 'failed') return step;
    if (step.type === 'folder') {
      held.push(step.descriptor);
      if (held.length > MAX_DEPTH) return failed('path/too-long');
      continue;
    }
    links += 1;
    if (links > maxLinks) return failed(maxLinks === 0 ? 'file/changed' : 'path/link-loop');
    if (step.type === 'again') {
      pending.push(name);
      continue;
    }
    const target = step.target.startsWith('/') ? belowHome(step.target, home()) : step.target;
    if (target === undefined) return failed('path/link-outside');
    if (step.target.startsWith('/')) while (held.length > 1) release(held);
    pending.push(...target.split('/').reverse());
  }
  // The last name was `.` or `..` of a link, or ended in a slash.
  return failed('file/directory');
}

/** The rest of an absolute path that starts with one of the names of a root. */
export function belowHome(target: string, home: readonly string[]): string | undefined {
  const start = home.find((name) => target.startsWith(`${name}/`));
  return start === undefined ? undefined : target.slice(start.length + 1);
}

function release(held: number[]): void {
  const descriptor = held.pop();
  if (descriptor !== undefined) closeSync(descriptor);
}

type Step =
  | Opened
  | { readonly type: 'folder'; readonly descriptor: number }
  | { readonly type: 'link'; readonly target: string }
  /** It was exchanged between two looks. */
  | { readonly type: 'again' };

/** Opens a folder by its name below a descriptor, to go on from or to list. */
export function openFolder(place: string): Step {
  try {
    return { type: 'folder', descriptor: openSync(place, FOREIGN_FOLDER) };
  } catch (error) {
    // Linux says ENOTDIR of a link that must not be followed, others ELOOP.
    if (!isSystemError(error) || (error.code !== 'ENOTDIR' && error.code !== 'ELOOP')) return systemFailure(error);
    return readLink(place);
  }
}

function openLeaf(place: string): Step {
  // Only a hint, so that a device is not opened; what counts is the opened file.
  const hint = lstatSync(place, QUIET);
  if (hint === undefined) return failed('file/missing');
  if (hint.isSymbolicLink()) return readLink(place);
  const problem = kindProblem(hint);
  if (problem !== undefined) return failed(problem);
  try {
    return judged(openSync(place, FOREIGN_FILE));
  } catch (error) {
    if (isSystemError(error) && error.code === 'ELOOP') return { type: 'again' };
    return systemFailure(error);
  }
}

function readLink(place: string): Step {
  try {
    return { type: 'link', target: readlinkSync(place) };
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EINVAL') return systemFailure(error);
    // No link: a file where a folder was expected, unless somebody exchanges them.
    const now = lstatSync(place, QUIET);
    return now?.isDirectory() === true || now?.isSymbolicLink() === true ? { type: 'again' } : failed('file/missing');
  }
}

/**
 * The same for systems without /proc/self/fd, as well as they allow: the real path of the file must lie inside the real path of the
 * root, it is opened without following a link, and afterwards that path must still be real and still lead to the file that was
 * opened. Somebody who exchanges folders several times within these few calls could win; against that, read only where no
 * script of the skill runs.
 */
export function openInside(realRoot: string, file: RelativePath, maxLinks = MAX_LINKS): Opened {
  let target: string;
  try {
    target = realpathSync.native(path.join(realRoot, file));
  } catch (error) {
    if (isSystemError(error) && error.code === 'ELOOP') return failed('path/link-loop');
    return systemFailure(error);
  }
  if (!isInside(target, realRoot)) return failed('path/link-outside');
  if (maxLinks === 0 && target !== path.join(realRoot, file)) return failed('file/changed');
  const opened = openReal(target);
  if (opened.type === 'failed' || isStill(target, opened.descriptor)) return opened;
  closeSync(opened.descriptor);
  return failed('file/changed');
}

function openReal(target: string): Opened {
  try {
    const hint = lstatSync(target, QUIET);
    const problem = hint === undefined ? 'file/changed' : kindProblem(hint);
    return problem === undefined ? judged(openSync(target, FOREIGN_FILE)) : failed(problem);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ELOOP') return failed('file/changed');
    return systemFailure(error);
  }
}

/** Whole numbers: what Windows calls a file does not fit into a double. */
function isStill(target: string, descriptor: number): boolean {
  if (tryRealPath(target) !== target) return false;
  const named = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  const opened = fstatSync(descriptor, { bigint: true });
  return named?.dev === opened.dev && named.ino === opened.ino && tryRealPath(target) === target;
}

/** Takes the descriptor over. */
function judged(descriptor: number): Opened {
  let isKept = false;
  try {
    const stats = fstatSync(descriptor);
    const problem = kindProblem(stats);
    if (problem !== undefined) return failed(problem);
    isKept = true;
    return { type: 'open', descriptor, stats };
  } finally {
    if (!isKept) closeSync(descriptor);
  }
}

function kindProblem(stats: Stats): FailureCode | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isSymbolicLink()) return 'file/changed';
  return stats.isDirectory() ? 'file/directory' : 'file/not-regular';
}

function failed(code: FailureCode): OpenFailed {
  return { type: 'failed', code };
}

/** What the system refused, as a value; anything else is a bug and flies on. */
export function systemFailure(error: unknown): OpenFailed {
  if (!isSystemError(error)) throw error;
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR': {
      return failed('file/missing');
    }
    case 'ENAMETOOLONG': {
      return failed('path/too-long');
    }
    case 'EISDIR': {
      return failed('file/directory');
    }
    case 'ENXIO':
    case 'ENODEV':
    case 'EOPNOTSUPP': {
      return failed('file/not-regular');
    }
    default: {
      return { type: 'failed', code: 'file/unreadable', detail: error.code };
    }
  }
}
