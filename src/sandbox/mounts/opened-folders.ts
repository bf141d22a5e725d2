/**
 * Folders of the user after a program, which may have closed them, swapped them with links or nested them beyond the longest path. Paths
 * and names are strings of bytes (`latin1`), because a program chooses names that are no text.
 */
import { isUtf8 } from 'node:buffer';
import { chmodSync, closeSync, fstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';

import { isSystemError, OPEN_FLAGS } from '#platform';

/** The code of a system error, such as `EACCES`. */
export interface FolderFailure {
  readonly failed: string;
}

interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly isLink: boolean;
}

interface OpenedFolder {
  /** The path by which entries are reached, which no link that appears meanwhile leads elsewhere. */
  readonly at: string;
  /** `device:inode`, which a folder keeps when it is renamed. */
  readonly identity: string;
}

const hasDescriptorPaths = process.platform === 'linux';
/** A folder with a longer path is not opened: its entries could have paths that no system call takes. */
export const MAX_FOLDER_BYTES = hasDescriptorPaths ? 3_500 : 700;

export function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

export function isText(bytes: string): boolean {
  return isUtf8(Buffer.from(bytes, 'latin1'));
}

/** The text of bytes, or the bytes themselves where they are no text. */
export function toText(bytes: string): string {
  return isText(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}

export function attempt<Result>(act: () => Result): Result | FolderFailure {
  try {
    return act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { failed: error.code };
  }
}

export class OpenedFolders {
  readonly #modes: (readonly [string, number])[] = [];

  /** The entries of a folder with its identity. */
  list(folder: string): { readonly entries: readonly FolderEntry[]; readonly identity: string } | FolderFailure {
    return this.use(folder, 0o500, ({ at, identity }) => {
      const found = readdirSync(at, { withFileTypes: true, encoding: 'buffer' });
      const entries = found.map((entry) => ({
        name: entry.name.toString('latin1'),
        isFolder: entry.isDirectory(),
        isLink: entry.isSymbolicLink(),
      }));
      return { entries, identity };
    });
  }

  /** Does something in a folder for which its owner needs these rights. They are given until `restore`. */
  use<Result>(folder: string, rights: number, act: (opened: OpenedFolder) => Result): Result | FolderFailure {
    return attempt(() => {
      const file = Buffer.from(folder, 'latin1');
      const descriptor = openSync(file, OPEN_FLAGS.heldFolder);
      try {
        const at = hasDescriptorPaths ? `/proc/self/fd/${String(descriptor)}` : folder;
        // A program of another session could have replaced a folder above it by a link.
        if (hasDescriptorPaths && readlinkSync(at, 'latin1') !== folder) return { failed: 'ESTALE' };
        const { dev, ino, mode, uid } = fstatSync(descriptor, { bigint: true });
        const bits = Number(mode) & 0o7777;
        if (Number(uid) === process.geteuid?.() && (bits & rights) !== rights) {
          chmodSync(at, bits | 0o700);
          this.#modes.push([folder, bits]);
        }
        return act({ at, identity: `${String(dev)}:${String(ino)}` });
      } finally {
        closeSync(descriptor);
      }
    });
  }

  /** Gives every folder its mode again. Inner folders come first, because outer ones may close them. */
  restore(): void {
    for (const [folder, mode] of this.#modes.toReversed()) this.use(folder, 0, ({ at }) => chmodSync(at, mode));
    this.#modes.length = 0;
  }
}
