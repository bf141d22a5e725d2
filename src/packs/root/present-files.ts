/**
 * Reads and hashes the files of a skill folder: for the lock, for `verify`, and for the check right before a commit. One pass returns the
 * files and the tree digest. Links are never followed.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';

import type { LockedFile } from '../lock/lock-file.ts';
import { findRefusal, isRefusal, packRefusal, refused, systemRefusal, type PackRefusal } from '../problems.ts';
import { quoted, type SkillError } from '#core';
import {
  OPEN_FLAGS,
  digestOfEntries,
  FileHasher,
  isProgram,
  isSystemError,
  TreeFingerprint,
  findTreeRefusal,
  walk,
  DirectoryHandle,
} from '#platform';
import { keepsModes } from './keeps-modes.ts';

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
  /** The files of the lock. Their executable bits count where the file system keeps none. */
  readonly locked?: Readonly<Record<string, LockedFile>>;
}

const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 64;
const BUFFER_BYTES = 256 * 1024;

export function presentBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

/** Reads a tree. Refuses if it cannot be read or changes in the meantime. */
export function presentFiles(folder: string, options: PresentOptions = {}): PresentTree | PackRefusal {
  const hasher = new FileHasher(options.buffer ?? presentBuffer());
  const read = readFiles(folder, hasher, options);
  hasher.finish();
  return isRefusal(read) ? read : presentTree(read, options.locked);
}

/** A tree that was read. The contents of its files are known after `finish` of the hasher. */
export interface ReadTree extends Pick<PresentTree, 'folders' | 'bytes' | 'looks' | 'leftOut'> {
  readonly type: 'read';
  readonly folder: string;
  readonly entries: readonly ReadEntry[];
}

type WalkStep = ReturnType<typeof walk> extends Iterable<infer Step> ? Step : never;
type ReadEntry = Parameters<typeof digestOfEntries>[0][number] & {
  content: Uint8Array | string;
  readonly bytes: number;
};

/** The first half of `presentFiles`, for callers that read many trees. */
export function readFiles(folder: string, hasher: FileHasher, options: PresentOptions = {}): ReadTree | PackRefusal {
  return orRefused(folder, () => {
    const fingerprint = options.withoutLooks === true ? undefined : new TreeFingerprint();
    const entries: ReadEntry[] = [];
    const folders: string[] = [];
    const leftOut: string[] = [];
    let bytes = 0;
    const visit = (step: WalkStep): void => {
      const { path, directory } = step;
      if (directory !== undefined) {
        if (fingerprint !== undefined) fingerprint.append(path, directory.stats());
        if (path === '') return;
        entries.push({ kind: 'folder', path, content: NOTHING, bytes: 0 });
        folders.push(path);
        return;
      }
      const { entry, stats } = step.kind === 'file' ? readFile(folder, step, hasher) : describeOther(step);
      fingerprint?.append(path, stats);
      entries.push(entry);
      bytes += entry.bytes;
    };
    walkFolder(folder, leftOut, visit, options);
    return { type: 'read', folder, entries, folders, bytes, looks: fingerprint?.digest() ?? '', leftOut };
  });
}

/** The second half of `presentFiles`. */
export function presentTree(
  { folder, entries: read, folders, bytes, looks, leftOut }: ReadTree,
  locked?: PresentOptions['locked'],
): PresentTree {
  const entries = locked === undefined ? read : withLockedModes(folder, read, locked);
  const digest = digestOfEntries(entries);
  const files: [string, LockedFile][] = [];
  for (const entry of entries) if (entry.kind !== 'folder') files.push([entry.path, lockedFile(entry)]);
  return { type: 'present', digest, files: Object.fromEntries(files), folders, bytes, looks, leftOut };
}

/** Unlocked files count as not executable there. */
function withLockedModes(
  folder: string,
  entries: readonly ReadEntry[],
  locked: NonNullable<PresentOptions['locked']>,
): readonly ReadEntry[] {
  const kindFor = ({ path }: ReadEntry): 'program' | 'file' =>
    Object.hasOwn(locked, path) && locked[path]?.executable === true ? 'program' : 'file';
  const isOther = (entry: ReadEntry): boolean =>
    (entry.kind === 'program' || entry.kind === 'file') && entry.kind !== kindFor(entry);
  // The probe writes a file, so it is the last resort.
  if (!entries.some(isOther) || keepsModes(folder)) return entries;
  return entries.map((entry) => (isOther(entry) ? { ...entry, kind: kindFor(entry) } : entry));
}

function lockedFile({ kind, content, bytes }: ReadEntry): LockedFile {
  const sha256 = typeof content === 'string' ? content : '';
  return kind === 'program' ? { sha256, bytes, executable: true } : { sha256, bytes };
}

export function fingerprintFolder(folder: string): Pick<PresentTree, 'looks' | 'leftOut'> | PackRefusal {
  return orRefused(folder, () => {
    const fingerprint = new TreeFingerprint();
    const leftOut: string[] = [];
    walkFolder(folder, leftOut, ({ path, place, directory }) =>
      fingerprint.append(path, directory?.stats() ?? lstatSync(place)),
    );
    return { looks: fingerprint.digest(), leftOut };
  });
}

/** Paths of all files and folders of a tree, children before parents, to sync them to disk. */
export function pathsIn(folder: string): readonly string[] {
  const files: string[] = [];
  const folders: string[] = [];
  walkFolder(folder, [], ({ path, directory }) => {
    (directory === undefined ? files : folders).push(path === '' ? folder : `${folder}/${path}`);
  });
  return [...files, ...folders.toReversed()];
}

/** Visits the folder itself and all its entries. Links are not followed, not even for the folder itself. */
function walkFolder(
  folder: string,
  leftOut: string[],
  visit: (step: WalkStep) => void,
  { maxEntries = MAX_ENTRIES, maxDepth = MAX_DEPTH }: PresentOptions = {},
): void {
  const root = openFolder(folder);
  let count = 0;
  const accept = ({ name, path }: WalkStep): boolean => {
    if (name === '.git') {
      leftOut.push(path);
      return false;
    }
    count += 1;
    if (count > maxEntries) throw unfit(folder, '', `has more than ${String(maxEntries)} files and folders`);
    return true;
  };
  const onProblem = (problem: string, path: string, cause?: unknown): void => {
    if (problem === 'too-deep') throw unfit(folder, path, `is more than ${String(maxDepth)} folders deep`);
    if (problem === 'name') throw unfit(folder, path, 'has a file name that is not UTF-8');
    throw isSystemError(cause) ? cause : changed(folder, path);
  };
  try {
    visit({ kind: 'directory', name: '', path: '', place: folder, depth: -1, directory: root });
    for (const step of walk(root, { maxNames: Infinity, maxDepth, accept, onProblem })) visit(step);
  } finally {
    root.close();
  }
}

function openFolder(folder: string): DirectoryHandle {
  const opened = DirectoryHandle.tryOpen(folder);
  if (opened.type === 'directory') return opened.directory;
  // Throws the system error of a folder that is missing or may not be opened.
  if (lstatSync(folder).isDirectory()) return DirectoryHandle.open(folder);
  throw unfit(folder, '', 'is not a folder');
}

const NOTHING = new Uint8Array();

interface PresentEntry {
  readonly entry: ReadEntry;
  readonly stats: Stats;
}

function readFile(folder: string, { path, place }: WalkStep, hasher: FileHasher): PresentEntry {
  const descriptor = openSync(place, OPEN_FLAGS.foreignFile);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw changed(folder, path);
    const { size } = stats;
    const entry: ReadEntry = { kind: isProgram(stats) ? 'program' : 'file', path, content: NOTHING, bytes: size };
    hasher.add(path, { descriptor, size }, (sha256) => {
      entry.content = sha256;
    });
    return { entry, stats };
  } finally {
    closeSync(descriptor);
  }
}

/** Links are part of the tree digest. Special files are hashed like a link to NUL, which no real link can contain. */
function describeOther({ path, place }: WalkStep): PresentEntry {
  const stats = lstatSync(place);
  const content = stats.isSymbolicLink() ? readlinkSync(place, { encoding: 'buffer' }) : Buffer.from('\0');
  return { entry: { kind: 'link', path, content, bytes: 0 }, stats };
}

function orRefused<T>(folder: string, act: () => T): T | PackRefusal {
  try {
    return act();
  } catch (error) {
    const known = findRefusal(error);
    if (known !== undefined) return known;
    const refusal = findTreeRefusal(error);
    if (refusal !== undefined)
      return packRefusal('source/changed', `${quoted(folder)}: ${refusal.message}`, refusal.path);
    return systemRefusal(error, `${quoted(folder)} cannot be read`);
  }
}

function unfit(folder: string, at: string, what: string): SkillError {
  const place = at === '' ? folder : `${folder}/${at}`;
  return refused('install/root', `${quoted(place)} ${what}`, place);
}

function changed(folder: string, path: string): SkillError {
  return refused('source/changed', `${quoted(path)} of ${quoted(folder)} changed`, path);
}
