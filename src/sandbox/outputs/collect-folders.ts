/**
 * Opens the folders and files of a workspace without following any link on the way. Each folder is held open by its descriptor while
 * something below it is read. Systems without /proc/self/fd use real paths instead, which protects less.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { posix } from 'node:path';

import type { Collected } from '#core';
import { OPEN_FLAGS, DirectoryHandle, isSystemError, quietly, tryStat, type tryOpenDirectory } from '#platform';

export type EnteredFolder =
  | { readonly type: 'open'; readonly folder: DirectoryHandle }
  /** `at` is the path up to the obstacle. */
  | { readonly type: 'link' | 'missing' | 'unreadable'; readonly at: string };

/** The caller closes the descriptor. `bytes` is the size of the entry itself. */
export type OpenedOutput =
  | { readonly type: 'open'; readonly descriptor: number; readonly stats: Stats }
  | { readonly type: 'skipped'; readonly reason: Collected['skipped'][number]['reason']; readonly bytes: number }
  | { readonly type: 'gone' };

const SET_IDS = 0o6000;

/** A workspace that is held open. The folders of the last file stay open for the next one. The caller closes it. */
export class WorkspaceFolders {
  readonly #held: { readonly name: string; readonly folder: DirectoryHandle }[] = [];

  /** Throws the system error where the workspace cannot be opened. */
  constructor(root: string, confinement?: NonNullable<Parameters<typeof tryOpenDirectory>[1]>) {
    const options = { followLink: true, confinement };
    this.#held.push({ name: '', folder: DirectoryHandle.open(root, options) });
  }

  /** Opens a folder below the workspace, which stays open until the next call. */
  enter(relative: string): EnteredFolder {
    const names = relative === '' ? [] : relative.split('/');
    let shared = 0;
    while (shared < names.length && this.#held[shared + 1]?.name === names[shared]) shared += 1;
    this.#leave(shared + 1);
    for (const [place, name] of names.entries()) {
      if (place < shared) continue;
      const opened = this.#last().tryChild(name);
      const at = names.slice(0, place + 1).join('/');
      if (opened.type === 'link' || opened.type === 'retry') return { type: 'link', at };
      if (opened.type !== 'directory')
        return { type: opened.type === 'failed' && opened.code !== 'file/missing' ? 'unreadable' : 'missing', at };
      this.#held.push({ name, folder: opened.directory });
      if (!opened.directory.isInPlace()) return { type: 'link', at };
    }
    return { type: 'open', folder: this.#last() };
  }

  /** Opens the same folder again with its own lifetime. */
  duplicate({ place, confinement }: DirectoryHandle): DirectoryHandle {
    return DirectoryHandle.open(place, { followLink: true, confinement });
  }

  /** Opens a regular file with a single name and without set-id bits. The checks are made on the opened descriptor. */
  openFile(relative: string): OpenedOutput {
    const slash = relative.lastIndexOf('/');
    const entered = this.enter(relative.slice(0, Math.max(0, slash)));
    if (entered.type === 'missing') return { type: 'gone' };
    if (entered.type !== 'open') return { type: 'skipped', reason: entered.type, bytes: 0 };
    const place = `${entered.folder.place}/${relative.slice(slash + 1)}`;
    try {
      // Only a hint, to avoid opening devices.
      const hint = lstatSync(place, { throwIfNoEntry: false });
      if (hint === undefined) return { type: 'gone' };
      const problem = findSkipReason(hint);
      if (problem !== undefined) return { type: 'skipped', reason: problem, bytes: hint.size };
      const descriptor = openSync(place, OPEN_FLAGS.foreignFile);
      const opened = checkOpened(descriptor);
      if (opened.type !== 'open' || (entered.folder.isInPlace() && isSame(opened.stats, place, entered.folder)))
        return opened;
      closeSync(descriptor);
      return { type: 'skipped', reason: 'changed', bytes: 0 };
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'gone' };
      return { type: 'skipped', reason: error.code === 'ELOOP' ? 'link' : 'unreadable', bytes: 0 };
    }
  }

  /** Size of the entry itself; links are not followed. */
  sizeOf(relative: string): number {
    const slash = relative.lastIndexOf('/');
    const entered = this.enter(relative.slice(0, Math.max(0, slash)));
    if (entered.type !== 'open') return 0;
    return tryStat(`${entered.folder.place}/${relative.slice(slash + 1)}`)?.size ?? 0;
  }

  close(): void {
    this.#leave(0);
  }

  #last(): DirectoryHandle {
    const last = this.#held.at(-1);
    if (last === undefined) throw new TypeError('the workspace is closed');
    return last.folder;
  }

  #leave(count: number): void {
    while (this.#held.length > count) this.#held.pop()?.folder.close();
  }
}

/** Takes ownership of the descriptor. */
function checkOpened(descriptor: number): OpenedOutput {
  let isKept = false;
  try {
    const stats = fstatSync(descriptor);
    const problem = findSkipReason(stats);
    if (problem !== undefined) return { type: 'skipped', reason: problem, bytes: stats.size };
    isKept = true;
    return { type: 'open', descriptor, stats };
  } finally {
    if (!isKept) closeSync(descriptor);
  }
}

/** Where folders are held by path, the name must still refer to the opened file. */
function isSame(opened: Stats, place: string, folder: DirectoryHandle): boolean {
  if (folder.confinement === 'descriptors') return true;
  const named = lstatSync(place, { throwIfNoEntry: false });
  return named?.dev === opened.dev && named.ino === opened.ino;
}

function findSkipReason(stats: Stats): Collected['skipped'][number]['reason'] | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'not-regular';
  if (stats.nlink > 1) return 'hard-link';
  return (stats.mode & SET_IDS) === 0 ? undefined : 'set-id';
}

/** Tells by the text of a link whether it leaves the workspace. Only used for the message, since no link is followed. */
export function linkReason(
  folders: WorkspaceFolders,
  name: string,
  root: string,
  programRoot: string | undefined,
): 'link' | 'link-outside' {
  const entered = folders.enter(name.slice(0, Math.max(0, name.lastIndexOf('/'))));
  if (entered.type !== 'open') return 'link';
  const target = quietly(() => readlinkSync(`${entered.folder.place}/${posix.basename(name)}`), undefined);
  if (target === undefined) return 'link';
  const homes = [root, ...(programRoot === undefined ? [] : [programRoot])];
  const home = homes.find((start) => target === start || target.startsWith(`${start}/`));
  if (posix.isAbsolute(target) && home === undefined) return 'link-outside';
  const relative = home === undefined ? posix.join(posix.dirname(name), target) : posix.relative(home, target);
  return relative === '..' || relative.startsWith('../') ? 'link-outside' : 'link';
}
