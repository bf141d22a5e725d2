/**
 * What lies in the folder of a skill, every file hashed: for the lock, for `verify`, and for the look at what was staged right before it is
 * committed. One pass gives the files and the digest of the tree. Nothing is opened through a link.
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
  /** `sha256-tree:<hex>`, as `platform/fs/tree-digest.ts` gives it. */
  readonly digest: string;
  /** By path. What is no file (a link, a pipe) has an empty `sha256`, which no locked file has. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Paths of all folders below the tree. */
  readonly folders: readonly string[];
  readonly bytes: number;
  /** What the tree looks like from outside: changes with every write and every exchanged file. Empty where nobody asked for it. */
  readonly looks: string;
  /** Whatever is called `.git`: no part of the tree, and never part of what is installed. */
  readonly leftOut: readonly string[];
}

export interface PresentOptions {
  /** Files, folders and links. */
  readonly maxEntries?: number;
  readonly maxDepth?: number;
  /** For whoever only compares files: a tenth of the time. */
  readonly withoutLooks?: boolean;
  /** One for many calls; else each makes its own. */
  readonly buffer?: Buffer;
}

const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 64;

/** A buffer that serves any number of calls of `presentFiles`. */
export function presentBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(SMALL_FILE);
}

/** Reads a whole tree. Refused where it cannot be read, or changes meanwhile. */
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

/** What a tree looks like from outside, without opening a file. */
export function looksOf(folder: string): Pick<PresentTree, 'looks' | 'leftOut'> | PackRefusal {
  return orRefused(folder, () => {
    const walk = newWalk(folder, {});
    readFolder(walk, '', ({ path, place }) => look(walk, path, lstatSync(place)));
    return { looks: walk.looks?.fingerprint() ?? '', leftOut: walk.leftOut };
  });
}

/** Every file and folder of a tree, the tree itself last: what has to be on the disk before it counts. */
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
  /** Below the tree. */
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

/** By names: who may exchange a folder for a link meanwhile may as well change the files afterwards. Links that lie there are not followed. */
function readFolder(walk: Walk, at: string, file: (met: Met) => void, depth = 0): void {
  const place = at === '' ? walk.folder : `${walk.folder}/${at}`;
  if (depth > walk.maxDepth) throw unfit(walk, at, `is more than ${String(walk.maxDepth)} folders deep`);
  // Of a folder inside the one above has said what it is.
  if (at === '' || walk.looks !== undefined) {
    const stats = lstatSync(place);
    if (!stats.isDirectory()) throw unfit(walk, at, 'is no folder');
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

/** In one order, so that equal trees look alike. */
function entriesOf(walk: Walk, place: string, at: string): readonly Dirent[] {
  const entries = readdirSync(place, { withFileTypes: true });
  const isOdd = entries.some(({ name }) => name.includes('\uFFFD'));
  if (isOdd && readdirSync(place, { encoding: 'buffer' }).some((name) => !isUtf8(name)))
    throw unfit(walk, at, 'has a file whose name is not UTF-8');
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

/** A link is part of the digest as elsewhere. A pipe has no place in it, and stands as a link to what no link can lead to. */
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
