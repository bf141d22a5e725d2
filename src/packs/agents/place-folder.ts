/**
 * Opens the folder of an agent in which skills are linked. The folder may come with a cloned repository, so it is reached through directory
 * handles: a link that leads out of the project, or that appears during the change, is refused and never followed.
 */
import path from 'node:path';
import { rmdirSync } from 'node:fs';

import { quoted, toRelativePath, type RelativePath, isProblem } from '#core';
import {
  inDirectory,
  isInside,
  isPresent,
  resolveBeneath,
  tryRealPath,
  DirectoryHandle,
  isSystemError,
  realPath,
  type OpenFailed,
} from '#platform';

/** A folder that links to skills of a root. */
export interface TargetFolder {
  /** Absolute; inside `within`. */
  readonly folder: string;
  /** A real path. A link in `folder` that leaves it is refused. */
  readonly within: string;
}

export type ResolvedFolder =
  | { readonly type: 'folder'; readonly below: RelativePath | ''; readonly real: string; readonly isThere: boolean }
  /** The folder is the root itself, by a link: the agent sees every skill of the root. */
  | { readonly type: 'root' }
  | { readonly type: 'unusable'; readonly reason: string };

/** Resolves the links of the folder without changing anything. `root` is a real path. */
export function resolveTargetFolder({ folder, within }: TargetFolder, root: string): ResolvedFolder {
  const asked = toRelativePath(path.relative(within, folder).split(path.sep).join('/'));
  if (isProblem(asked)) return unusable(folder, `is not a folder in ${quoted(within, 200)}`);
  const resolved = resolveBeneath(within, asked, [within]);
  if (resolved.type === 'failed') return unusable(folder, describeOpenFailure(resolved, within));
  const real = path.join(within, resolved.path);
  if (!resolved.isThere && hasBrokenLink(folder, within)) return unusable(folder, 'is or is below a broken link');
  if (real === root) return { type: 'root' };
  // A link inside a skill would change the skill.
  if (isInside(real, root)) return unusable(folder, `leads into ${quoted(root, 200)}`);
  return { type: 'folder', below: resolved.path, real, isThere: resolved.isThere };
}

/** Calls `act` with the open folder and its real path. Creates the folder if `create` is set. */
export function inTargetFolder<T>(
  place: TargetFolder,
  root: string,
  { create }: { readonly create: boolean },
  act: (directory: DirectoryHandle, real: string) => T,
):
  | { readonly type: 'done'; readonly result: T }
  | Exclude<ResolvedFolder, { type: 'folder' }>
  | { readonly type: 'absent' } {
  const resolved = resolveTargetFolder(place, root);
  if (resolved.type !== 'folder') return resolved;
  if (!resolved.isThere && !create) return { type: 'absent' };
  const done = inDirectory(
    place.within,
    resolved.below,
    (directory) => ({ type: 'done' as const, result: act(directory, resolved.real) }),
    { create },
  );
  return done.type === 'failed' ? unusable(place.folder, describeOpenFailure(done, place.within)) : done;
}

/** A broken link is left to the user: its target was meant to be elsewhere. */
function hasBrokenLink(folder: string, within: string): boolean {
  for (let at = folder; at !== within && isInside(at, within); at = path.dirname(at))
    if (isPresent(at)) return tryRealPath(at) === undefined;
  return false;
}

function unusable(folder: string, reason: string): Extract<ResolvedFolder, { type: 'unusable' }> {
  return { type: 'unusable', reason: `${quoted(folder, 200)} ${reason}` };
}

function describeOpenFailure({ code, detail }: OpenFailed, within: string): string {
  switch (code) {
    case 'path/link-outside':
      return `is a link that leads out of ${quoted(within, 200)}`;
    case 'path/link-loop':
      return 'is a link that leads to itself';
    case 'file/exists':
      return 'is a file or below a file, not a folder';
    case 'file/changed':
      return 'was replaced during the change';
    default:
      return `cannot be used (${detail ?? code})`;
  }
}

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
