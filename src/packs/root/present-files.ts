/**
 * Reads and hashes the files of a skill folder: for the lock, for `verify`, and for the check right before a commit. One pass returns the
 * files and the tree digest. Links are never followed.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';

import type { LockedFile } from '../lock/lock.ts';
import { PackRefused, isRefusal, packRefusal, refused, systemRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { DirectoryHandle, tryOpenDirectory } from '../../platform/fs/directory-handle.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { digestOfEntries, isProgram } from '../../platform/fs/tree-digest.ts';
import type { DigestEntry } from '../../platform/fs/tree-digest.ts';
import { SMALL_FILE, hashOpened } from '../../platform/fs/tree-file.ts';
import { TreeFingerprint } from '../../platform/fs/tree-stat.ts';
import { REPOSITORY_DATA, TreeRefused } from '../../platform/fs/tree-walk.ts';
import { walk } from '../../platform/fs/walk.ts';
import type { WalkProblem, WalkStep, WalkedEntry } from '../../platform/fs/walk.ts';
import { FOREIGN_FILE } from '../../platform/fs/open-flags.ts';

export interface PresentTree {
  readonly type: 'present';
  /** `sha256-tree:<hex>`, see `platform/fs/tree-digest.ts`. */
  readonly digest: string;
  /** By path. Links and special files have an empty `sha256`, which never occurs in a lock. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Paths of all folders below the tree. */
  readonly folders: readonly string[];
  readonly bytes: number;
  /** Stat fingerprint of the tree. It changes with every write and every replaced file. Empty if `withoutLooks` is set. */
  readonly looks: string;
  /** Paths of `.git` entries, which are never part of a skill. */
  readonly leftOut: readonly string[];
}

/** A stat fingerprint, or its digest. The former is compared without listing folders. */
export type TreeLooks = TreeFingerprint | string;

export interface PresentOptions {
  /** Maximum number of files, folders and links. */
  readonly maxEntries?: number;
  readonly maxDepth?: number;
  /** Skips the fingerprint, which saves a tenth of the time. */
  readonly withoutLooks?: boolean;
  /** A buffer to share between calls. */
  readonly buffer?: Buffer;
}

const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 64;

/** Allocates a buffer for `presentFiles`. */
export function presentBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(SMALL_FILE);
}

/** Reads a tree. Refuses if it cannot be read or changes in the meantime. */
export function presentFiles(folder: string, options: PresentOptions = {}): PresentTree | PackRefusal {
  const read = readFiles(folder, options);
  return isRefusal(read) ? read : presentTree(read);
}

/** A tree whose files are hashed and whose digest is not computed yet. */
export interface ReadTree extends Pick<PresentTree, 'folders' | 'bytes' | 'looks' | 'leftOut'> {
  readonly type: 'read';
  readonly entries: readonly DigestEntry[];
  readonly files: readonly (readonly [string, LockedFile])[];
}

/** The first half of `presentFiles`, for callers that read many trees before they compute the digests. */
export function readFiles(folder: string, options: PresentOptions = {}): ReadTree | PackRefusal {
  return orRefused(folder, () => {
    const fingerprint = options.withoutLooks === true ? undefined : new TreeFingerprint();
    const buffer = options.buffer ?? presentBuffer();
    const entries: DigestEntry[] = [];
    const files: [string, LockedFile][] = [];
    const folders: string[] = [];
    const leftOut: string[] = [];
    let bytes = 0;
    for (const step of walkFolder(folder, leftOut, options)) {
      const { path, directory } = step;
      if (directory !== undefined) {
        if (fingerprint !== undefined) fingerprint.append(path, directory.stats());
        if (path === '') continue;
        entries.push({ kind: 'folder', path, content: NOTHING });
        folders.push(path);
        continue;
      }
      const { entry, file, stats } = step.kind === 'file' ? hashFile(folder, step, buffer) : describeOther(step);
      fingerprint?.append(path, stats);
      entries.push(entry);
      files.push([path, file]);
      bytes += file.bytes;
    }
    return { type: 'read', entries, files, folders, bytes, looks: fingerprint?.digest() ?? '', leftOut };
  });
}

/** The second half of `presentFiles`. */
export function presentTree({ entries, files, folders, bytes, looks, leftOut }: ReadTree): PresentTree {
  const digest = digestOfEntries(entries);
  return { type: 'present', digest, files: Object.fromEntries(files), folders, bytes, looks, leftOut };
}

/** Computes the stat fingerprint of a tree without opening its files. */
export function looksOf(folder: string): Pick<PresentTree, 'looks' | 'leftOut'> | PackRefusal {
  return orRefused(folder, () => {
    const fingerprint = new TreeFingerprint();
    const leftOut: string[] = [];
    for (const { path, place, directory } of walkFolder(folder, leftOut))
      fingerprint.append(path, directory?.stats() ?? lstatSync(place));
    return { looks: fingerprint.digest(), leftOut };
  });
}

/** Paths of all files and folders of a tree, children before parents, to sync them to disk. */
export function pathsIn(folder: string): readonly string[] {
  const files: string[] = [];
  const folders: string[] = [];
  for (const { path, directory } of walkFolder(folder, []))
    (directory === undefined ? files : folders).push(path === '' ? folder : `${folder}/${path}`);
  return [...files, ...folders.toReversed()];
}

/** Yields the folder itself and all its entries. Links are not followed, not even for the folder itself. */
function* walkFolder(
  folder: string,
  leftOut: string[],
  { maxEntries = MAX_ENTRIES, maxDepth = MAX_DEPTH }: PresentOptions = {},
): Generator<WalkStep, void, undefined> {
  const root = openFolder(folder);
  let count = 0;
  const accept = ({ name, path }: WalkedEntry): boolean => {
    if (name === REPOSITORY_DATA) {
      leftOut.push(path);
      return false;
    }
    count += 1;
    if (count > maxEntries) throw unfit(folder, '', `has more than ${String(maxEntries)} files and folders`);
    return true;
  };
  const onProblem = (problem: WalkProblem, path: string, cause?: unknown): void => {
    if (problem === 'too-deep') throw unfit(folder, path, `is more than ${String(maxDepth)} folders deep`);
    if (problem === 'name') throw unfit(folder, path, 'has a file name that is not UTF-8');
    throw isSystemError(cause) ? cause : changed(folder, path);
  };
  try {
    yield { kind: 'directory', name: '', path: '', place: folder, depth: -1, directory: root };
    yield* walk(root, { maxNames: Infinity, maxDepth, accept, onProblem });
  } finally {
    root.close();
  }
}

function openFolder(folder: string): DirectoryHandle {
  const opened = tryOpenDirectory(folder);
  if (opened.type === 'directory') return opened.directory;
  // Throws the system error of a folder that is missing or may not be opened.
  if (lstatSync(folder).isDirectory()) return DirectoryHandle.open(folder);
  throw unfit(folder, '', 'is not a folder');
}

const NOTHING = new Uint8Array();

interface PresentEntry {
  readonly entry: DigestEntry;
  readonly file: LockedFile;
  readonly stats: Stats;
}

function hashFile(folder: string, { path, place }: WalkedEntry, buffer: Buffer): PresentEntry {
  const descriptor = openSync(place, FOREIGN_FILE);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw changed(folder, path);
    const sha256 = hashOpened(path, { descriptor, size: stats.size, buffer });
    const isExecutable = isProgram(stats);
    const file: LockedFile = { sha256, bytes: stats.size };
    return {
      entry: { kind: isExecutable ? 'program' : 'file', path, content: sha256 },
      file: isExecutable ? { ...file, executable: true } : file,
      stats,
    };
  } finally {
    closeSync(descriptor);
  }
}

/** Links are part of the tree digest. Special files are hashed like a link to NUL, which no real link can contain. */
function describeOther({ path, place }: WalkedEntry): PresentEntry {
  const stats = lstatSync(place);
  const content = stats.isSymbolicLink() ? readlinkSync(place, { encoding: 'buffer' }) : Buffer.from('\0');
  return { entry: { kind: 'link', path, content }, file: { sha256: '', bytes: 0 }, stats };
}

function orRefused<T>(folder: string, act: () => T): T | PackRefusal {
  try {
    return act();
  } catch (error) {
    if (error instanceof PackRefused) return error.refusal;
    if (error instanceof TreeRefused)
      return packRefusal('source/changed', `${quoted(folder)}: ${error.refusal.message}`, error.refusal.path);
    return systemRefusal(error, `${quoted(folder)} cannot be read`);
  }
}

function unfit(folder: string, at: string, what: string): PackRefused {
  const place = at === '' ? folder : `${folder}/${at}`;
  return refused('install/root', `${quoted(place)} ${what}`, place);
}

function changed(folder: string, path: string): PackRefused {
  return refused('source/changed', `${quoted(path)} of ${quoted(folder)} changed`, path);
}
