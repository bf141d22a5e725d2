/** Puts inputs into a workspace. Works by descriptors, because a program may swap files there. */
import { fchownSync, lstatSync, mkdirSync, renameSync, type Stats } from 'node:fs';
import path from 'node:path';

import { quoted, type RelativePath } from '#core';
import { DirectoryHandle, isSystemError } from '#platform';
import { parsePath, refuseInput } from './input-sources.ts';
import { isFreeName } from '../workspace/layout.ts';
import type { Identity } from '../program-types.ts';

const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/^\$(?:WORK_DIR|\{WORK_DIR\})(?=\/|$)/, 'work'],
  [/^\$(?:OUTPUT_DIR|\{OUTPUT_DIR\})(?=\/|$)/, 'out'],
  [/^\$(?:SKILLS_DIR|\{SKILLS_DIR\})(?=\/|$)/, 'skills'],
  [/^\$(?:RUN_DIR|\{RUN_DIR\})(?=\/|$)/, 'runs'],
  [/^\$(?:WORKSPACE_DIR|\{WORKSPACE_DIR\})\//, ''],
];
/** Folders of every workspace, which cannot be replaced. */
const FIXED: ReadonlySet<string> = new Set(['work', 'out', 'runs', 'work/inputs']);

/** Parses the target of an input. `base` is the source's own name, used for no target and for one that ends with a slash. */
export function parseTarget(
  to: string | undefined,
  { base, programRoot }: { readonly base: string; readonly programRoot: string },
): RelativePath {
  if (to === undefined || to === '') return parsePath(`work/inputs/${base}`);
  let text = to.startsWith(`${programRoot}/`) ? to.slice(programRoot.length + 1) : to;
  for (const [pattern, folder] of VARIABLES) text = text.replace(pattern, folder);
  text = text.replace(/^(?:\.\/+)*inputs(?=\/|$)/, 'work/inputs');
  const place = parsePath(text.endsWith('/') || FIXED.has(text) ? `${text}/${base}` : text);
  const first = place.split('/')[0] ?? '';
  if (!isFreeName(first) || first === 'runs' || FIXED.has(place))
    refuseInput('input/invalid', `${quoted(to)} is not a valid target for an input`, {
      hint: 'use a path of the workspace that is not below skills/, runs/, home/ or a hidden folder, such as work/inputs/data.csv or data/x.csv',
    });
  return place;
}

/** What inputs added at the top of a workspace, or of the area of a program: folders, and files beside them. */
export function inputEntries(
  root: string,
  inputs: readonly { readonly to: string }[],
): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  const names = [...new Set(inputs.map(({ to }) => to.split('/')[0] ?? ''))].filter(
    (name) => isFreeName(name) && !FIXED.has(name),
  );
  const kindOf = (name: string): Stats | undefined => lstatSync(path.join(root, name), { throwIfNoEntry: false });
  return {
    folders: names.filter((name) => kindOf(name)?.isDirectory() === true).toSorted(),
    files: names.filter((name) => kindOf(name)?.isFile() === true).toSorted(),
  };
}

export interface PlaceInputOptions {
  /** The workspace on the host. */
  readonly root: string;
  readonly to: RelativePath;
  readonly owner: Identity | undefined;
  /** The existing target is an earlier input and may be replaced. */
  readonly isReplaceable: boolean;
  /** Receives the replaced folder. */
  readonly discarded: string;
}

/** Moves a prepared input to its target atomically. */
export function placeInput(prepared: string, options: PlaceInputOptions): void {
  inParent(
    options,
    (parent, name) => openOrMake(parent, name, options),
    (target) => {
      makeRoom(prepared, target, options);
      renameSync(prepared, target);
    },
  );
}

/** Makes the checks of `placeInput` without changing anything. */
export function checkPlace(prepared: string, options: PlaceInputOptions): void {
  const open = (parent: DirectoryHandle, name: string): DirectoryHandle | undefined => {
    const opened = parent.tryChild(name);
    if (opened.type === 'directory') return opened.directory;
    const isMissing = lstatSync(`${parent.place}/${name}`, { throwIfNoEntry: false }) === undefined;
    if (opened.type !== 'failed' || !isMissing) noFolder(options);
    return undefined;
  };
  inParent(options, open, (target) => refuseLoss(prepared, target, options));
}

/** Calls `act` with the target in its opened parent folder, unless `open` returns `undefined` for one of its parents. */
function inParent(
  { root, to }: PlaceInputOptions,
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

function openOrMake(parent: DirectoryHandle, name: string, options: PlaceInputOptions): DirectoryHandle {
  let isNew = true;
  try {
    mkdirSync(`${parent.place}/${name}`, { mode: 0o755 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    isNew = false;
  }
  const opened = parent.tryChild(name);
  if (opened.type !== 'directory') noFolder(options);
  if (isNew && options.owner !== undefined)
    fchownSync(opened.directory.descriptor, options.owner.uid, options.owner.gid);
  return opened.directory;
}

function noFolder({ to }: PlaceInputOptions): never {
  refuseInput('path/link-outside', `a parent of ${quoted(to)} is a file or a link instead of a folder`, {
    hint: 'choose another target',
  });
}

/** A rename replaces a file or link without following it, but a folder has to be moved away first. Returns true for such a folder. */
function refuseLoss(prepared: string, target: string, { to, isReplaceable }: PlaceInputOptions): boolean {
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined || (!there.isDirectory() && !lstatSync(prepared).isDirectory())) return false;
  if (isReplaceable) return true;
  const isFolder = there.isDirectory();
  refuseInput('input/exists', `a ${isFolder ? 'folder' : 'file'} already exists at ${quoted(to)}`, {
    hint: isFolder ? `use ${to}/ to put the input inside` : 'choose another target',
  });
}

function makeRoom(prepared: string, target: string, options: PlaceInputOptions): void {
  if (refuseLoss(prepared, target, options)) renameSync(target, options.discarded);
}
