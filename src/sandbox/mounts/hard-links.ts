/** Second names (hard links) of files. A mount covers a name, so a file is hidden only if each of its names is covered. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';
import { listFolder } from './list-folder.ts';

/** A regular file as the kernel knows it, whatever its name. */
export interface FileIdentity {
  /** `device:inode`. */
  readonly inode: string;
  /** `device:inode:time`, because an inode is used again when its file is gone. */
  readonly created: string;
  /** Whether it has more than one name. */
  readonly isLinked: boolean;
}

export function identifyFile(file: string): FileIdentity | undefined {
  const stats = quietly(() => lstatSync(file, { bigint: true }), undefined);
  if (stats?.isFile() !== true) return undefined;
  const inode = `${String(stats.dev)}:${String(stats.ino)}`;
  return { inode, created: `${inode}:${String(stats.birthtimeNs)}`, isLinked: stats.nlink > 1n };
}

/** `device:inode` of a regular file with more than one name; undefined for everything else. */
export function linkedInode(file: string): string | undefined {
  const identity = identifyFile(file);
  return identity?.isLinked === true ? identity.inode : undefined;
}

/** Paths of all files below a folder, relative to it. Links are not followed. `isLeftOut` is asked about every entry. */
export function* filesBelow(folder: string, isLeftOut: (relative: string) => boolean = () => false): Generator<string> {
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop())
    for (const entry of listFolder(path.join(folder, below)).entries) {
      const relative = below === '' ? entry.name : `${below}/${entry.name}`;
      if (isLeftOut(relative)) continue;
      if (entry.isDirectory()) waiting.push(relative);
      else if (entry.isFile()) yield relative;
    }
}
