import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import { problemError } from '#core';
import { OPEN_FLAGS, isWithoutHardLinks } from '#platform';
import { brokenTar, type TarEntry } from './tar.ts';
import type { Identity } from '../../program-types.ts';

/** The tar holds more bytes or entries than the limits allow. */
function refuseSize(): never {
  throw problemError({ code: 'tar/too-large', message: 'the disk or file limit is exceeded', hint: '' });
}

export interface ExtractTreeOptions {
  /** First component of every entry name. The entry of exactly this name is the folder itself. */
  readonly top: string;
  /** An empty folder that only this process can write to. */
  readonly folder: string;
  readonly owner: Identity | undefined;
  /** What may still be extracted; counted down. */
  readonly budget: { bytes: number; files: number };
}

/**
 * Writes the entries of an untrusted tar into a folder. Every name must lie in a folder created here; nothing is overwritten and no
 * link is followed. Devices, pipes and sockets are left out.
 */
export async function extractTree(entries: AsyncIterable<TarEntry>, options: ExtractTreeOptions): Promise<void> {
  const { folder, top, budget, owner } = options;
  const folders = new Map<string, number>([['', 0o755]]);
  const files = new Set<string>();
  for await (const { header, body } of entries) {
    const name = nameBelow(header.name, top);
    const file = path.join(folder, name);
    const mode = (header.mode ?? 0) & 0o777;
    const target = header.linkname ?? '';
    if (name === '') continue;
    const reserve = (): void => {
      const parent = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
      if (!folders.has(parent) || folders.has(name) || files.has(name))
        throw brokenTar(`${JSON.stringify(name)} has no parent folder or occurs twice`);
      budget.files -= 1;
      budget.bytes -= header.size;
      if (budget.files < 0 || budget.bytes < 0) refuseSize();
    };
    switch (header.type) {
      case 'directory':
        reserve();
        mkdirSync(file, { mode: 0o700 });
        folders.set(name, mode);
        break;
      case 'symlink':
        reserve();
        if (target === '' || target.includes('\0')) throw brokenTar(`${JSON.stringify(name)} has no link target`);
        symlinkSync(target, file);
        if (owner !== undefined) lchownSync(file, owner.uid, owner.gid);
        break;
      case 'link': {
        reserve();
        const first = nameBelow(target, top);
        if (!files.has(first)) throw brokenTar(`${JSON.stringify(name)} is a hard link to a missing file`);
        linkOrCopy(path.join(folder, first), file, options);
        break;
      }
      case 'file':
        reserve();
        await writeFile(file, body, { mode, owner });
        files.add(name);
        break;
      default:
    }
  }
  // Modes come last: a folder may deny access to its own owner.
  for (const [name, mode] of [...folders].reverse()) {
    const file = path.join(folder, name);
    chmodSync(file, mode);
    if (owner !== undefined) lchownSync(file, owner.uid, owner.gid);
  }
}

/** On a file system without hard links the second name becomes a copy, which counts as bytes. */
function linkOrCopy(first: string, file: string, { budget, owner }: ExtractTreeOptions): void {
  try {
    linkSync(first, file);
  } catch (error) {
    if (!isWithoutHardLinks(error)) throw error;
    budget.bytes -= lstatSync(first).size;
    if (budget.bytes < 0) refuseSize();
    copyFileSync(first, file, constants.COPYFILE_EXCL);
    if (owner !== undefined) lchownSync(file, owner.uid, owner.gid);
  }
}

function nameBelow(name: string, top: string): string {
  const clean = name.replace(/^\.\//, '').replace(/\/+$/, '');
  if (clean === top) return '';
  const parts = clean.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isPlain || parts[0] !== top) throw brokenTar(`${JSON.stringify(name)} is not below ${top}`);
  return parts.slice(1).join('/');
}

async function writeFile(
  file: string,
  body: TarEntry['body'],
  { mode, owner }: { readonly mode: number; readonly owner: Identity | undefined },
): Promise<void> {
  const descriptor = openSync(file, OPEN_FLAGS.newFile, 0o600);
  try {
    for await (const chunk of body) for (let at = 0; at < chunk.length;) at += writeSync(descriptor, chunk, at);
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
    // After chown, which clears permission bits.
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}
