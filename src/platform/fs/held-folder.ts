import { closeSync, fchownSync, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import type { RelativePath } from '../../core/path.ts';
import { HAS_DESCRIPTOR_PATHS } from './confined-directory.ts';
import type { Confinement } from './confined-directory.ts';
import { descriptorPath, systemFailure } from './confined-open.ts';
import type { OpenFailed } from './confined-open.ts';
import { isSystemError, tryRealPath } from './paths.ts';
import { FOREIGN_FOLDER } from './open-flags.ts';

/** A folder held open. `${place}/${name}` is what lies in it, wherever the folder's own name leads by now. */
export interface HeldFolder {
  readonly place: string;
  readonly stats: Stats;
}

export interface InFolderOptions {
  /** Folders that are not there are made. */
  readonly make?: boolean;
  readonly confinement?: Confinement;
}

/**
 * Does something in a folder below `root`, a real path, that is reached without following one link: each name is opened below the
 * descriptor of the one before. A link on the way is `file/changed`, because paths are resolved before they come here.
 */
export function inFolder<Result>(
  root: string,
  folder: RelativePath | '',
  act: (held: HeldFolder) => Result,
  { make = false, confinement = HAS_DESCRIPTOR_PATHS ? 'descriptors' : 'paths' }: InFolderOptions = {},
): Result | OpenFailed {
  let held: Held | undefined;
  try {
    const opened = openHeld(root, folder, { make, confinement });
    if (opened.type === 'failed') return opened;
    held = opened;
  } catch (error) {
    return systemFailure(error);
  }
  try {
    return act(held);
  } finally {
    closeSync(held.descriptor);
  }
}

interface Held extends HeldFolder {
  readonly type: 'held';
  readonly descriptor: number;
}

function openHeld(root: string, folder: string, options: Required<InFolderOptions>): Held | OpenFailed {
  let held = hold(root, options.confinement);
  for (const name of folder.split('/').filter((part) => part !== '')) {
    if (held.type === 'failed') return held;
    const { descriptor } = held;
    try {
      held = step(held, name, options);
    } finally {
      closeSync(descriptor);
    }
  }
  return held;
}

function step(above: Held, name: string, { make, confinement }: Required<InFolderOptions>): Held | OpenFailed {
  const place = path.join(above.place, name);
  const first = hold(place, confinement);
  if (!make || first.type === 'held' || first.code !== 'file/missing') return first;
  const isMade = makeFolder(place);
  const second = hold(place, confinement);
  if (!isMade || second.type === 'failed') return second;
  giveTo(second.descriptor, above.stats);
  return { ...second, stats: fstatSync(second.descriptor) };
}

function hold(place: string, confinement: Confinement): Held | OpenFailed {
  let descriptor: number;
  try {
    descriptor = openSync(place, FOREIGN_FOLDER);
  } catch (error) {
    // Linux says ENOTDIR of a link that must not be followed, others ELOOP.
    if (!isSystemError(error) || (error.code !== 'ENOTDIR' && error.code !== 'ELOOP')) return systemFailure(error);
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return { type: 'failed', code: isLink ? 'file/changed' : 'file/exists' };
  }
  if (confinement === 'descriptors')
    return { type: 'held', place: descriptorPath(descriptor), stats: fstatSync(descriptor), descriptor };
  // Without them names are all there is: they must at least lead where they say.
  if (tryRealPath(place) === place) return { type: 'held', place, stats: fstatSync(descriptor), descriptor };
  closeSync(descriptor);
  return { type: 'failed', code: 'file/changed' };
}

function makeFolder(place: string): boolean {
  try {
    mkdirSync(place);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** What root makes in somebody's folder is theirs, or they could not change it afterwards. */
export function giveTo(descriptor: number, { uid, gid }: Stats): void {
  if (process.getuid?.() !== 0) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (error) {
    // A file system without owners.
    if (!isSystemError(error)) throw error;
  }
}
