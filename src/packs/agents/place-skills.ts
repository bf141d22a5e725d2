/**
 * Makes installed skills visible in the folders of agents: relative links to the skills of a root, or copies where links are impossible. It
 * never replaces or removes an entry that it did not make. Each change checks the current state first, so that it can be repeated after an
 * interruption. A folder that cannot be used affects neither the root nor the other folders.
 */
import { cpSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { quoted } from '#core';
import { isInside, isSystemError, makeFolders, type DirectoryHandle } from '#platform';
import { removeEmptyFolders, inTargetFolder, type TargetFolder } from './place-folder.ts';
import { timedName } from '../root/root-paths.ts';
import { syncDescriptor } from '../root/sync.ts';
import { baseOfRoot, isKnownFolder } from './agents.ts';
import { digestFolder, isCopyOf, stageCopies, hasSameFiles, type CopyContext, type StagedCopies } from './copies.ts';

export type PlacementKind = 'link' | 'copy';

export interface FolderChange {
  /** Relative to the root, with `/`. */
  readonly folder: string;
  readonly kind: PlacementKind;
  /** Names of skills to make visible. */
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** The folder that the user allowed for this change. Without it, only folders of known agents beside the root are changed. */
  readonly within?: string;
  /** Replaces folders that another installer made by links, if their files are those of the skill. Lost in a crash. */
  readonly takeOver?: boolean;
}

export interface Unplaced {
  /** Absolute path. */
  readonly folder: string;
  readonly name: string;
  /** Starts in lower case and is safe to print. */
  readonly message: string;
}

export interface FolderOutcome {
  readonly change: FolderChange;
  /** `copy` if the file system does not support links. */
  readonly kind: PlacementKind;
  readonly added: readonly string[];
  /** Digests of the added copies by name. */
  readonly digests: ReadonlyMap<string, string>;
  readonly removed: readonly string[];
  readonly unplaced: readonly Unplaced[];
  /** Removes what was added and restores removed links. */
  readonly undo: () => void;
}

export async function applyFolderChanges(
  changes: readonly FolderChange[],
  context: CopyContext,
): Promise<readonly FolderOutcome[]> {
  const outcomes: FolderOutcome[] = [];
  for (const change of changes) outcomes.push(await applyFolderChange(change, context));
  return outcomes;
}

async function applyFolderChange(change: FolderChange, context: CopyContext): Promise<FolderOutcome> {
  const outcome = tryFolderChange(
    change,
    context,
    change.kind === 'copy' ? await stageCopies(change.add, context) : undefined,
  );
  if (outcome !== 'no-links') return outcome;
  const copying: FolderChange = { ...change, kind: 'copy' };
  const copied = tryFolderChange(copying, context, await stageCopies(copying.add, context));
  // Copies never ask for links. The lock expects the change that was asked for, so that it notices the copies.
  return copied === 'no-links'
    ? failedOutcome(change, context, 'links and copies are impossible')
    : { ...copied, change };
}

function tryFolderChange(
  change: FolderChange,
  context: CopyContext,
  copies: StagedCopies | undefined,
): FolderOutcome | 'no-links' {
  const place = toTargetFolder(change, context.root);
  if (place === undefined)
    return failedOutcome(change, context, 'is not the folder of a known agent: name it with --agent or --to');
  try {
    const done = inTargetFolder(place, context.root, { create: change.add.length > 0 }, (directory, real) =>
      placeInFolder({ change, directory, real, context, copies }),
    );
    if (done.type === 'done') {
      const isLast = done.result !== 'no-links' && done.result.removed.length > 0 && done.result.added.length === 0;
      if (isLast) removeEmptyFolders(place.folder, place.within);
      return done.result;
    }
    if (done.type === 'unusable')
      return { ...emptyOutcome(change), unplaced: unplacedAll(change, context, done.reason) };
    // The root itself, or a folder that is gone: nothing to add there, and nothing left to remove.
    const outcome = { ...emptyOutcome(change), removed: change.remove };
    if (done.type === 'absent' && change.remove.length > 0) removeEmptyFolders(place.folder, place.within);
    return outcome;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return failedOutcome(change, context, `cannot be changed (${error.code})`);
  }
}

/** Undefined if the change came from a lock or a journal and the folder belongs to no known agent. */
function toTargetFolder({ folder, within, kind, add }: FolderChange, root: string): TargetFolder | undefined {
  const absolute = path.resolve(root, folder);
  if (within !== undefined) return { folder: absolute, within };
  const base = baseOfRoot(root);
  if (isInside(absolute, base) && isKnownFolder(absolute, base)) return { folder: absolute, within: base };
  // A link to a skill of this root is ours wherever it is.
  return kind === 'link' && add.length === 0 ? { folder: absolute, within: path.parse(absolute).root } : undefined;
}

interface PlacingInput {
  readonly change: FolderChange;
  readonly directory: DirectoryHandle;
  readonly real: string;
  readonly context: CopyContext;
  readonly copies: StagedCopies | undefined;
}

/** The work in one open folder. */
function placeInFolder({ change, directory, real, context, copies }: PlacingInput): FolderOutcome | 'no-links' {
  const { root, staging } = context;
  const undo: (() => void)[] = [];
  const added: string[] = [];
  const digests = new Map<string, string>();
  const removed: string[] = [];
  const unplaced: Unplaced[] = [];
  const at = (name: string): string => `${directory.place}/${name}`;
  const linkTarget = (name: string): string => path.relative(real, path.join(root, name));
  const isOurLink = (place: string, name: string): boolean => isLinkTo(place, { real, target: path.join(root, name) });
  const hasCopy = (name: string): boolean => context.locks(name).before?.copies?.includes(change.folder) === true;
  const isOurCopy = (place: string, name: string): boolean => {
    const { before, after } = context.locks(name);
    return [before, after].some((lock) => lock !== undefined && isCopyOf(place, lock, change.folder));
  };
  const fail = (name: string, reason: string): void => {
    const folder = path.resolve(root, change.folder);
    unplaced.push({ folder, name, message: `${quoted(path.join(folder, name), 200)} ${reason}` });
  };
  const failForeign = (name: string): void => fail(name, hasCopy(name) ? EDITED_COPY : FOREIGN_ENTRY);
  /** Moves a copy to the staging folder, which is cleared later: a partly deleted copy could not be recognized as ours. */
  const discard = (aside: string, name: string): void => {
    makeFolders(staging, 0o700);
    try {
      renameSync(aside, path.join(staging, timedName(new Date(), name)));
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EXDEV') throw error;
      const gone = at(`.${name}${GONE}`);
      rmSync(gone, { recursive: true, force: true });
      renameSync(aside, gone);
      rmSync(gone, { recursive: true });
    }
  };
  /** Removes an entry that we made and moved aside, in this change or in an interrupted one. */
  const removeLeftover = (aside: string, name: string): boolean => {
    const isOurs = change.kind === 'link' ? isOurLink : isOurCopy;
    if (lstatSync(aside, { throwIfNoEntry: false }) === undefined || !isOurs(aside, name)) return false;
    if (change.kind === 'link') unlinkSync(aside);
    else discard(aside, name);
    return true;
  };
  /** Exchanges an unchanged copy of ours, or a folder of another installer with the files of the skill, for a link. */
  const takeOver = (name: string): boolean => {
    const isForeign = change.takeOver === true && hasSameFiles(at(name), path.join(root, name));
    if (!isForeign && !(hasCopy(name) && isOurCopy(at(name), name))) return false;
    const fresh = at(`.${name}${FRESH}`);
    if (isOurLink(fresh, name)) unlinkSync(fresh);
    symlinkSync(linkTarget(name), fresh, 'dir');
    discard(at(name), name);
    renameSync(fresh, at(name));
    return true;
  };
  /** False if the file system does not support links. */
  const link = (name: string): boolean => {
    try {
      symlinkSync(linkTarget(name), at(name), process.platform === 'win32' ? 'junction' : 'dir');
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (NO_LINKS.has(error.code)) return false;
      if (error.code !== 'EEXIST') throw error;
      if (isOurLink(at(name), name) || takeOver(name)) added.push(name);
      else failForeign(name);
      return true;
    }
    added.push(name);
    undo.push(() => void tryFolderChange({ ...change, add: [], remove: [name] }, context, undefined));
    return true;
  };
  const copy = (name: string): void => {
    const place = at(name);
    const present = lstatSync(place, { throwIfNoEntry: false });
    const staged = copies?.get(name);
    if (staged === undefined) return fail(name, 'could not be copied');
    const isLink = isOurLink(place, name);
    const isSame = present?.isDirectory() === true && digestFolder(place, context.locks(name).after) === staged.digest;
    if (present !== undefined && !isLink && !isSame && !isOurCopy(place, name)) return failForeign(name);
    if (!isSame) {
      const old = at(`.${name}${ASIDE}`);
      removeLeftover(old, name);
      if (isLink) unlinkSync(place);
      else if (present !== undefined) renameSync(place, old);
      moveInto(staged.path, place, at(`.${name}${FRESH}`));
      removeLeftover(old, name);
      if (present === undefined) undo.push(() => rmSync(path.join(real, name), { recursive: true, force: true }));
    }
    added.push(name);
    digests.set(name, staged.digest);
  };
  /** Moves the entry aside before the check, so that an entry that replaces it meanwhile is not removed. */
  const remove = (name: string): void => {
    const aside = at(`.${name}${ASIDE}`);
    removeLeftover(aside, name);
    if (lstatSync(aside, { throwIfNoEntry: false }) !== undefined) return fail(name, 'could not be moved aside');
    const isThere = tryRename(at(name), aside);
    if (isThere && !removeLeftover(aside, name)) {
      if (lstatSync(at(name), { throwIfNoEntry: false }) === undefined) renameSync(aside, at(name));
      return fail(name, 'was changed after the install and was kept: delete it if you do not need it');
    }
    removed.push(name);
    if (isThere && change.kind === 'link') undo.push(() => symlinkSync(linkTarget(name), path.join(real, name), 'dir'));
  };

  for (const name of change.remove) remove(name);
  for (const name of change.add) {
    if (change.kind === 'copy') copy(name);
    else if (!link(name)) return 'no-links';
  }
  syncDescriptor(directory.descriptor);
  const undoAll = (): void => {
    for (const step of undo.toReversed()) step();
  };
  return { change, kind: change.kind, added, digests, removed, unplaced, undo: undoAll };
}

/** Errors of file systems and systems without symbolic links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
const FOREIGN_ENTRY = 'exists and was not created by skillwright: move it away first';
const EDITED_COPY = 'was edited after it was copied and was kept: move it away first';
const ASIDE = '.skillwright-old';
const FRESH = '.skillwright-new';
const GONE = '.skillwright-gone';

/** Whether the entry is a link that leads to `target`, which need not exist. `real` is the folder of the entry. */
export function isLinkTo(place: string, { real, target }: { readonly real: string; readonly target: string }): boolean {
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
  return path.resolve(real, readlinkSync(place)) === target;
}

function moveInto(staged: string, place: string, beside: string): void {
  try {
    renameSync(staged, place);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EXDEV') throw error;
    rmSync(beside, { recursive: true, force: true });
    cpSync(staged, beside, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    renameSync(beside, place);
  }
}

/** False if there is nothing to rename. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}

function emptyOutcome(change: FolderChange): FolderOutcome {
  return { change, kind: change.kind, added: [], digests: new Map(), removed: [], unplaced: [], undo: () => undefined };
}

function failedOutcome(change: FolderChange, context: CopyContext, reason: string): FolderOutcome {
  const folder = path.resolve(context.root, change.folder);
  return { ...emptyOutcome(change), unplaced: unplacedAll(change, context, `${quoted(folder, 200)} ${reason}`) };
}

function unplacedAll(
  { folder, add, remove }: FolderChange,
  { root }: CopyContext,
  message: string,
): readonly Unplaced[] {
  return [...add, ...remove].map((name) => ({ folder: path.resolve(root, folder), name, message }));
}
