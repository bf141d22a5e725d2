/**
 * Walking a whole tree, all or nothing: a tree with an entry that is not a file, a directory or a link inside of it is refused, and no
 * entry is left out silently.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';

import { isSkillError, quoted, problemError, toProblem, type Problem, type SkillError } from '#core';
import { DirectoryHandle } from './directory-handle.ts';
import { FOREIGN_FILE } from './open-flags.ts';
import { walk, type WalkProblem, type WalkedEntry } from './walk.ts';
import { isSystemError } from '../system-error.ts';

/** Every reason to refuse a tree, with what to do. */
const HINTS = {
  gone: 'check the path of the folder',
  changed: 'try again when no other program writes to the folder',
  unreadable: 'give yourself read permission on it, or remove it',
  'not-regular': 'remove the pipe, socket or device',
  'link-outside': 'replace the link with the file itself, or remove it',
  'hard-link': 'replace the hard link with a copy of the file',
  name: 'rename it with valid UTF-8',
  'too-many': 'remove files that are not needed',
  'too-large': 'remove or shorten large files',
  'too-deep': 'move the files into fewer nested folders',
} as const;

export type TreeProblem = keyof typeof HINTS;

/** Why a tree is refused as a whole. The message is lower case and does not name the tree. */
export interface TreeRefusal extends Problem<`tree/${TreeProblem}`> {
  readonly type: 'refused';
  readonly problem: TreeProblem;
  /** Below the tree; empty for the tree itself. */
  readonly path: string;
}

/** The error that ends a walk. `orRefusal` and `findTreeRefusal` turn it into a value. */
export function treeRefused(problem: TreeProblem, path: string, message: string): SkillError {
  const refusal: TreeRefusal = {
    type: 'refused',
    code: `tree/${problem}`,
    problem,
    path,
    message,
    hint: HINTS[problem],
  };
  return problemError(refusal);
}

/** The refusal that a caught error carries. */
export function findTreeRefusal(error: unknown): TreeRefusal | undefined {
  const problem = isSkillError(error) ? error.raised : undefined;
  return problem !== undefined && isTreeRefusal(problem) ? problem : undefined;
}

function isTreeRefusal(problem: Problem): problem is TreeRefusal {
  return problem.code.startsWith('tree/');
}

export interface TreeLimits {
  /** Files, directories and links. */
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

export const TREE_LIMITS: TreeLimits = { maxEntries: 20_000, maxBytes: 512 * 1024 * 1024, maxDepth: 64 };

export interface FolderEntry {
  readonly type: 'folder';
  /** Empty for the tree itself. */
  readonly path: string;
  readonly stats: Stats;
}

export interface FileEntry {
  readonly type: 'file';
  readonly path: string;
  readonly stats: Stats;
}

export interface LinkEntry {
  readonly type: 'link';
  readonly path: string;
  readonly stats: Stats;
  readonly target: string;
}

export interface WalkOptions {
  readonly limits?: TreeLimits;
  /** Names at the top that are not part of the tree: links that this program added. */
  readonly leaveOut?: readonly string[];
  /** True for entries that are not part of the tree; they are neither entered nor counted. Asked for a directory before its entries. */
  readonly skip?: (path: string, isFolder: () => boolean) => boolean;
  /** Also visits `.git`, which is not part of a skill (default: false). */
  readonly repositoryData?: boolean;
}

/** Repository data beside the files, at any depth: it differs between equal checkouts. Everything else is part of a tree. */
const REPOSITORY_DATA = '.git';

/**
 * Every entry of a tree; a directory comes before its entries. Raises a `TreeRefusal`. A file that `meetFile` opened is closed when the
 * walk goes on.
 */
export function* walkStrictly<F extends FileEntry>(
  root: string,
  { limits = TREE_LIMITS, leaveOut = [], skip, repositoryData = false }: WalkOptions,
  meetFile: (place: string, at: string) => F,
): Generator<FolderEntry | F | LinkEntry, void, undefined> {
  let entries = 0;
  let bytes = 0;
  const accept = ({ name, path: at, kind, depth }: WalkedEntry): boolean => {
    if (depth === 0 && leaveOut.includes(name)) return false;
    if (skip?.(at, () => kind === 'directory') === true || (name === REPOSITORY_DATA && !repositoryData)) return false;
    entries += 1;
    if (entries > limits.maxEntries)
      throw treeRefused('too-many', '', `it has more than ${String(limits.maxEntries)} files and folders`);
    return true;
  };
  const onProblem = (problem: WalkProblem, at: string, cause?: unknown): void => {
    throw problemRefusal(problem, at, cause, limits);
  };
  const top = openTop(root);
  try {
    yield { type: 'folder', path: '', stats: top.stats() };
    for (const step of walk(top, { maxNames: Infinity, maxDepth: limits.maxDepth - 1, accept, onProblem })) {
      if (step.directory !== undefined) {
        yield { type: 'folder', path: step.path, stats: step.directory.stats() };
        continue;
      }
      const entry = meetEntry(step, meetFile);
      try {
        bytes += entry.stats.size;
        if (bytes > limits.maxBytes)
          throw treeRefused('too-large', '', `it has more than ${String(limits.maxBytes)} bytes`);
        yield entry;
      } finally {
        if ('descriptor' in entry && typeof entry.descriptor === 'number') closeSync(entry.descriptor);
      }
    }
  } catch (error) {
    throw asRefusal(error, '');
  } finally {
    top.close();
  }
}

function openTop(root: string): DirectoryHandle {
  try {
    // The tree itself may be a link: the caller that listed it decided that.
    return DirectoryHandle.open(root, { followLink: true });
  } catch (error) {
    const isGone = isSystemError(error) && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code);
    throw isGone ? treeRefused('gone', '', 'there is no such folder') : asRefusal(error, '');
  }
}

function meetEntry<F extends FileEntry>(
  { kind, path: at, place }: WalkedEntry,
  meetFile: (place: string, at: string) => F,
): F | LinkEntry {
  try {
    if (kind === 'file') return meetFile(place, at);
    if (kind === 'link') return { type: 'link', path: at, stats: lstatSync(place), target: readLinkTarget(place, at) };
  } catch (error) {
    throw asRefusal(error, at);
  }
  throw treeRefused('not-regular', at, `${quoted(at)} is a pipe, a socket or a device`);
}

function problemRefusal(problem: WalkProblem, at: string, cause: unknown, { maxDepth }: TreeLimits): unknown {
  if (problem === 'name') return treeRefused('name', at, `${shown(at)} has a file with a name that is not UTF-8`);
  if (problem === 'too-deep')
    return treeRefused('too-deep', at, `${quoted(at)} is more than ${String(maxDepth)} folders deep`);
  if (isSystemError(cause)) return asRefusal(cause, at);
  if (problem === 'changed') return changed(at);
  const detail = typeof cause === 'object' && cause !== null && 'detail' in cause ? String(cause.detail) : problem;
  return treeRefused('unreadable', at, `${shown(at)} cannot be read (${detail})`);
}

/** Runs a walk; a refused tree is a value. */
export async function orRefusal<T>(act: () => Promise<T>): Promise<T | TreeRefusal> {
  try {
    return await act();
  } catch (error) {
    return toProblem(error, isTreeRefusal);
  }
}

/** Error codes for an entry that was swapped: it is gone, not a directory any more, a link, or not a link any more. */
const SWAPPED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL']);

/** A system error while reading a tree, as the refusal; other errors are returned unchanged. */
export function asRefusal(error: unknown, at: string): unknown {
  if (!isSystemError(error)) return error;
  if (SWAPPED.has(error.code)) return changed(at);
  return treeRefused('unreadable', at, `${shown(at)} cannot be read (${error.code})`);
}

/** Opens a file of a tree. Raises a `TreeRefusal` if it is not a regular file, or not the file that was `seen`. */
export function openFileAt(
  place: string,
  at: string,
  seen?: Stats,
): { readonly descriptor: number; readonly stats: Stats } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(place, FOREIGN_FILE);
    const stats = fstatSync(descriptor);
    const isSeen = seen === undefined || (stats.ino === seen.ino && stats.dev === seen.dev);
    if (!stats.isFile() || !isSeen) throw changed(at);
    return { descriptor, stats };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw asRefusal(error, at);
  }
}

export function changed(at: string): SkillError {
  return treeRefused('changed', at, `${shown(at)} changed while it was read`);
}

function shown(at: string): string {
  return at === '' ? 'it' : quoted(at);
}

function readLinkTarget(place: string, at: string): string {
  const bytes = readlinkSync(place, { encoding: 'buffer' });
  if (!isUtf8(bytes)) throw treeRefused('name', at, `${quoted(at)} is a link to a name that is not UTF-8`);
  return bytes.toString('utf8');
}

/** Links followed to resolve one link. */
const MAX_LINKS = 40;

/**
 * Raises a `TreeRefusal` if a link leads out of the tree, directly or through other links. A missing target inside is allowed. `links`
 * has the targets by path.
 */
export function refuseLinksOutside(links: ReadonlyMap<string, string>, folders: ReadonlySet<string>): void {
  for (const [at, target] of links) {
    const reason = whyOutside(at, links, folders);
    if (reason !== undefined)
      throw treeRefused('link-outside', at, `${quoted(at)} is a link to ${quoted(target)}, which ${reason}`);
  }
}

function whyOutside(
  link: string,
  links: ReadonlyMap<string, string>,
  folders: ReadonlySet<string>,
): string | undefined {
  const pending = link.split('/').reverse();
  const reached: string[] = [];
  let followed = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (reached.length === 0) return 'lies outside';
      // The parent of a directory that does not exist cannot be known.
      if (!folders.has(reached.join('/'))) return 'leads through a path that is not a folder';
      reached.pop();
      continue;
    }
    reached.push(name);
    const target = links.get(reached.join('/'));
    if (target === undefined) continue;
    followed += 1;
    if (followed > MAX_LINKS) return 'never ends';
    if (path.posix.isAbsolute(target)) return 'is absolute';
    reached.pop();
    pending.push(...target.split('/').reverse());
  }
  return undefined;
}
