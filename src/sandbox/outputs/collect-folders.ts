/**
 * Opens the folders and files of a workspace without following any link on the way. Each folder is held open by its descriptor while
 * something below it is read. Systems without /proc/self/fd use real paths instead, which protects less.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs';
import { posix } from 'node:path';

import type { RunResult } from '#core';
import type { StagedSkill } from '../program-types.ts';
import { OPEN_FLAGS, isInside, isSystemError, quietly, DirectoryHandle } from '#platform';

type EnteredFolder =
  | { readonly type: 'open'; readonly folder: DirectoryHandle }
  /** `at` is the path up to the obstacle. */
  | { readonly type: 'link' | 'missing' | 'unreadable'; readonly at: string };

/** The caller closes the descriptor. `bytes` is the size of the entry itself. */
export type SkipReason = RunResult['skipped_files'][number]['reason'];

type OpenedOutput =
  | { readonly type: 'open'; readonly descriptor: number; readonly stats: Stats }
  | { readonly type: 'skipped'; readonly reason: SkipReason; readonly bytes: number }
  | { readonly type: 'gone' };

const SET_IDS = 0o6000;

/** A workspace that is held open. The folders of the last file stay open for the next one. The caller closes it. */
export interface WorkspaceFolders {
  /** Opens a folder below the workspace, which stays open until the next call. */
  enter(relative: string): EnteredFolder;
  /** Opens a regular file with a single name and without set-id bits. The checks are made on the opened descriptor. */
  openFile(relative: string): OpenedOutput;
  /** Size of the entry itself; links are not followed. */
  sizeOf(relative: string): number;
  /** Tells by the text of a link whether it leaves the workspace. Only used for the message, since no link is followed. */
  linkReason(name: string, programRoot: string | undefined): 'link' | 'link-outside';
  close(): void;
}

/**
 * Throws the system error where the workspace cannot be opened. `skills` are the snapshots of skills that programs see mounted: the
 * workspace has only their mount points.
 */
export function openFolders(
  root: string,
  confinement?: NonNullable<Parameters<typeof DirectoryHandle.tryOpen>[1]>,
  skills: readonly Pick<StagedSkill, 'name' | 'snapshot'>[] = [],
): WorkspaceFolders {
  const top = DirectoryHandle.open(root, { followLink: true, confinement });
  const held: { readonly name: string; readonly folder: DirectoryHandle }[] = [];
  const leave = (count: number): void => {
    while (held.length > count) held.pop()?.folder.close();
  };
  const openMounted = (
    [first, second]: readonly string[],
    place: number,
  ): ReturnType<DirectoryHandle['tryChild']> | undefined => {
    const mounted = first === 'skills' && place === 1 ? skills.find(({ name }) => name === second) : undefined;
    return mounted && DirectoryHandle.tryOpen(mounted.snapshot, confinement);
  };
  const enter = (relative: string): EnteredFolder => {
    const names = relative === '' ? [] : relative.split('/');
    let shared = 0;
    while (shared < names.length && held[shared]?.name === names[shared]) shared += 1;
    leave(shared);
    let folder = held.at(-1)?.folder ?? top;
    for (const [place, name] of names.entries()) {
      if (place < shared) continue;
      const opened = openMounted(names, place) ?? folder.tryChild(name);
      const at = names.slice(0, place + 1).join('/');
      if (opened.type === 'link' || opened.type === 'retry') return { type: 'link', at };
      if (opened.type !== 'directory')
        return { type: opened.type === 'failed' && opened.code !== 'file/missing' ? 'unreadable' : 'missing', at };
      folder = opened.directory;
      held.push({ name, folder });
      if (!folder.isInPlace()) return { type: 'link', at };
    }
    return { type: 'open', folder };
  };
  /** The opened folder of an entry, and the path of the entry in it. */
  const enterParent = (relative: string): EnteredFolder & { readonly place: string } => {
    const slash = relative.lastIndexOf('/');
    const entered = enter(relative.slice(0, Math.max(0, slash)));
    const place = entered.type === 'open' ? `${entered.folder.place}/${relative.slice(slash + 1)}` : '';
    return { ...entered, place };
  };
  return {
    enter,
    openFile(relative) {
      const entered = enterParent(relative);
      if (entered.type === 'missing') return { type: 'gone' };
      if (entered.type !== 'open') return { type: 'skipped', reason: entered.type, bytes: 0 };
      const { place, folder } = entered;
      try {
        // Only a hint, to avoid opening devices.
        const hint = lstatSync(place, { throwIfNoEntry: false });
        if (hint === undefined) return { type: 'gone' };
        const problem = findSkipReason(hint);
        if (problem !== undefined) return { type: 'skipped', reason: problem, bytes: hint.size };
        const descriptor = openSync(place, OPEN_FLAGS.foreignFile);
        const opened = checkOpened(descriptor);
        if (opened.type !== 'open' || (folder.isInPlace() && isSame(opened.stats, place, folder))) return opened;
        closeSync(descriptor);
        return { type: 'skipped', reason: 'changed', bytes: 0 };
      } catch (error) {
        if (!isSystemError(error)) throw error;
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'gone' };
        return { type: 'skipped', reason: error.code === 'ELOOP' ? 'link' : 'unreadable', bytes: 0 };
      }
    },
    sizeOf: (relative) => {
      const { type, place } = enterParent(relative);
      return type === 'open' ? (quietly(() => lstatSync(place))?.size ?? 0) : 0;
    },
    linkReason(name, programRoot) {
      const { type, place } = enterParent(name);
      const target = type === 'open' ? quietly(() => readlinkSync(place), undefined) : undefined;
      if (target === undefined) return 'link';
      const home = [root, programRoot].find((start) => start !== undefined && isInside(target, start));
      if (posix.isAbsolute(target) && home === undefined) return 'link-outside';
      const relative = home === undefined ? posix.join(posix.dirname(name), target) : posix.relative(home, target);
      return relative === '..' || relative.startsWith('../') ? 'link-outside' : 'link';
    },
    close() {
      leave(0);
      top.close();
    },
  };
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

function findSkipReason(stats: Stats): SkipReason | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (!stats.isFile()) return 'not-regular';
  if (stats.nlink > 1) return 'hard-link';
  return (stats.mode & SET_IDS) === 0 ? undefined : 'set-id';
}
