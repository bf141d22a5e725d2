/** Recognizes a skill folder that another installer made. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { findDrift } from '../lock/lock-file.ts';
import type { LockedFile } from '../lock/lock.ts';
import { isRefusal } from '../problems.ts';
import { presentFiles } from '../root/present-files.ts';

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
