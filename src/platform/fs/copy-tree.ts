import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';

import { writeAll } from './atomic-replace.ts';
import { HAS_DESCRIPTOR_PATHS, descriptorPath } from './directory-handle.ts';
import { TreeReading, isProgram, pause, type ReadTreeOptions, type TreeDigest, twiceIfChanged } from './tree-digest.ts';
import { SMALL_FILE, hashOpened, walkOpened, type OpenedEntry } from './tree-file.ts';
import { TreeFingerprint } from './tree-stat.ts';
import { orRefusal, type FolderEntry, type LinkEntry, type TreeRefusal } from './tree-walk.ts';
import { type Usable, withoutUnusable } from './usable-tree.ts';

export interface CopyTreeOptions extends ReadTreeOptions {
  /** Does not exist yet; its parent belongs to this user, and no other process writes to it. */
  readonly to: string;
  /** `read-only`: files 0444 or 0555, folders 0555. `writable`: 0644 or 0755, folders 0755. */
  readonly permissions: 'read-only' | 'writable';
  /** Owner of the copy (default: this user). */
  readonly owner?: Pick<Stats, 'uid' | 'gid'>;
  /** Links to add at the top, targets by name. An entry of the tree with such a name stays. */
  readonly links?: Readonly<Record<string, string>>;
}

export interface CopiedTree extends TreeDigest {
  /** Fingerprint of the copy without the added links. */
  readonly copyFingerprint: string;
  /** Links that were not added, because the tree has an entry of that name. */
  readonly taken: readonly string[];
}

const MODES = {
  'read-only': { file: 0o444, program: 0o555, folder: 0o555 },
  writable: { file: 0o644, program: 0o755, folder: 0o755 },
} as const;

/** Entries between two pauses. */
const SLICE = 64;

/**
 * Copies a tree byte for byte, with its times. The digest covers the bytes of the copy: a change of the source meanwhile
 * is refused or part of the digest. Throws system errors if the copy cannot be written; a part of it may then be left at `to`.
 */
export async function copyTree(from: string, options: CopyTreeOptions): Promise<CopiedTree | TreeRefusal> {
  return orRefusal(() => copyOnce(from, options));
}

/** Copies the usable part of a tree. `nextTarget` prepares a place for each attempt. */
export function copyUsableTree(
  from: string,
  { nextTarget, ...options }: Omit<CopyTreeOptions, 'to' | 'skip'> & { readonly nextTarget: () => string },
): Promise<Usable<CopiedTree> | TreeRefusal> {
  return withoutUnusable((usable) => twiceIfChanged(() => copyTree(from, { ...options, ...usable, to: nextTarget() })));
}

interface Copying extends CopyTreeOptions {
  readonly reading: TreeReading;
  readonly copied: TreeFingerprint;
}

async function copyOnce(from: string, options: CopyTreeOptions): Promise<CopiedTree> {
  const { to, links = {}, signal } = options;
  const linkNames = new Set(Object.keys(links));
  const reading = new TreeReading(Date.now());
  const copied = new TreeFingerprint();
  const copying: Copying = { ...options, reading, copied };
  const folders: CopiedFolder[] = [];
  const taken: string[] = [];
  let count = 0;
  for (const entry of walkOpened(from, options)) {
    if (linkNames.has(entry.path)) taken.push(entry.path);
    if (entry.type === 'folder') folders.push(copyFolder(entry, copying));
    else if (entry.type === 'link') copyLink(entry, copying);
    else copyFile(entry, copying);
    count += 1;
    if (count % SLICE === 0) await pause(signal);
  }
  reading.refuseChanged(from, options);
  for (const [name, target] of Object.entries(links))
    if (!taken.includes(name)) symlinkSync(target, path.join(to, name));
  finishFolders(folders, copying);
  return { ...reading.finish(), copyFingerprint: copied.digest(), taken };
}

interface CopiedFolder {
  readonly path: string;
  /** Metadata of the source. */
  readonly stats: Stats;
  readonly position: number;
}

function copyFolder({ path: at, stats }: FolderEntry, { to, reading, copied }: Copying): CopiedFolder {
  mkdirSync(path.join(to, at), { mode: 0o700 });
  reading.folder(at, stats);
  return { path: at, stats, position: copied.reserve() };
}

/** From the innermost folder outwards, because creating an entry changes the times of its folder. */
function finishFolders(folders: readonly CopiedFolder[], { to, owner, permissions, copied }: Copying): void {
  for (const { path: at, stats, position } of folders.toReversed()) {
    const place = path.join(to, at);
    if (owner !== undefined) lchownSync(place, owner.uid, owner.gid);
    chmodSync(place, MODES[permissions].folder);
    utimesSync(place, stats.atimeMs / 1000, stats.mtimeMs / 1000);
    copied.set(position, at, lstatSync(place));
  }
}

function copyLink(entry: LinkEntry, { to, owner, reading, copied }: Copying): void {
  const place = path.join(to, entry.path);
  symlinkSync(entry.target, place);
  if (owner !== undefined) lchownSync(place, owner.uid, owner.gid);
  lutimesSync(place, entry.stats.atimeMs / 1000, entry.stats.mtimeMs / 1000);
  reading.link(entry.path, entry.stats, entry.target);
  copied.append(entry.path, lstatSync(place));
}

function copyFile(entry: OpenedEntry, copying: Copying): void {
  const { path: at, stats } = entry;
  const { to, owner, permissions, reading, copied } = copying;
  const mode = MODES[permissions][isProgram(stats) ? 'program' : 'file'];
  const place = `${to}/${at}`;
  const isCloned = cloneLargeFile(entry, place);
  const copy = isCloned ? openSync(place, 'r') : openSync(place, 'wx', mode);
  try {
    const hash = isCloned
      ? hashOpened(at, { descriptor: copy, size: stats.size })
      : entry.hash((bytes) => writeAll(copy, bytes));
    reading.file(at, stats, hash);
    if (owner !== undefined) fchownSync(copy, owner.uid, owner.gid);
    // The umask and chown clear bits.
    if ((fstatSync(copy).mode & 0o7777) !== mode) fchmodSync(copy, mode);
    futimesSync(copy, stats.atimeMs / 1000, stats.mtimeMs / 1000);
    copied.append(at, fstatSync(copy));
  } finally {
    closeSync(copy);
  }
}

/** Large files share their blocks with the source if the file system supports it. The copy must be readable to be hashed. */
function cloneLargeFile({ descriptor, stats }: OpenedEntry, to: string): boolean {
  if (stats.size < SMALL_FILE || !HAS_DESCRIPTOR_PATHS || (stats.mode & 0o400) === 0) return false;
  copyFileSync(descriptorPath(descriptor), to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  return true;
}
