/**
 * Makes installed skills visible in the folders of agents: relative links to the skills of a root, or copies where links are impossible. It
 * never replaces or removes an entry that it did not make. Each change checks the current state first, so that it can be repeated after an
 * interruption. A folder that cannot be used affects neither the root nor the other folders.
 */
import { cpSync, fsyncSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { quoted } from '#core';
import { isInside, isSystemError, makeFolders, type DirectoryHandle } from '#platform';
import { removeEmptyFolders, inTargetFolder, type TargetFolder } from './place-folder.ts';
import { timedName } from '../root/root-paths.ts';
import { baseOfRoot, isKnownFolder } from './agents.ts';
import {
  digestFolder,
  isCopyOf,
  stageCopies,
  hasSameFiles,
  type CopyContext,
  type StagedCopies,
  type StagedCopy,
} from './copies.ts';

export type PlacementKind = 'link' | 'copy';

/** What changes in one folder. */
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
    const done = inTargetFolder(place, context.root, { create: change.add.length > 0 }, (directory, real) => {
      const work = new Placing({ change, directory, real, root: context.root, context, copies });
      return work.run();
    });
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
  readonly root: string;
  readonly context: CopyContext;
  readonly copies: StagedCopies | undefined;
}

/** The work in one open folder. */
class Placing {
  readonly #input: PlacingInput;
  readonly #undo: (() => void)[] = [];
  readonly #added: string[] = [];
  readonly #digests = new Map<string, string>();
  readonly #removed: string[] = [];
  readonly #unplaced: Unplaced[] = [];

  constructor(input: PlacingInput) {
    this.#input = input;
  }

  run(): FolderOutcome | 'no-links' {
    const { change, directory } = this.#input;
    for (const name of change.remove) this.#remove(name);
    for (const name of change.add) {
      if (change.kind === 'copy') this.#copy(name);
      else if (!this.#link(name)) return 'no-links';
    }
    sync(directory);
    return {
      change,
      kind: change.kind,
      added: this.#added,
      digests: this.#digests,
      removed: this.#removed,
      unplaced: this.#unplaced,
      undo: () => {
        for (const step of this.#undo.toReversed()) step();
      },
    };
  }

  #at(name: string): string {
    return `${this.#input.directory.place}/${name}`;
  }

  /** False if the file system does not support links. */
  #link(name: string): boolean {
    const { real, root } = this.#input;
    const target = path.relative(real, path.join(root, name));
    try {
      symlinkSync(target, this.#at(name), process.platform === 'win32' ? 'junction' : 'dir');
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (NO_LINKS.has(error.code)) return false;
      if (error.code !== 'EEXIST') throw error;
      if (this.#isOurLink(this.#at(name), name) || this.#takeOver(name, target)) this.#added.push(name);
      else this.#foreign(name);
      return true;
    }
    this.#added.push(name);
    const { change, context } = this.#input;
    this.#undo.push(() => void tryFolderChange({ ...change, add: [], remove: [name] }, context, undefined));
    return true;
  }

  /** Exchanges an unchanged copy of ours, or a folder of another installer with the files of the skill, for a link. */
  #takeOver(name: string, target: string): boolean {
    const { change, root } = this.#input;
    const isForeign = change.takeOver === true && hasSameFiles(this.#at(name), path.join(root, name));
    if (!isForeign && !(this.#hasCopy(name) && this.#isOurCopy(this.#at(name), name))) return false;
    const fresh = this.#at(`.${name}${FRESH}`);
    if (this.#isOurLink(fresh, name)) unlinkSync(fresh);
    symlinkSync(target, fresh, 'dir');
    this.#discard(this.#at(name), name);
    renameSync(fresh, this.#at(name));
    return true;
  }

  #hasCopy(name: string): boolean {
    const { change, context } = this.#input;
    return context.locks(name).before?.copies?.includes(change.folder) === true;
  }

  #isOurCopy(place: string, name: string): boolean {
    const { change, context } = this.#input;
    const { before, after } = context.locks(name);
    return [before, after].some((lock) => lock !== undefined && isCopyOf(place, lock, change.folder));
  }

  #copy(name: string): void {
    const { copies, context } = this.#input;
    const place = this.#at(name);
    const present = lstatSync(place, { throwIfNoEntry: false });
    const staged = copies?.get(name);
    if (staged === undefined) return this.#fail(name, 'could not be copied');
    const isLink = this.#isOurLink(place, name);
    if (present !== undefined && !isLink) {
      const isSame = present.isDirectory() && digestFolder(place, context.locks(name).after) === staged.digest;
      if (isSame) return this.#copied(name, staged);
      if (!this.#isOurCopy(place, name)) return this.#foreign(name);
    }
    const old = this.#at(`.${name}${ASIDE}`);
    this.#removeLeftover(old, name);
    if (isLink) unlinkSync(place);
    else if (present !== undefined) renameSync(place, old);
    moveInto(staged.path, place, this.#at(`.${name}${FRESH}`));
    this.#removeLeftover(old, name);
    this.#copied(name, staged);
    if (present === undefined)
      this.#undo.push(() => rmSync(path.join(this.#input.real, name), { recursive: true, force: true }));
  }

  #copied(name: string, { digest }: StagedCopy): void {
    this.#added.push(name);
    this.#digests.set(name, digest);
  }

  /** Moves the entry aside before the check, so that an entry that replaces it meanwhile is not removed. */
  #remove(name: string): void {
    const { change } = this.#input;
    const aside = this.#at(`.${name}${ASIDE}`);
    this.#removeLeftover(aside, name);
    if (lstatSync(aside, { throwIfNoEntry: false }) !== undefined) return this.#fail(name, 'could not be moved aside');
    if (!tryRename(this.#at(name), aside)) {
      this.#removed.push(name);
      return;
    }
    if (this.#removeLeftover(aside, name)) {
      this.#removed.push(name);
      if (change.kind === 'link') {
        const { real, root } = this.#input;
        this.#undo.push(() => symlinkSync(path.relative(real, path.join(root, name)), path.join(real, name), 'dir'));
      }
      return;
    }
    if (lstatSync(this.#at(name), { throwIfNoEntry: false }) === undefined) renameSync(aside, this.#at(name));
    this.#fail(name, 'was changed after the install and was kept: delete it if you do not need it');
  }

  /** Removes an entry that we made and moved aside, in this change or in an interrupted one. */
  #removeLeftover(aside: string, name: string): boolean {
    if (lstatSync(aside, { throwIfNoEntry: false }) === undefined || !this.#isOurs(aside, name)) return false;
    if (this.#input.change.kind === 'link') unlinkSync(aside);
    else this.#discard(aside, name);
    return true;
  }

  /** Moves a copy to the staging folder, which is cleared later: a partly deleted copy could not be recognized as ours. */
  #discard(aside: string, name: string): void {
    const { staging } = this.#input.context;
    makeFolders(staging, 0o700);
    try {
      renameSync(aside, path.join(staging, timedName(new Date(), name)));
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EXDEV') throw error;
      const gone = this.#at(`.${name}${GONE}`);
      rmSync(gone, { recursive: true, force: true });
      renameSync(aside, gone);
      rmSync(gone, { recursive: true });
    }
  }

  #isOurs(place: string, name: string): boolean {
    return this.#input.change.kind === 'link' ? this.#isOurLink(place, name) : this.#isOurCopy(place, name);
  }

  #isOurLink(place: string, name: string): boolean {
    return isLinkTo(place, { real: this.#input.real, target: path.join(this.#input.root, name) });
  }

  #foreign(name: string): void {
    this.#fail(name, this.#hasCopy(name) ? EDITED_COPY : FOREIGN_ENTRY);
  }

  #fail(name: string, reason: string): void {
    const { change, context } = this.#input;
    const folder = path.resolve(context.root, change.folder);
    this.#unplaced.push({ folder, name, message: `${quoted(path.join(folder, name), 200)} ${reason}` });
  }
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

function sync({ descriptor }: DirectoryHandle): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems cannot sync folders; they sync them with the files.
    if (!isSystemError(error) || error.code !== 'EINVAL') throw error;
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
