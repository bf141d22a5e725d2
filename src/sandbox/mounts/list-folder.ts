import { isUtf8 } from 'node:buffer';
import { chmodSync, lstatSync, readdirSync, type Dirent } from 'node:fs';

import { isSystemError } from '#platform';

export interface ListedFolder {
  /** Entries whose names are UTF-8: others cannot be named in a mount. */
  readonly entries: readonly Dirent[];
  /** Names of folders that are not UTF-8. */
  readonly unnamed: readonly Buffer[];
  readonly isUnreadable: boolean;
}

const NOTHING: ListedFolder = { entries: [], unnamed: [], isUnreadable: false };

/** The entries of a folder; none if it is gone by now. */
export function listFolder(folder: string | Buffer): ListedFolder {
  try {
    return withRights(folder, () => readEntries(folder));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { ...NOTHING, isUnreadable: error.code === 'EACCES' || error.code === 'EPERM' };
  }
}

/** Does something in a folder of the user. A program could take away the rights to list or change the folder, so its mode is no obstacle. */
export function withRights<Result>(folder: string | Buffer, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EACCES') throw error;
  }
  const { mode } = lstatSync(folder);
  chmodSync(folder, 0o700);
  try {
    return act();
  } finally {
    chmodSync(folder, mode & 0o7777);
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
