import { isUtf8 } from 'node:buffer';
import { chmodSync, lstatSync, readdirSync, type Dirent } from 'node:fs';

import { isSystemError } from '#platform';

export interface ListedFolder {
  /** Entries whose names are UTF-8: others cannot be named in a mount. */
  readonly entries: readonly Dirent[];
  /** Those whose names are not UTF-8. */
  readonly unnamed: readonly { readonly name: Buffer; readonly isFolder: boolean }[];
  readonly isUnreadable: boolean;
  /** Why a folder that exists could not be listed, apart from its rights: `ENAMETOOLONG`, `EIO`. */
  readonly failed?: string;
}

const NOTHING: ListedFolder = { entries: [], unnamed: [], isUnreadable: false };

/** Removed, or replaced by a file or a link. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** The entries of a folder; none if it is gone by now. */
export function listFolder(folder: string | Buffer): ListedFolder {
  try {
    return withRights(folder, () => readEntries(folder));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const { code } = error;
    const isUnreadable = code === 'EACCES' || code === 'EPERM';
    return { ...NOTHING, isUnreadable, ...(isUnreadable || GONE.has(code) ? {} : { failed: code }) };
  }
}

/** Does something in a folder of the user. A program could take away the rights to list or change the folder, so its mode is no obstacle. */
function withRights<Result>(folder: string | Buffer, act: () => Result): Result {
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
  const unnamed = raw.flatMap((entry) =>
    isUtf8(entry.name) ? [] : [{ name: entry.name, isFolder: entry.isDirectory() }],
  );
  return { ...NOTHING, entries, unnamed };
}
