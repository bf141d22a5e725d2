import { rmdirSync } from 'node:fs';
import path from 'node:path';

import { DirectoryHandle, isInside, isSystemError, realPath } from '#platform';

interface Removable {
  readonly parent: DirectoryHandle;
  readonly name: string;
}

/**
 * Removes a folder and its parents below `within`, as far as they are empty, and up to a link on the way. A link is followed only inside
 * `within`; one that another process exchanges meanwhile has no effect, because every folder is reached through a handle.
 */
export function removeEmptyFolders(folder: string, within: string): void {
  if (folder === within || !isInside(folder, within)) return;
  const handles: DirectoryHandle[] = [];
  try {
    for (const { parent, name } of removable(folder, within, handles).toReversed()) removeFolder(parent, name);
  } catch (error) {
    // Another process uses a folder, or has removed it.
    if (!isSystemError(error)) throw error;
  } finally {
    for (const handle of handles) handle.close();
  }
}

/** The folders on the way that may be removed, outermost first. Handles that it opens are added to `handles`. */
function removable(folder: string, within: string, handles: DirectoryHandle[]): readonly Removable[] {
  const top = realPath(within);
  const names = path.relative(within, folder).split(path.sep);
  let found: Removable[] = [];
  let parent = trackHandle(DirectoryHandle.open(top), handles);
  for (const [depth, name] of names.entries()) {
    const next = parent.tryChild(name);
    if (next.type === 'directory') {
      found.push({ parent, name });
      parent = trackHandle(next.directory, handles);
    } else if (next.type === 'link') {
      const target = realPath(path.join(within, ...names.slice(0, depth + 1)));
      if (!isInside(target, top)) return [];
      parent = trackHandle(DirectoryHandle.open(top), handles);
      for (const step of path.relative(top, target).split(path.sep)) parent = trackHandle(parent.child(step), handles);
      found = [];
    } else return next.type === 'failed' && next.code === 'file/missing' ? found : [];
  }
  return found;
}

function trackHandle(handle: DirectoryHandle, handles: DirectoryHandle[]): DirectoryHandle {
  handles.push(handle);
  return handle;
}

function removeFolder({ place }: DirectoryHandle, name: string): void {
  try {
    rmdirSync(`${place}/${name}`);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
  }
}
