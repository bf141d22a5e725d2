/**
 * The folders of a workspace, each held open while something below it is looked at, and its files, opened so that no link on the way
 * is followed. On systems without /proc/self/fd real paths take the place of descriptors, as well as they can.
 */
import { closeSync, fstatSync, lstatSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';

import type { SkipReason } from '../../core/outputs.ts';
import { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import type { Confinement } from '../../platform/fs/directory-handle.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { FOREIGN_FILE } from '../../platform/fs/open-flags.ts';

export type EnteredFolder =
  | { readonly type: 'open'; readonly folder: DirectoryHandle }
  /** `at` is the part of the path up to what stands in the way. */
  | { readonly type: 'link' | 'missing' | 'unreadable'; readonly at: string };

/** Whoever gets a descriptor closes it. `bytes` are those of the name's own inode. */
export type OpenedOutput =
  | { readonly type: 'open'; readonly descriptor: number; readonly stats: Stats }
  | { readonly type: 'skipped'; readonly reason: SkipReason; readonly bytes: number }
  | { readonly type: 'gone' };

const SET_IDS = 0o6000;

/** A workspace held open; the folders on the way to the last file stay open for the next one. Close it. */
export class WorkspaceFolders {
  readonly #held: { readonly name: string; readonly folder: DirectoryHandle }[] = [];

  /** Throws the system's error where the workspace cannot be opened. */
  constructor(root: string, confinement?: Confinement) {
    const options = { followLink: true, ...(confinement === undefined ? {} : { confinement }) };
    this.#held.push({ name: '', folder: DirectoryHandle.open(root, options) });
  }

  /** Goes to a folder below the workspace. It stays open until another one is entered. */
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

  /** The same folder for somebody who closes it at another time. */
  duplicate({ place, confinement }: DirectoryHandle): DirectoryHandle {
    return DirectoryHandle.open(place, { followLink: true, confinement });
  }

  /** Opens a file. What counts is what was opened: a file with one name, that nobody could run as somebody else. */
  openFile(relative: string): OpenedOutput {
    const slash = relative.lastIndexOf('/');
    const entered = this.enter(relative.slice(0, Math.max(0, slash)));
    if (entered.type === 'missing') return { type: 'gone' };
    if (entered.type !== 'open') return { type: 'skipped', reason: entered.type, bytes: 0 };
    const place = `${entered.folder.place}/${relative.slice(slash + 1)}`;
    try {
      // Only a hint, so that a device is not opened.
      const hint = lstatSync(place, { throwIfNoEntry: false });
      if (hint === undefined) return { type: 'gone' };
      const problem = problemOf(hint);
      if (problem !== undefined) return { type: 'skipped', reason: problem, bytes: hint.size };
      const descriptor = openSync(place, FOREIGN_FILE);
      const opened = judged(descriptor);
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

  /** Of the name itself, not of what it leads to. */
  sizeOf(relative: string): number {
    const slash = relative.lastIndexOf('/');
    const entered = this.enter(relative.slice(0, Math.max(0, slash)));
    if (entered.type !== 'open') return 0;
    try {
      return lstatSync(`${entered.folder.place}/${relative.slice(slash + 1)}`, { throwIfNoEntry: false })?.size ?? 0;
    } catch (error) {
      if (isSystemError(error)) return 0;
      throw error;
    }
  }

  close(): void {
    this.#leave(0);
  }

  #last(): DirectoryHandle {
    const last = this.#held.at(-1);
    if (last === undefined) throw new TypeError('the workspace was closed');
    return last.folder;
  }

  #leave(count: number): void {
    while (this.#held.length > count) this.#held.pop()?.folder.close();
  }
}

/** Takes the descriptor over. */
function judged(descriptor: number): OpenedOutput {
  let isKept = false;
  try {
    const stats = fstatSync(descriptor);
    const problem = problemOf(stats);
    if (problem !== undefined) return { type: 'skipped', reason: problem, bytes: stats.size };
    isKept = true;
    return { type: 'open', descriptor, stats };
  } finally {
    if (!isKept) closeSync(descriptor);
  }
}

/** Where folders are held by paths the name must still mean the file that was opened. */
function isSame(opened: Stats, place: string, folder: DirectoryHandle): boolean {
  if (folder.confinement === 'descriptors') return true;
  const named = lstatSync(place, { throwIfNoEntry: false });
  return named?.dev === opened.dev && named.ino === opened.ino;
}

function problemOf(stats: Stats): SkipReason | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'not-regular';
  if (stats.nlink > 1) return 'hard-link';
  return (stats.mode & SET_IDS) === 0 ? undefined : 'set-id';
}
