import { rmdirSync } from 'node:fs';
import path from 'node:path';

import { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import { isInside, isSystemError } from '../../platform/fs/paths.ts';

/** Removes a folder and its parents below `within`, as far as they are empty. Follows no link that another process put there. */
export function removeEmptyFolders(folder: string, within: string): void {
  if (folder === within || !isInside(folder, within)) return;
  const names = path.relative(within, folder).split(path.sep);
  const parents: DirectoryHandle[] = [];
  try {
    parents.push(DirectoryHandle.open(within, { followLink: true }));
    for (const name of names.slice(0, -1)) {
      const next = parents.at(-1)?.tryChild(name);
      // An interrupted change may have removed it already.
      if (next?.type === 'failed' && next.code === 'file/missing') break;
      if (next?.type !== 'directory') return;
      parents.push(next.directory);
    }
    for (const [depth, parent] of [...parents.entries()].toReversed()) removeFolder(parent, names[depth] ?? '');
  } catch (error) {
    if (!isSystemError(error)) throw error;
  } finally {
    for (const parent of parents) parent.close();
  }
}

function removeFolder({ place }: DirectoryHandle, name: string): void {
  try {
    rmdirSync(`${place}/${name}`);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
  }
}
