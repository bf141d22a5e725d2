/**
 * Reads and hashes the files of a skill folder: for the lock, for `verify`, and for the check right before a commit. One pass returns the
 * files and the tree digest. Links are never followed.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';

import type { LockedFile } from '../lock/lock.ts';
import { PackRefused, packRefusal, systemRefusal, refused } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { digestOfEntries, isProgram } from '../../platform/fs/tree-digest.ts';
import type { DigestEntry } from '../../platform/fs/tree-digest.ts';
import { SMALL_FILE, hashOpened } from '../../platform/fs/tree-file.ts';
import { TreeLooks } from '../../platform/fs/tree-stat.ts';
import { NO_PART, TreeRefused } from '../../platform/fs/tree-walk.ts';
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
  return orRefused(folder, () => {
    const walk = newWalk(folder, options);
    const buffer = options.buffer ?? presentBuffer();
    readFolder(walk, '', (entry) => hashEntry(walk, entry, buffer));
    return {
      type: 'present',
      digest: digestOfEntries(walk.entries),
      files: Object.fromEntries(walk.files),
      folders: walk.folders.slice(1),
      bytes: walk.bytes,
      looks: walk.looks?.fingerprint() ?? '',
      leftOut: walk.leftOut,
    };
  });
}

/** Computes the stat fingerprint of a tree without opening its files. */
export function looksOf(folder: string): Pick<PresentTree, 'looks' | 'leftOut'> | PackRefusal {
  return orRefused(folder, () => {
    const walk = newWalk(folder, {});
    readFolder(walk, '', ({ path, place }) => look(walk, path, lstatSync(place)));
    return { looks: walk.looks?.fingerprint() ?? '', leftOut: walk.leftOut };
  });
}

/** Paths of all files and folders of a tree, children before parents, to sync them to disk. */
export function pathsIn(folder: string): readonly string[] {
  const places: string[] = [];
  const walk = newWalk(folder, {});
  readFolder(walk, '', ({ place }) => places.push(place));
  return [...places, ...walk.folders.map((at) => (at === '' ? folder : `${folder}/${at}`)).toReversed()];
}

interface Walk {
  readonly folder: string;
  readonly maxEntries: number;
  readonly maxDepth: number;
  readonly entries: DigestEntry[];
  readonly files: [string, LockedFile][];
  readonly folders: string[];
  readonly leftOut: string[];
  readonly looks: TreeLooks | undefined;
  bytes: number;
  met: number;
}

interface Met {
  /** Relative to the tree. */
  readonly path: string;
  readonly place: string;
  readonly entry: Dirent;
}

function newWalk(
  folder: string,
  { maxEntries = MAX_ENTRIES, maxDepth = MAX_DEPTH, withoutLooks = false }: PresentOptions,
): Walk {
  const looks = withoutLooks ? undefined : new TreeLooks();
  const found = { entries: [], files: [], folders: [], leftOut: [], looks };
  return { folder, maxEntries, maxDepth, ...found, bytes: 0, met: 0 };
}

/**
 * Opens folders by name: whoever could replace a folder by a link at this point could also change the files later. Existing links are not
 * followed.
 */
function readFolder(walk: Walk, at: string, file: (met: Met) => void, depth = 0): void {
  const place = at === '' ? walk.folder : `${walk.folder}/${at}`;
  if (depth > walk.maxDepth) throw unfit(walk, at, `is more than ${String(walk.maxDepth)} folders deep`);
  // The parent's listing already tells that a subfolder is a folder.
  if (at === '' || walk.looks !== undefined) {
    const stats = lstatSync(place);
    if (!stats.isDirectory()) throw unfit(walk, at, 'is not a folder');
    look(walk, at, stats);
  }
  walk.folders.push(at);
  if (at !== '') walk.entries.push({ kind: 'folder', path: at, content: NOTHING });
  for (const entry of entriesOf(walk, place, at)) {
    const path = at === '' ? entry.name : `${at}/${entry.name}`;
    if (entry.name === NO_PART) {
      walk.leftOut.push(path);
      continue;
    }
    walk.met += 1;
    if (walk.met > walk.maxEntries) throw unfit(walk, '', `has more than ${String(walk.maxEntries)} files and folders`);
    if (entry.isDirectory()) readFolder(walk, path, file, depth + 1);
    else file({ path, place: `${place}/${entry.name}`, entry });
  }
}

const NOTHING = new Uint8Array();

/** Sorted, so that equal trees have equal fingerprints. */
function entriesOf(walk: Walk, place: string, at: string): readonly Dirent[] {
  const entries = readdirSync(place, { withFileTypes: true });
  const isOdd = entries.some(({ name }) => name.includes('\uFFFD'));
  if (isOdd && readdirSync(place, { encoding: 'buffer' }).some((name) => !isUtf8(name)))
    throw unfit(walk, at, 'has a file name that is not UTF-8');
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function hashEntry(walk: Walk, { path, place, entry }: Met, buffer: Buffer): void {
  if (!entry.isFile()) return noFile(walk, path, place);
  const descriptor = openSync(place, FOREIGN_FILE);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw changed(walk, path);
    const hash = hashOpened(path, { descriptor, size: stats.size, buffer });
    look(walk, path, stats);
    const isExecutable = isProgram(stats);
    walk.entries.push({ kind: isExecutable ? 'program' : 'file', path, content: hash });
    const sha256 = Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('hex');
    const file: LockedFile = { sha256, bytes: stats.size };
    walk.files.push([path, isExecutable ? { ...file, executable: true } : file]);
    walk.bytes += stats.size;
  } finally {
    closeSync(descriptor);
  }
}

/** Links are part of the tree digest. Special files are hashed like a link to NUL, which no real link can contain. */
function noFile(walk: Walk, path: string, place: string): void {
  const stats = lstatSync(place);
  look(walk, path, stats);
  const content = stats.isSymbolicLink() ? readlinkSync(place, { encoding: 'buffer' }) : Buffer.from('\0');
  walk.entries.push({ kind: 'link', path, content });
  walk.files.push([path, { sha256: '', bytes: 0 }]);
}

function look(walk: Walk, path: string, stats: Stats): void {
  walk.looks?.append(path, stats);
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

function unfit(walk: Walk, at: string, what: string): PackRefused {
  const place = at === '' ? walk.folder : `${walk.folder}/${at}`;
  return refused('install/root', `${quoted(place)} ${what}`, place);
}

function changed(walk: Walk, path: string): PackRefused {
  return refused('source/changed', `${quoted(path)} of ${quoted(walk.folder)} changed`, path);
}
