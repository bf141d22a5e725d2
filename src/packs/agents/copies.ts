/** Copies of skills in the folders of agents: how they are made and recognized. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { copyTree, makeFolders } from '#platform';
import { findDrift, type LockedSkill, type LockedFile } from '../lock/lock-file.ts';
import { isRefusal } from '../problems.ts';
import { presentFiles } from '../root/present-files.ts';
import { timedName } from '../root/root-paths.ts';

/** Whether a folder is a copy that the lock entry describes. Copies of a merged skill have their own digests. */
export function isCopyOf(place: string, lock: LockedSkill, folder: string): boolean {
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const digest = digestFolder(place, lock);
  return digest !== undefined && (digest === lock.digest || digest === lock.copyDigests?.[folder]);
}

export function digestFolder(place: string, lock: LockedSkill | undefined): string | undefined {
  const tree = presentFiles(place, { withoutLooks: true, locked: lock?.files });
  return isRefusal(tree) ? undefined : tree.digest;
}

interface StagedCopy {
  readonly path: string;
  readonly digest: string;
}

export type StagedCopies = ReadonlyMap<string, StagedCopy>;

export interface CopyContext {
  /** The root, as a real path. */
  readonly root: string;
  /** An empty folder of ours on the file system of the root, for copies. */
  readonly staging: string;
  /** The lock entries of a skill before and after the change. */
  readonly locks: (name: string) => { readonly before?: LockedSkill; readonly after?: LockedSkill };
}

/** Copies the skills to the staging folder, so that each one appears complete in the folder of the agent. */
export async function stageCopies(
  add: readonly string[],
  { root, staging, locks }: CopyContext,
): Promise<StagedCopies> {
  const staged = new Map<string, StagedCopy>();
  if (add.length > 0) makeFolders(staging, 0o700);
  for (const name of add) {
    const to = path.join(staging, timedName(new Date(), name));
    const copied = await copyTree(path.join(root, name), { to, permissions: 'writable' });
    const digest = copied.type === 'digest' ? digestFolder(to, locks(name).after) : undefined;
    if (digest !== undefined) staged.set(name, { path: to, digest });
  }
  return staged;
}

/** Files that openskills adds, and files that `npx skills` leaves out. */
const ADDED: ReadonlySet<string> = new Set(['.openskills.json']);
const OMITTED: ReadonlySet<string> = new Set(['metadata.json']);

type Files = Readonly<Record<string, LockedFile>>;

/** How a folder differs from the files of a skill, apart from what other installers do to every skill. Undefined if it is no folder. */
export function differenceFrom(folder: string, files: Files): readonly string[] | undefined {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const tree = presentFiles(folder, { withoutLooks: true });
  if (isRefusal(tree)) return undefined;
  const { changed, missing, added } = findDrift(withoutModes(files), withoutModes(tree.files));
  return [
    ...changed,
    ...missing.filter((file) => !OMITTED.has(path.posix.basename(file))),
    ...added.filter((file) => !ADDED.has(file)),
  ];
}

/** Whether a folder is a copy of a skill that is installed elsewhere. */
export function hasSameFiles(folder: string, skill: string): boolean {
  const tree = presentFiles(skill, { withoutLooks: true });
  return !isRefusal(tree) && differenceFrom(folder, tree.files)?.length === 0;
}

/** Other installers lose the executable bit. */
function withoutModes(files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([file, { sha256, bytes }]) => [file, { sha256, bytes }]));
}
