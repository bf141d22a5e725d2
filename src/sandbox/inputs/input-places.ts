/** Where inputs go: below `work` or `out`, by descriptors, since a program may exchange what lies there. */
import { fchownSync, lstatSync, mkdirSync, renameSync } from 'node:fs';

import type { Identity } from '../../core/execution.ts';
import type { RelativePath } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { readPath, refuseInput } from './input-sources.ts';
import type { InputRefused } from './input-sources.ts';

const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/^\$(?:WORK_DIR|\{WORK_DIR\})(?=\/|$)/, 'work'],
  [/^\$(?:OUTPUT_DIR|\{OUTPUT_DIR\})(?=\/|$)/, 'out'],
  [/^\$(?:WORKSPACE_DIR|\{WORKSPACE_DIR\})\//, ''],
];
/** They are parts of every workspace, and nothing takes their place. */
const FIXED: ReadonlySet<string> = new Set(['work', 'out', 'work/inputs']);

/** Reads where an input is to go. `base`: its own name, for where none is given and for a path that ends with a slash. */
export function readPlace(
  from: string,
  to: string | undefined,
  { base, seenRoot }: { readonly base: string; readonly seenRoot: string },
): RelativePath {
  if (to === undefined || to === '') return readPath(from, `work/inputs/${base}`);
  let text = to.startsWith(`${seenRoot}/`) ? to.slice(seenRoot.length + 1) : to;
  for (const [pattern, folder] of VARIABLES) text = text.replace(pattern, folder);
  text = text.replace(/^(?:\.\/+)*inputs(?=\/|$)/, 'work/inputs');
  const place = readPath(from, text.endsWith('/') || FIXED.has(text) ? `${text}/${base}` : text);
  const first = place.split('/')[0];
  if ((first !== 'work' && first !== 'out') || FIXED.has(place))
    throw refuseInput(from, 'input/invalid', `${quoted(to)} is no place for an input`, {
      hint: 'put it below work/, inputs/ or out/: work/inputs/data.csv',
    });
  return place;
}

export interface PlaceOptions {
  readonly from: string;
  /** Of the workspace, on the host. */
  readonly root: string;
  readonly to: RelativePath;
  readonly owner: Identity | undefined;
  /** What is at the place was put there by us before, and may go. */
  readonly isOurs: boolean;
  /** Receives what was there. */
  readonly discarded: string;
}

/** Moves what was made elsewhere to its place, in one step. */
export function putInput(made: string, options: PlaceOptions): void {
  inParent(
    options,
    (parent, name) => openOrMake(parent, name, options),
    (target) => {
      makeRoom(made, target, options);
      renameSync(made, target);
    },
  );
}

/** What `putInput` would refuse, before anything is changed. */
export function refusePlace(made: string, options: PlaceOptions): void {
  const open = (parent: DirectoryHandle, name: string): DirectoryHandle | undefined => {
    const opened = parent.tryChild(name);
    if (opened.type === 'directory') return opened.directory;
    const isMissing = lstatSync(`${parent.place}/${name}`, { throwIfNoEntry: false }) === undefined;
    if (opened.type !== 'failed' || !isMissing) throw noFolder(options);
    return undefined;
  };
  inParent(options, open, (target) => refuseLoss(made, target, options));
}

/** Calls `act` with the place of the input in its opened parent folder; not if `open` returns nothing for a folder on the way. */
function inParent(
  { root, to }: PlaceOptions,
  open: (parent: DirectoryHandle, name: string) => DirectoryHandle | undefined,
  act: (target: string) => void,
): void {
  const segments = to.split('/');
  const name = segments.pop() ?? '';
  let parent = DirectoryHandle.open(root, { followLink: true });
  const held = [parent];
  try {
    for (const segment of segments) {
      const next = open(parent, segment);
      if (next === undefined) return;
      held.push(next);
      parent = next;
    }
    act(`${parent.place}/${name}`);
  } finally {
    for (const directory of held) directory.close();
  }
}

function openOrMake(parent: DirectoryHandle, name: string, options: PlaceOptions): DirectoryHandle {
  let isNew = true;
  try {
    mkdirSync(`${parent.place}/${name}`, { mode: 0o755 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    isNew = false;
  }
  const opened = parent.tryChild(name);
  if (opened.type !== 'directory') throw noFolder(options);
  if (isNew && options.owner !== undefined)
    fchownSync(opened.directory.descriptor, options.owner.uid, options.owner.gid);
  return opened.directory;
}

function noFolder({ from, to }: PlaceOptions): InputRefused {
  return refuseInput(from, 'path/link-outside', `a part of ${quoted(to)} is no folder but a file or a link`, {
    hint: 'choose another place for it',
  });
}

/** A file or a link is replaced by the rename itself, and never followed; a folder has to make room. True: it has. */
function refuseLoss(made: string, target: string, { from, to, isOurs }: PlaceOptions): boolean {
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined || (!there.isDirectory() && !lstatSync(made).isDirectory())) return false;
  if (isOurs) return true;
  const isFolder = there.isDirectory();
  throw refuseInput(from, 'input/exists', `there is a ${isFolder ? 'folder' : 'file'} at ${quoted(to)} already`, {
    hint: isFolder ? `write ${to}/ to put it inside` : 'choose another place for it',
  });
}

function makeRoom(made: string, target: string, options: PlaceOptions): void {
  if (refuseLoss(made, target, options)) renameSync(target, options.discarded);
}
