/**
 * The folders of a workspace, each held open while something below it is looked at, and its files, opened so that no link on the way
 * is followed. On systems without /proc/self/fd real paths take the place of descriptors, as well as they can.
 */
import { closeSync, fstatSync, lstatSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';

import type { SkipReason } from '../../core/outputs.ts';
import type { Confinement } from '../../platform/fs/confined-directory.ts';
import { descriptorPath, openFolder } from '../../platform/fs/confined-open.ts';
import { isSystemError, tryRealPath } from '../../platform/fs/paths.ts';
import { FOREIGN_FILE, NAMED_FOLDER } from '../../platform/fs/open-flags.ts';

/** A folder held open. Close it. */
export class HeldFolder {
  readonly #descriptor: number | undefined;
  readonly #realPath: string | undefined;

  /** Takes the descriptor over; with a real path it is not needed. */
  constructor(descriptor: number, realPath: string | undefined) {
    if (realPath !== undefined) closeSync(descriptor);
    this.#descriptor = realPath === undefined ? descriptor : undefined;
    this.#realPath = realPath;
  }

  /** What names below it are appended to. */
  get place(): string {
    return this.#realPath ?? descriptorPath(this.#descriptor ?? -1);
  }

  get isHeldByDescriptor(): boolean {
    return this.#realPath === undefined;
  }

  /** A folder opened below this one; takes the descriptor over. */
  child(descriptor: number, place: string): HeldFolder {
    return new HeldFolder(descriptor, this.#realPath === undefined ? undefined : place);
  }

  /** By descriptors it cannot be another; a path may have come to lead elsewhere. */
  isRightPlace(): boolean {
    return this.#realPath === undefined || tryRealPath(this.#realPath) === this.#realPath;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

export type EnteredFolder =
  | { readonly type: 'open'; readonly folder: HeldFolder }
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
  readonly #held: { readonly name: string; readonly folder: HeldFolder }[] = [];

  /** Throws the system's error where the workspace cannot be opened. */
  constructor(root: string, confinement?: Confinement) {
    const descriptor = openSync(root, NAMED_FOLDER);
    const hasDescriptors =
      confinement !== 'paths' &&
      process.platform === 'linux' &&
      lstatSync(descriptorPath(descriptor), { throwIfNoEntry: false }) !== undefined;
    this.#held.push({ name: '', folder: new HeldFolder(descriptor, hasDescriptors ? undefined : tryRealPath(root)) });
  }

  /** Goes to a folder below the workspace. It stays open until another one is entered. */
  enter(relative: string): EnteredFolder {
    const names = relative === '' ? [] : relative.split('/');
    let shared = 0;
    while (shared < names.length && this.#held[shared + 1]?.name === names[shared]) shared += 1;
    this.#leave(shared + 1);
    for (const [place, name] of names.entries()) {
      if (place < shared) continue;
      const above = this.#last();
      const path = `${above.place}/${name}`;
      const opened = openFolder(path);
      const at = names.slice(0, place + 1).join('/');
      if (opened.type === 'link' || opened.type === 'again') return { type: 'link', at };
      if (opened.type !== 'folder')
        return { type: opened.type === 'failed' && opened.code !== 'file/missing' ? 'unreadable' : 'missing', at };
      const folder = above.child(opened.descriptor, path);
      this.#held.push({ name, folder });
      if (!folder.isRightPlace()) return { type: 'link', at };
    }
    return { type: 'open', folder: this.#last() };
  }

  /** The same folder for somebody who closes it at another time. */
  duplicate(folder: HeldFolder): HeldFolder {
    return folder.child(openSync(folder.place, NAMED_FOLDER), folder.place);
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
      if (opened.type !== 'open' || (entered.folder.isRightPlace() && isSame(opened.stats, place, entered.folder)))
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

  #last(): HeldFolder {
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
function isSame(opened: Stats, place: string, folder: HeldFolder): boolean {
  if (folder.isHeldByDescriptor) return true;
  const named = lstatSync(place, { throwIfNoEntry: false });
  return named?.dev === opened.dev && named.ino === opened.ino;
}

function problemOf(stats: Stats): SkipReason | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'not-regular';
  if (stats.nlink > 1) return 'hard-link';
  return (stats.mode & SET_IDS) === 0 ? undefined : 'set-id';
}
