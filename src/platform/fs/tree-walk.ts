/**
 * Walking a whole tree so that nothing outside it can be met: each folder is opened below the descriptor of the one above, no link
 * is followed, and what is not a file, a folder or a link inside is refused. A walk is all or nothing: it never leaves out silently.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { quoted } from '../../core/text/text.ts';
import { descriptorPath } from './confined-open.ts';
import { isSystemError, realPath } from './paths.ts';
import { FOREIGN_FILE, FOREIGN_FOLDER, NAMED_FOLDER } from './open-flags.ts';

export type TreeProblem =
  | 'gone'
  | 'changed'
  | 'unreadable'
  | 'not-regular'
  | 'link-outside'
  | 'hard-link'
  | 'name'
  | 'too-many'
  | 'too-large'
  | 'too-deep';

/** Why nothing of a tree is taken. */
export interface TreeRefusal {
  readonly type: 'refused';
  readonly problem: TreeProblem;
  /** Below the tree; empty for the tree itself. */
  readonly path: string;
  /** Lower case, without the tree's own name. */
  readonly message: string;
}

/** Ends a walk. It does not leave `src/platform`: `orRefusal` turns it into a value. */
export class TreeRefused extends Error {
  override readonly name = 'TreeRefused';
  readonly refusal: TreeRefusal;

  constructor(problem: TreeProblem, at: string, message: string) {
    super(message);
    this.refusal = { type: 'refused', problem, path: at, message };
  }
}

export interface TreeLimits {
  /** Files, folders and links. */
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
  /** Opens the file while it is the entry at hand, and only then. */
  readonly place: string;
}

export interface LinkEntry {
  readonly type: 'link';
  readonly path: string;
  readonly stats: Stats;
  readonly target: string;
}

export type TreeEntry = FolderEntry | FileEntry | LinkEntry;

/** A file that is open, judged by what was opened. Whoever gets it closes it. */
export interface OpenedEntry extends FileEntry {
  readonly descriptor: number;
}

export interface WalkOptions {
  readonly limits?: TreeLimits;
  /** Names of the top that are no part of the tree: links that we added ourselves. */
  readonly leaveOut?: readonly string[];
  /** What is no part of the tree, and is neither entered nor judged; asked for a folder before what is in it. */
  readonly skip?: (path: string, isFolder: () => boolean) => boolean;
}

/** What a repository keeps beside the files, wherever it lies: it differs between two equal checkouts. All else is part of a tree. */
export const NO_PART = '.git';

interface Held {
  readonly descriptor: number;
  /** Starts the names of what lies in it, for the system. */
  readonly place: string;
  /** The same below the tree: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly names: readonly string[];
  /** Those that were files when they were listed, where somebody wants to know. */
  readonly files: ReadonlySet<string>;
  next: number;
}

/** What becomes of the files that are met. */
interface Meeting<F extends FileEntry> {
  /** Whether folders are listed with what is a file in them: such a one is met without another look. */
  readonly isListed: boolean;
  meet(place: string, at: string, seen: Stats | undefined): F;
  /** Nobody gets it. */
  drop(file: F): void;
}

const LOOKED_AT: Meeting<FileEntry> = {
  isListed: false,
  meet: (place, at, seen) => ({ type: 'file', path: at, stats: seen ?? lstatSync(place), place }),
  drop: () => undefined,
};

const OPENED: Meeting<OpenedEntry> = {
  isListed: true,
  meet: openFileAt,
  drop: ({ descriptor }) => closeSync(descriptor),
};

/** Every entry of a tree; a folder comes before what is in it. Throws `TreeRefused`. Folders are held open until the walk ends. */
export function walkTree(root: string, options: WalkOptions = {}): Generator<TreeEntry, void, undefined> {
  return walk(root, options, LOOKED_AT);
}

/** The same for whoever reads every file: each is opened as it is met. */
export function walkOpened(
  root: string,
  options: WalkOptions = {},
): Generator<FolderEntry | OpenedEntry | LinkEntry, void, undefined> {
  return walk(root, options, OPENED);
}

function* walk<F extends FileEntry>(
  root: string,
  { limits = TREE_LIMITS, leaveOut = [], skip }: WalkOptions,
  files: Meeting<F>,
): Generator<FolderEntry | F | LinkEntry, void, undefined> {
  const held: Held[] = [];
  let entries = 0;
  let bytes = 0;
  try {
    const top = openTop(root, leaveOut, files.isListed);
    held.push(top.held);
    yield { type: 'folder', path: '', stats: top.stats };
    for (let folder = held.at(-1); folder !== undefined; folder = held.at(-1)) {
      const name = folder.names[folder.next];
      folder.next += 1;
      if (name === undefined) {
        held.pop();
        closeSync(folder.descriptor);
        continue;
      }
      const at = folder.prefix + name;
      if (skip?.(at, () => isFolderAt(`${folder.place}/${name}`)) === true || name === NO_PART) continue;
      entries += 1;
      if (entries > limits.maxEntries)
        throw new TreeRefused('too-many', '', `it has more than ${String(limits.maxEntries)} files and folders`);
      const place = `${folder.place}/${name}`;
      const entry = folder.files.has(name) ? files.meet(place, at, undefined) : lookAt(place, at, files);
      if (entry.type === 'folder') {
        if (held.length >= limits.maxDepth)
          throw new TreeRefused('too-deep', at, `${quoted(at)} is more than ${String(limits.maxDepth)} folders deep`);
        const opened = openBelow(place, at, files.isListed);
        held.push(opened.held);
        yield { type: 'folder', path: at, stats: opened.stats };
        continue;
      }
      bytes += entry.stats.size;
      if (bytes > limits.maxBytes) {
        if (entry.type === 'file') files.drop(entry);
        throw new TreeRefused('too-large', '', `it has more than ${String(limits.maxBytes)} bytes`);
      }
      yield entry;
    }
  } catch (error) {
    throw asRefusal(error, '');
  } finally {
    for (const { descriptor } of held) closeSync(descriptor);
  }
}

/** Runs what walks; a refused tree is a value. */
export async function orRefusal<T>(act: () => Promise<T>): Promise<T | TreeRefusal> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TreeRefused) return error.refusal;
    throw error;
  }
}

/** What comes of a name that leads to something else than a moment ago: gone, no folder any more, a link, no link any more. */
const EXCHANGED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL']);

/** What the system says of a file in a tree that is being read. Anything that is not the system's flies on. */
export function asRefusal(error: unknown, at: string): unknown {
  if (!isSystemError(error)) return error;
  const known = at === '' ? 'it' : quoted(at);
  if (EXCHANGED.has(error.code)) return new TreeRefused('changed', at, `${known} changed while it was read`);
  return new TreeRefused('unreadable', at, `${known} cannot be read (${error.code})`);
}

interface OpenedFolder {
  readonly stats: Stats;
  readonly held: Held;
}

function openTop(root: string, leaveOut: readonly string[], isListed: boolean): OpenedFolder {
  let descriptor: number;
  try {
    // The folder itself may be a link: where a skill lies is for whoever listed it.
    descriptor = openSync(root, NAMED_FOLDER);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const isGone = error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP';
    if (isGone) throw new TreeRefused('gone', '', 'there is no such folder');
    throw error;
  }
  return orClosed(descriptor, () => {
    const byDescriptor = descriptorPath(descriptor);
    // Without /proc the walk goes by names, as well as such a system allows.
    const hasDescriptors =
      process.platform === 'linux' && lstatSync(byDescriptor, { throwIfNoEntry: false }) !== undefined;
    const place = hasDescriptors ? byDescriptor : realPath(root);
    const stats = fstatSync(descriptor);
    const { names, files } = namesIn(place, '', isListed);
    const wanted = names.filter((name) => !leaveOut.includes(name));
    return { stats, held: { descriptor, place, prefix: '', names: wanted, files, next: 0 } };
  });
}

function orClosed<T>(descriptor: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** The place of an entry is reached through the descriptor of its folder. */
export function isByDescriptor(place: string): boolean {
  return place.startsWith('/proc/self/fd/');
}

function openBelow(byName: string, at: string, isListed: boolean): OpenedFolder {
  try {
    const descriptor = openSync(byName, FOREIGN_FOLDER);
    return orClosed(descriptor, () => {
      const place = isByDescriptor(byName) ? descriptorPath(descriptor) : byName;
      const stats = fstatSync(descriptor);
      return { stats, held: { descriptor, place, prefix: `${at}/`, ...namesIn(place, at, isListed), next: 0 } };
    });
  } catch (error) {
    throw asRefusal(error, at);
  }
}

const NO_FILES: ReadonlySet<string> = new Set();

function namesIn(place: string, at: string, isListed: boolean): Pick<Held, 'names' | 'files'> {
  const entries = isListed ? readdirSync(place, { withFileTypes: true }) : [];
  const names = isListed ? entries.map(({ name }) => name) : readdirSync(place);
  if (
    names.some((name) => name.includes('\uFFFD')) &&
    readdirSync(place, { encoding: 'buffer' }).some((name) => !isUtf8(name))
  )
    throw new TreeRefused('name', at, `${at === '' ? 'it' : quoted(at)} has a file whose name is not UTF-8`);
  const files = isListed ? new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name)) : NO_FILES;
  return { names: names.sort(compareText), files };
}

function isFolderAt(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function lookAt<F extends FileEntry>(place: string, at: string, files: Meeting<F>): FolderEntry | F | LinkEntry {
  try {
    const stats = lstatSync(place);
    if (stats.isFile()) return files.meet(place, at, stats);
    if (stats.isDirectory()) return { type: 'folder', path: at, stats };
    if (stats.isSymbolicLink()) return { type: 'link', path: at, stats, target: targetOf(place, at) };
  } catch (error) {
    throw asRefusal(error, at);
  }
  throw new TreeRefused('not-regular', at, `${quoted(at)} is a pipe, a socket or a device`);
}

/** Opens a file of a tree. Throws `TreeRefused` where it is none, or another one than was seen. */
export function openFileAt(place: string, at: string, seen: Stats | undefined): OpenedEntry {
  try {
    const descriptor = openSync(place, FOREIGN_FILE);
    return orClosed(descriptor, () => {
      const stats = fstatSync(descriptor);
      const isSeen = seen === undefined || (stats.ino === seen.ino && stats.dev === seen.dev);
      if (!stats.isFile() || !isSeen) throw changed(at);
      return { type: 'file', path: at, stats, place, descriptor };
    });
  } catch (error) {
    throw asRefusal(error, at);
  }
}

export function changed(at: string): TreeRefused {
  return new TreeRefused('changed', at, `${quoted(at)} changed while it was read`);
}

function targetOf(place: string, at: string): string {
  const bytes = readlinkSync(place, { encoding: 'buffer' });
  if (!isUtf8(bytes)) throw new TreeRefused('name', at, `${quoted(at)} is a link to a name that is not UTF-8`);
  return bytes.toString('utf8');
}

/** Links followed to see where one of them leads. */
const MAX_LINKS = 40;

/**
 * Every link of a tree leads to a place inside it, by whatever way, other links included; a missing file inside is allowed. Throws
 * `TreeRefused`. `links` are the targets by path.
 */
export function refuseLinksOutside(links: ReadonlyMap<string, string>, folders: ReadonlySet<string>): void {
  for (const [at, target] of links) {
    const reason = whyOutside(at, links, folders);
    if (reason !== undefined)
      throw new TreeRefused('link-outside', at, `${quoted(at)} is a link to ${quoted(target)}, which ${reason}`);
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
      // Of what is no folder here nobody can say where its parent will be.
      if (!folders.has(reached.join('/'))) return 'leads through what is no folder';
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
