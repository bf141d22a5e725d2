import type { Stats } from 'node:fs';

import { toRelativePath, type RelativePath, type Observation, type OfType, isProblem } from '#core';
import { listBeneath, type OpenFailed } from '#platform';

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Records, and the folders of `trash.ts`. */
const OWN_DATA = /(?:^|\/)\.agent\/(?:trash|runs|evals)$|^\.trash$/;

/** Whether a folder, relative to the root, must not be entered. */
export type IsClosed = (folder: RelativePath) => boolean;

/** True for folders that a recursive listing does not enter: tool data and deleted files. */
export function isSkipped({ name, path }: FolderEntry): boolean {
  return SKIPPED.has(name) || OWN_DATA.test(path);
}

export interface FolderEntry {
  readonly name: string;
  readonly path: RelativePath;
  readonly kind: OfType<Observation, 'directory-listed'>['entries'][number]['kind'];
  /** Size of a file; 0 otherwise. */
  readonly bytes: number;
}

export type FolderEntries =
  | {
      readonly type: 'entries';
      readonly entries: readonly FolderEntry[];
      /** Some entries are missing: too many, or with names that are not valid paths. */
      readonly isCut: boolean;
    }
  | OpenFailed;

/** The entries of one folder below `root`, sorted by name. No link is followed. */
export function entriesIn(root: string, folder: RelativePath | '', maxNames: number): FolderEntries {
  const listed = listBeneath(root, folder, maxNames);
  if (listed.type === 'failed') return listed;
  const entries = listed.entries.flatMap((entry) => readEntry(folder, entry));
  return { type: 'entries', entries, isCut: listed.isCut || entries.length < listed.entries.length };
}

function readEntry(
  folder: string,
  { name, stats }: { readonly name: string; readonly stats: Stats | undefined },
): readonly FolderEntry[] {
  const path = folder === '' ? name : `${folder}/${name}`;
  const reading = toRelativePath(path);
  // Not a valid path, or the entry is gone by now.
  if (isProblem(reading) || reading !== path || stats === undefined) return [];
  const kind = classifyEntry(stats);
  return [{ name, path: reading, kind, bytes: kind === 'file' ? stats.size : 0 }];
}

function classifyEntry(stats: Stats): FolderEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
