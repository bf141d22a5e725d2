import { createHash } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, openSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import type { Identity } from '../../../core/execution.ts';
import { padding, tarHeader } from './tar.ts';
import { FOREIGN_FILE } from '../../../platform/fs/open-flags.ts';

/** Folders in which no program writes while they are read: one that somebody configured, a snapshot, a workspace that was copied. */

interface TreeEntry {
  /** Below the folder, with forward slashes. */
  readonly name: string;
  readonly file: string;
  readonly stats: Stats;
}

const MAX_ENTRIES = 1_000_000;
const PIECE_BYTES = 256 * 1024;

export interface TreeTarOptions {
  /** Stands before the names, with a slash at its end; empty for none. */
  readonly prefix: string;
  readonly owner: Identity;
  /** Of what is not to be changed nobody gets the right to write. */
  readonly isReadOnly?: boolean;
  /** Permission bits that are not those of the disk. */
  readonly modes?: ReadonlyMap<string, number>;
  /** Folders whose contents are left out. */
  readonly emptied?: ReadonlySet<string>;
}

/** The entries of a folder without the folder and without an end. Nothing is set-user-id; devices, pipes and sockets are left out. */
export async function* treeTar(folder: string, options: TreeTarOptions): AsyncGenerator<Buffer, void> {
  const { prefix, owner, isReadOnly = false, modes, emptied = new Set() } = options;
  for (const { name, file, stats } of entriesOf(folder, emptied)) {
    const header = {
      ...owner,
      name: prefix + name,
      mode: modes?.get(name) ?? stats.mode & (isReadOnly ? 0o555 : 0o1777),
      size: 0,
      modified: stats.mtimeMs / 1000,
      target: '',
    };
    if (stats.isDirectory()) yield tarHeader({ ...header, type: 'folder', name: `${header.name}/` });
    else if (stats.isSymbolicLink()) yield tarHeader({ ...header, type: 'link', target: readlinkSync(file) });
    else if (stats.isFile()) yield* fileTar(file, header);
  }
}

/** What tells one state of a folder from another: names, kinds, sizes and times of all that is in it. */
export function treeFingerprint(folder: string): string {
  const hash = createHash('sha256').update(folder);
  for (const { name, stats } of entriesOf(folder, new Set()))
    hash.update(`\0${name}\0${String(stats.mode)} ${String(stats.size)} ${String(stats.mtimeMs)} ${String(stats.ino)}`);
  return hash.digest('hex').slice(0, 24);
}

/** A folder, as an entry. */
export function folderTar(name: string, owner: Identity, mode: number): Buffer {
  return tarHeader({ ...owner, type: 'folder', name: `${name}/`, mode, size: 0, modified: 0, target: '' });
}

export function linkTar(name: string, target: string, owner: Identity): Buffer {
  return tarHeader({ ...owner, type: 'link', name, mode: 0o777, size: 0, modified: 0, target });
}

async function* fileTar(
  file: string,
  header: Omit<Parameters<typeof tarHeader>[0], 'type'>,
): AsyncGenerator<Buffer, void> {
  const descriptor = openSync(file, FOREIGN_FILE);
  try {
    const { size } = fstatSync(descriptor);
    yield tarHeader({ ...header, type: 'file', size });
    for (let at = 0; at < size;) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const count = readSync(descriptor, piece, 0, piece.length, at);
      // It became shorter meanwhile: the header cannot be taken back.
      yield count === 0 ? piece.fill(0) : piece.subarray(0, count);
      at += count === 0 ? piece.length : count;
    }
    yield padding(size);
  } finally {
    closeSync(descriptor);
  }
}

function* entriesOf(folder: string, emptied: ReadonlySet<string>): Generator<TreeEntry, void> {
  const waiting = [''];
  let count = 0;
  for (let above = waiting.pop(); above !== undefined; above = waiting.pop()) {
    const names = readdirSync(path.join(folder, above)).sort();
    for (const own of names) {
      count += 1;
      if (count > MAX_ENTRIES) throw new RangeError(`${folder} has more than ${String(MAX_ENTRIES)} entries`);
      const name = above === '' ? own : `${above}/${own}`;
      const file = path.join(folder, name);
      const stats = lstatSync(file, { throwIfNoEntry: false });
      // A name that is no UTF-8 is not found again.
      if (stats === undefined) continue;
      yield { name, file, stats };
      if (stats.isDirectory() && !emptied.has(name)) waiting.push(name);
    }
  }
}
