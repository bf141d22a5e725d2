/**
 * The walk below one directory handle. `tree-walk.ts` refuses the tree at the first problem; `confined-directory.ts` goes on without the
 * entry. Each directory is opened below the handle of its parent, so that no link is followed and nothing outside is
 * reached. The policy decides what to enter and what to do about entries that cannot be visited: refuse the tree, or go on without them.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, opendirSync, readdirSync, statSync, type Dirent, type Stats } from 'node:fs';

import { compareText, type RelativePath } from '#core';
import { inDirectory, systemFailure, type DirectoryHandle, type OpenFailed } from './directory-handle.ts';
import { isSystemError, tryStat } from '../system-error.ts';

export interface WalkedEntry {
  /** What the directory lists. It counts only after the entry was opened, because it may be swapped. */
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly name: string;
  /** Below the root of the walk, with forward slashes. */
  readonly path: string;
  /** Opens the entry while it is the current one. */
  readonly place: string;
  /** 0 for entries of the root. */
  readonly depth: number;
}

/** A directory is yielded before its entries, opened; the walk closes it. */
export type WalkStep = WalkedEntry & { readonly directory?: DirectoryHandle };

/**
 * `changed`: a directory was swapped for something else. `unreadable`: the system refuses to list or open it. `name`: an entry has a
 * name that is not UTF-8; the path is that of its directory. `too-many`, `too-deep`: a limit of the policy.
 */
export type WalkProblem = 'changed' | 'unreadable' | 'name' | 'too-many' | 'too-deep';

export interface WalkPolicy {
  /** Names read in all directories together. */
  readonly maxNames: number;
  /** Levels of directories below the root that are entered. */
  readonly maxDepth: number;
  /** Enter directories after the other entries of their parent: a walk that is cut off has the files closest to the root. */
  readonly directoriesLast?: boolean;
  /** False: the entry is neither yielded nor entered. */
  readonly accept?: (entry: WalkedEntry) => boolean;
  /** Returns to go on without the entry, or throws. */
  readonly onProblem: (problem: WalkProblem, path: string, cause?: unknown) => void;
}

interface Level {
  readonly directory: DirectoryHandle;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly entries: readonly Dirent[];
  next: number;
}

/** Yields the entries below `root` sorted by name within each directory. The caller closes `root`. */
export function* walk(root: DirectoryHandle, policy: WalkPolicy): Generator<WalkStep, void, undefined> {
  const levels: Level[] = [];
  let names = 0;
  const enter = (directory: DirectoryHandle, path: string): void => {
    const { entries, isCut } = listEntries(directory, path, policy, policy.maxNames - names);
    names += entries.length;
    if (isCut) policy.onProblem('too-many', path);
    const ordered = policy.directoriesLast === true ? directoriesLast(entries) : entries;
    levels.push({ directory, prefix: path === '' ? '' : `${path}/`, entries: ordered, next: 0 });
  };
  try {
    enter(root, '');
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const listed = level.entries[level.next];
      level.next += 1;
      if (listed === undefined) {
        levels.pop();
        if (level.directory !== root) level.directory.close();
        continue;
      }
      const { name } = listed;
      const place = `${level.directory.place}/${name}`;
      const path = level.prefix + name;
      const kind = classifyEntry(listed, place);
      if (kind === undefined) continue;
      const entry: WalkedEntry = { kind, name, path, place, depth: levels.length - 1 };
      if (policy.accept?.(entry) === false) continue;
      if (kind !== 'directory') {
        yield entry;
        continue;
      }
      if (levels.length > policy.maxDepth) {
        policy.onProblem('too-deep', path);
        continue;
      }
      const opened = level.directory.tryChild(name);
      if (opened.type !== 'directory') {
        const isUnreadable = opened.type === 'failed' && opened.code !== 'file/missing';
        policy.onProblem(isUnreadable ? 'unreadable' : 'changed', path, opened);
        continue;
      }
      yield { ...entry, directory: opened.directory };
      try {
        enter(opened.directory, path);
      } catch (error) {
        opened.directory.close();
        throw error;
      }
    }
  } finally {
    for (const { directory } of levels) if (directory !== root) directory.close();
  }
}

function directoriesLast(entries: readonly Dirent[]): readonly Dirent[] {
  return [...entries.filter((entry) => !entry.isDirectory()), ...entries.filter((entry) => entry.isDirectory())];
}

interface ListedEntries {
  readonly entries: readonly Dirent[];
  readonly isCut: boolean;
}

/** Reports what cannot be listed, and names that are not UTF-8. */
function listEntries(directory: DirectoryHandle, path: string, policy: WalkPolicy, room: number): ListedEntries {
  try {
    const { entries, isCut } = readEntries(directory.place, room);
    // Without descriptors, the path may have led elsewhere while it was listed.
    if (!directory.isInPlace()) {
      policy.onProblem('changed', path);
      return { entries: [], isCut: false };
    }
    const decoded = decodedNames(directory.place, entries, () => policy.onProblem('name', path));
    if (decoded.length > 1) decoded.sort((a, b) => compareText(a.name, b.name));
    return { entries: decoded, isCut };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    policy.onProblem('unreadable', path, error);
    return { entries: [], isCut: false };
  }
}

/** A directory of at most this size holds some hundreds of names: reading them at once takes a third of the time. */
const SMALL_DIRECTORY = 16 * 1024;

/** Reads at most `room` names: a directory may hold millions. */
function readEntries(place: string, room: number): { readonly entries: Dirent[]; readonly isCut: boolean } {
  if (room === Infinity || statSync(place).size <= SMALL_DIRECTORY) {
    const entries = readdirSync(place, { withFileTypes: true });
    return entries.length <= room
      ? { entries, isCut: false }
      : { entries: entries.slice(0, Math.max(0, room)), isCut: true };
  }
  const entries: Dirent[] = [];
  const listing = opendirSync(place, { bufferSize: 256 });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      if (entries.length >= room) return { entries, isCut: true };
      entries.push(entry);
    }
    return { entries, isCut: false };
  } finally {
    listing.closeSync();
  }
}

/** `stats` is absent if the entry is gone by now. */
interface ListedEntry {
  readonly name: string;
  readonly stats: Stats | undefined;
}

/** At most `room` entries of a folder below `root`, a real path, sorted by name. No link is followed. */
export function listBeneath(
  root: string,
  folder: RelativePath | '',
  room: number,
): { readonly type: 'listed'; readonly entries: readonly ListedEntry[]; readonly isCut: boolean } | OpenFailed {
  return inDirectory(root, folder, ({ place }) => {
    try {
      const { entries, isCut } = readEntries(place, room);
      const names = entries.map(({ name }) => name).toSorted(compareText);
      return { type: 'listed', entries: names.map((name) => ({ name, stats: tryStat(`${place}/${name}`) })), isCut };
    } catch (error) {
      return systemFailure(error);
    }
  });
}

/** The entries whose names are UTF-8. Node replaces other bytes by U+FFFD, and no text reaches such an entry. */
function decodedNames(place: string, entries: Dirent[], onUndecodable: () => void): Dirent[] {
  if (!entries.some(({ name }) => name.includes('\uFFFD'))) return entries;
  const raw = readdirSync(place, { encoding: 'buffer' });
  if (raw.some((name) => !isUtf8(name))) onUndecodable();
  const decoded = new Set(raw.filter((name) => isUtf8(name)).map((name) => name.toString('utf8')));
  return entries.filter(({ name }) => decoded.has(name));
}

function classifyEntry(entry: Dirent, place: string): WalkedEntry['kind'] | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return 'other';
  // Some file systems do not list the kind.
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other';
}
