import { lstatSync, opendirSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { compareText } from '../core/diagnostic.ts';
import type { DirectoryEntry } from '../core/observation.ts';
import { toRelativePath } from '../core/path.ts';
import type { RelativePath } from '../core/path.ts';
import { systemFailure } from '../platform/fs/confined-open.ts';
import type { OpenFailed } from '../platform/fs/confined-open.ts';
import { inFolder } from '../platform/fs/held-folder.ts';
import { isSystemError } from '../platform/fs/paths.ts';

const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Where `delete_file` puts things; see `trash.ts`. */
const TRASHES: ReadonlySet<string> = new Set(['.agent/trash', '.trash']);

/** A folder whose insides nobody means who asks for a tree: what a tool keeps there, or what was deleted. */
export function isPassedOver({ name, path }: FolderEntry): boolean {
  return PASSED_OVER.has(name) || TRASHES.has(path);
}

export interface FolderEntry {
  readonly name: string;
  /** Relative to the root. */
  readonly path: RelativePath;
  readonly kind: DirectoryEntry['kind'];
  /** Of a file; 0 otherwise. */
  readonly bytes: number;
}

export type FolderEntries =
  | {
      readonly type: 'entries';
      readonly entries: readonly FolderEntry[];
      /** There are more names than were looked at, or some that no path can spell. */
      readonly isCut: boolean;
    }
  | OpenFailed;

/** What lies in one folder below `root`, sorted by name. No link is followed, on the way or in the folder. */
export function entriesIn(root: string, folder: RelativePath | '', maxNames: number): FolderEntries {
  return inFolder(root, folder, ({ place }): FolderEntries => {
    try {
      const { names, isCut } = namesIn(place, maxNames);
      const entries = names.flatMap((name) => entryOf(place, folder, name));
      return { type: 'entries', entries, isCut: isCut || entries.length < names.length };
    } catch (error) {
      return systemFailure(error);
    }
  });
}

function namesIn(place: string, maxNames: number): { readonly names: readonly string[]; readonly isCut: boolean } {
  const names: string[] = [];
  const folder = opendirSync(place, { bufferSize: 256 });
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.length >= maxNames) return { names: names.toSorted(compareText), isCut: true };
      names.push(entry.name);
    }
  } finally {
    folder.closeSync();
  }
  return { names: names.toSorted(compareText), isCut: false };
}

function entryOf(place: string, folder: string, name: string): readonly FolderEntry[] {
  const path = folder === '' ? name : `${folder}/${name}`;
  const reading = toRelativePath(path);
  // A name that no path can spell; or gone again.
  if (reading.type === 'refused' || reading.path !== path) return [];
  const stats = quietStats(`${place}/${name}`);
  if (stats === undefined) return [];
  const kind = kindOf(stats);
  return [{ name, path: reading.path, kind, bytes: kind === 'file' ? stats.size : 0 }];
}

function kindOf(stats: Stats): FolderEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
}

function quietStats(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
