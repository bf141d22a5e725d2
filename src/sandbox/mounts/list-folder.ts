import { isUtf8 } from 'node:buffer';
import { chmodSync, lstatSync, readdirSync, type Dirent } from 'node:fs';

import { isSystemError, quietly } from '#platform';

export interface ListedFolder {
  /** Entries whose names are UTF-8: others cannot be named in a mount. */
  readonly entries: readonly Dirent[];
  /** Names of folders that are not UTF-8. */
  readonly unnamed: readonly Buffer[];
  readonly isUnreadable: boolean;
}

const NOTHING: ListedFolder = { entries: [], unnamed: [], isUnreadable: false };

/** The entries of a folder; none if it is gone by now. A program could remove the right to list a folder of the user, so its mode is no obstacle. */
export function listFolder(folder: string | Buffer): ListedFolder {
  try {
    return readEntries(folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === 'EACCES' ? listUnreadable(folder) : NOTHING;
  }
}

function readEntries(folder: string | Buffer): ListedFolder {
  const all = readdirSync(folder, { withFileTypes: true });
  const entries = all.filter(({ name }) => !name.includes('\uFFFD'));
  if (entries.length === all.length) return { ...NOTHING, entries };
  const raw = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  const unnamed = raw.flatMap((entry) => (!isUtf8(entry.name) && entry.isDirectory() ? [entry.name] : []));
  return { ...NOTHING, entries, unnamed };
}

function listUnreadable(folder: string | Buffer): ListedFolder {
  const unreadable = { ...NOTHING, isUnreadable: true };
  return quietly(() => {
    const { mode } = lstatSync(folder);
    chmodSync(folder, 0o700);
    try {
      return readEntries(folder);
    } finally {
      chmodSync(folder, mode & 0o7777);
    }
  }, unreadable);
}
