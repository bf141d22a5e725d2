import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import type { Identity, RunLimits } from '../../../core/execution.ts';
import { BrokenTar } from './tar.ts';
import type { TarEntry } from './tar.ts';
import { NEW_FILE } from '../../../platform/fs/open-flags.ts';

/** More than may be left in a workspace. */
export class TreeTooLarge extends Error {
  override readonly name = 'TreeTooLarge';
}

export interface TreeBudget {
  bytes: number;
  files: number;
}

export function treeBudget({ diskBytes, files }: RunLimits): TreeBudget {
  return { bytes: diskBytes, files };
}

export interface WriteTreeOptions {
  /** What the names of the entries start with; the entry of that very name is the folder itself. */
  readonly top: string;
  /** Exists, is empty and ours alone: nobody exchanges anything in it while we write. */
  readonly folder: string;
  readonly owner: Identity | undefined;
  /** What is left of it; counted down. */
  readonly budget: TreeBudget;
}

/**
 * Writes the entries of a tar into a folder. An engine elsewhere is not trusted with our files: a name leads nowhere but into folders
 * made here, nothing is written twice or through a link, and what is no file, folder or link is left out.
 */
export async function writeTree(entries: AsyncIterable<TarEntry>, options: WriteTreeOptions): Promise<void> {
  const { folder, budget, owner } = options;
  const folders = new Map<string, number>([['', 0o755]]);
  const files = new Set<string>();
  for await (const entry of entries) {
    const name = nameBelow(entry.name, options.top);
    if (name === '' || entry.type === 'other') continue;
    const above = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
    if (!folders.has(above) || folders.has(name) || files.has(name))
      throw new BrokenTar(`${JSON.stringify(name)} has no place`);
    budget.files -= 1;
    budget.bytes -= entry.size;
    if (budget.files < 0 || budget.bytes < 0) throw new TreeTooLarge('more than the limits of disk and files');
    const file = path.join(folder, name);
    switch (entry.type) {
      case 'folder':
        mkdirSync(file, { mode: 0o700 });
        folders.set(name, entry.mode & 0o777);
        break;
      case 'link':
        symlinkSync(entry.target, file);
        if (owner !== undefined) lchownSync(file, owner.uid, owner.gid);
        break;
      case 'hard-link': {
        const first = nameBelow(entry.target, options.top);
        if (!files.has(first)) throw new BrokenTar(`${JSON.stringify(name)} is a second name of nothing`);
        linkSync(path.join(folder, first), file);
        break;
      }
      case 'file':
        await writeFile(file, entry, owner);
        files.add(name);
        break;
      default:
        entry.type satisfies never;
    }
  }
  // Last: a folder may be closed to its own owner.
  for (const [name, mode] of [...folders].reverse()) {
    const file = path.join(folder, name);
    chmodSync(file, mode);
    if (owner !== undefined) lchownSync(file, owner.uid, owner.gid);
  }
}

function nameBelow(name: string, top: string): string {
  const clean = name.replace(/^\.\//, '').replace(/\/+$/, '');
  if (clean === top) return '';
  const parts = clean.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isPlain || parts[0] !== top) throw new BrokenTar(`${JSON.stringify(name)} is not below ${top}`);
  return parts.slice(1).join('/');
}

async function writeFile(file: string, { mode, bytes }: TarEntry, owner: Identity | undefined): Promise<void> {
  const descriptor = openSync(file, NEW_FILE, 0o600);
  try {
    for await (const piece of bytes) for (let at = 0; at < piece.length;) at += writeSync(descriptor, piece, at);
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
    // After the owner, whose change takes bits away.
    fchmodSync(descriptor, mode & 0o777);
  } finally {
    closeSync(descriptor);
  }
}
