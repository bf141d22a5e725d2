import { createHash } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, openSync, readSync, readlinkSync, type Stats } from 'node:fs';

import { parentFolder } from '#core';
import { DirectoryHandle, OPEN_FLAGS, realPath, walk } from '#platform';
import type { PackedEntry } from './tar.ts';
import type { Identity } from '../../program-types.ts';

/** Reads folders in which no program writes meanwhile: a configured root file system, a snapshot, a workspace between two programs. */

interface TreeEntry {
  /** Relative to the folder, with forward slashes. */
  readonly name: string;
  readonly file: string;
  readonly stats: Stats;
}

const MAX_ENTRIES = 1_000_000;
const CHUNK_BYTES = 256 * 1024;

export interface PackTreeOptions {
  /** Prepended to every name: `''`, or a path that ends with a slash. */
  readonly prefix: string;
  readonly owner: Identity;
  /** Permission bits that replace those on disk, by name. */
  readonly modes?: ReadonlyMap<string, number>;
  /** Folders that are packed without their content. */
  readonly emptied?: ReadonlySet<string>;
}

/** The content of a folder, without the folder itself. Drops set-user-id bits; leaves out devices, pipes and sockets. */
export function* packTree(folder: string, options: PackTreeOptions): Generator<PackedEntry, void> {
  const { prefix, owner, modes, emptied = new Set() } = options;
  for (const { name, file, stats } of walkEntries(folder, emptied)) {
    const header = {
      ...owner,
      name: prefix + name,
      mode: modes?.get(name) ?? stats.mode & 0o1777,
      size: 0,
      // The tar format has no negative times.
      mtime: new Date(Math.max(0, stats.mtimeMs)),
    };
    if (stats.isDirectory()) yield { header: { ...header, type: 'directory', name: `${header.name}/` } };
    else if (stats.isSymbolicLink()) yield { header: { ...header, type: 'symlink', linkname: readlinkSync(file) } };
    else if (stats.isFile()) yield* packFile(file, { ...header, type: 'file' });
  }
}

/** Changes whenever a name, type, size, time or inode below the folder changes. */
export function treeFingerprint(folder: string): string {
  const hash = createHash('sha256').update(folder);
  for (const { name, stats } of walkEntries(folder, new Set()))
    hash.update(`\0${name}\0${String(stats.mode)} ${String(stats.size)} ${String(stats.mtimeMs)} ${String(stats.ino)}`);
  return hash.digest('hex').slice(0, 24);
}

export function packFolder(name: string, owner: Identity): PackedEntry {
  return { header: { ...owner, type: 'directory', name: `${name}/`, mode: 0o755, size: 0, mtime: new Date(0) } };
}

export function packLink(name: string, target: string, owner: Identity): PackedEntry {
  return {
    header: { ...owner, type: 'symlink', name, linkname: target, mode: 0o777, size: 0, mtime: new Date(0) },
  };
}

function* packFile(file: string, header: PackedEntry['header']): Generator<PackedEntry, void> {
  const descriptor = openSync(file, OPEN_FLAGS.foreignFile);
  try {
    const { size } = fstatSync(descriptor);
    yield { header: { ...header, size }, body: () => readContent(descriptor, size) };
  } finally {
    closeSync(descriptor);
  }
}

function* readContent(descriptor: number, size: number): Generator<Uint8Array, void> {
  for (let at = 0; at < size;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - at));
    const count = readSync(descriptor, chunk, 0, chunk.length, at);
    // The file shrank after its header was sent: the promised bytes are filled with zeros.
    yield count === 0 ? chunk.fill(0) : chunk.subarray(0, count);
    at += count === 0 ? chunk.length : count;
  }
}

function* walkEntries(folder: string, emptied: ReadonlySet<string>): Generator<TreeEntry, void> {
  const root = DirectoryHandle.open(realPath(folder));
  try {
    const steps = walk(root, {
      maxNames: MAX_ENTRIES,
      maxDepth: Infinity,
      accept: ({ path }) => !emptied.has(parentFolder(path)),
      // Files that are gone, or whose names are not UTF-8, are left out.
      onProblem(problem, path, cause) {
        if (problem === 'too-many') throw new RangeError(`${folder} has more than ${String(MAX_ENTRIES)} entries`);
        if (problem === 'unreadable')
          throw cause instanceof Error ? cause : new Error(`${folder}/${path} cannot be read`);
      },
    });
    for (const { path: name, place: file } of steps) {
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (stats !== undefined) yield { name, file, stats };
    }
  } finally {
    root.close();
  }
}
