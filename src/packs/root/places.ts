/**
 * Where everything lies in a root. Skills are folders of the root itself; all that belongs to the work on them lies in `.skillwright`, a
 * folder whose name starts with a dot, so that no scan takes what is in it for skills. It may come with a cloned repository: nothing in it is
 * followed through a link, and only our own files are believed.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { LOCK_FILE_NAME } from '../lock/lock.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import { isSystemError, tryRealPath } from '../../platform/fs/paths.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

export const STATE_FOLDER = '.skillwright';
export const JOURNAL_NAME = 'transaction.json';
/** `staging`: work under way. The others keep what was taken out of the root. */
export const STATE_PARTS = ['staging', 'trash', 'previous', 'backups'] as const;
export type StatePart = (typeof STATE_PARTS)[number];

/** A root held open: it stays the folder that it was, whatever its name leads to later. */
export interface HeldRoot {
  /** As people know it, links resolved. */
  readonly path: string;
  /** As it was given. */
  readonly given: string;
  /** Starts the names of what lies in it, for the system. */
  readonly place: string;
  readonly directory: DirectoryHandle;
  readonly identity: string;
}

/** Opens a root, and makes it where it may. Throws `PackRefused` and what the system says. */
export function holdRoot(given: string, { create }: { readonly create: boolean }): HeldRoot {
  if (create) makeFolders(given);
  const real = tryRealPath(given);
  if (real === undefined) throw unusable(`there is no folder ${quoted(given, 200)}`, given);
  let directory: DirectoryHandle;
  try {
    directory = DirectoryHandle.open(real);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOTDIR') throw unusable(`${quoted(given, 200)} is no folder`, given);
    throw error;
  }
  const { place } = directory;
  return { path: real, given: path.resolve(given), place, directory, identity: identityOf(directory.stats()) };
}

export function releaseRoot({ directory }: HeldRoot): void {
  directory.close();
}

/** Throws `PackRefused` where the name of the root leads to another folder by now. */
export function refuseReplaced({ given, path: real, identity }: HeldRoot): void {
  const stats = tryRealPath(given) === real ? lstatSync(real, { throwIfNoEntry: false }) : undefined;
  if (stats === undefined || identityOf(stats) !== identity)
    throw unusable(`${quoted(given, 200)} was replaced while it was worked on`, given);
}

/** Which file or folder it is, by whatever name. */
export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${String(dev)}:${String(ino)}`;
}

/** Which file or folder stands there, a link itself; nothing where none does. */
export function identityAt(place: string): string | undefined {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats === undefined ? undefined : identityOf(stats);
}

/** The root itself. The dot: what starts the names is a link in the eyes of the system. */
export function rootPlace({ place }: HeldRoot): string {
  return `${place}/.`;
}

export function skillPlace({ place }: HeldRoot, name: string): string {
  return `${place}/${name}`;
}

export function lockPlace({ place }: HeldRoot): string {
  return `${place}/${LOCK_FILE_NAME}`;
}

/** A place of the state folder; `below` is relative to it. */
export function statePlace({ place }: HeldRoot, below = ''): string {
  return below === '' ? `${place}/${STATE_FOLDER}` : `${place}/${STATE_FOLDER}/${below}`;
}

/** The same as people know it. */
export function shownPlace({ path: root }: HeldRoot, below: string): string {
  return path.join(root, STATE_FOLDER, below);
}

/** Sees to it that the state folder and its parts are there, are folders and ours. Throws `PackRefused` and what the system says. */
export function prepareState(held: HeldRoot): void {
  makeOwn(held, '');
  const ignore = statePlace(held, '.gitignore');
  if (lstatSync(ignore, { throwIfNoEntry: false }) === undefined) writeOnce(ignore, '*\n');
  for (const part of STATE_PARTS) makeOwn(held, part);
}

function makeOwn(held: HeldRoot, part: StatePart | ''): void {
  const place = statePlace(held, part);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) {
    try {
      mkdirSync(place, { mode: 0o700 });
      return;
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    }
  }
  refuseStrange(held, part);
}

/** Throws `PackRefused` where a folder of the state is a link, a file or somebody else's. */
export function refuseStrange(held: HeldRoot, below: string): void {
  const stats = lstatSync(statePlace(held, below));
  const shown = shownPlace(held, below);
  if (!stats.isDirectory()) throw unusable(`${quoted(shown, 200)} is no folder of ours: remove it`, shown);
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stats.uid !== uid)
    throw unusable(`${quoted(shown, 200)} belongs to another user`, shown);
}

function writeOnce(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

/** A name that sorts by time and that nobody else takes. */
export function timedName(at: Date, what: string): string {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${time}-${String(at.getMilliseconds()).padStart(3, '0')}-${what}-${randomBytes(4).toString('hex')}`;
}

export function unusable(message: string, at: string): PackRefused {
  return new PackRefused(packRefusal('install/root', message, at));
}
