import type { Stats } from 'node:fs';

import { compareText, toRelativePath, type RelativePath, type Observation, type OfType } from '#core';
import { inDirectory, readEntries, systemFailure, tryStat, type OpenFailed } from '#platform';

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
  return inDirectory(root, folder, ({ place }): FolderEntries => {
    try {
      const { entries: listed, isCut } = readEntries(place, maxNames);
      const names = listed.map(({ name }) => name).toSorted(compareText);
      const entries = names.flatMap((name) => readEntry(place, folder, name));
      return { type: 'entries', entries, isCut: isCut || entries.length < names.length };
    } catch (error) {
      return systemFailure(error);
    }
  });
}

function readEntry(place: string, folder: string, name: string): readonly FolderEntry[] {
  const path = folder === '' ? name : `${folder}/${name}`;
  const reading = toRelativePath(path);
  // Not a valid path, or the entry is gone by now.
  if (reading.type === 'refused' || reading.path !== path) return [];
  const stats = tryStat(`${place}/${name}`);
  if (stats === undefined) return [];
  const kind = classifyEntry(stats);
  return [{ name, path: reading.path, kind, bytes: kind === 'file' ? stats.size : 0 }];
}

function classifyEntry(stats: Stats): FolderEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
