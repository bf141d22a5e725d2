import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';

import { compareText } from '../core/diagnostic.ts';
import { isSystemError } from './paths.ts';

/** One directory's entries in the order of the file system; or why they cannot be had. */
export type Listing =
  | {
      readonly type: 'listed';
      readonly entries: readonly Dirent[];
      /** Directories and links whose names are not UTF-8: no text names them. */
      readonly undecodable: readonly UndecodableName[];
    }
  /** `code` is the system's: ENOENT, EACCES, ... */
  | { readonly type: 'failed'; readonly code: string };

export interface UndecodableName {
  /** With U+FFFD for what cannot be shown. */
  readonly shown: string;
  readonly holdsSkill: boolean;
}

/** Lists a directory. A name with U+FFFD in it is looked at as bytes: it may be a name that no text can reach. */
export function listDirectory(directory: string): Listing {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    if (!entries.some(({ name }) => name.includes('\uFFFD'))) return { type: 'listed', entries, undecodable: [] };
    return { type: 'listed', ...withoutUndecodable(directory, entries) };
  } catch (error) {
    if (isSystemError(error)) return { type: 'failed', code: error.code };
    throw error;
  }
}

function withoutUndecodable(
  directory: string,
  entries: readonly Dirent[],
): Omit<Extract<Listing, { type: 'listed' }>, 'type'> {
  const reachable = new Set<string>();
  const undecodable: UndecodableName[] = [];
  for (const name of readdirSync(Buffer.from(directory), { encoding: 'buffer' })) {
    const shown = name.toString('utf8');
    if (isUtf8(name)) reachable.add(shown);
    else if (isDirectoryAt(directory, name)) undecodable.push({ shown, holdsSkill: holdsSkill(directory, name) });
  }
  return { entries: entries.filter(({ name }) => reachable.has(name)), undecodable };
}

function isDirectoryAt(directory: string, name: Buffer): boolean {
  return (
    statSync(Buffer.concat([Buffer.from(`${directory}/`), name]), { throwIfNoEntry: false })?.isDirectory() ?? false
  );
}

function holdsSkill(directory: string, name: Buffer): boolean {
  const file = Buffer.concat([Buffer.from(`${directory}/`), name, Buffer.from('/SKILL.md')]);
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Which directory a path leads to, links followed. */
export interface DirectoryIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** `missing`: nothing there, a broken link included. `other`: something that is no directory. */
export type DirectoryStatus =
  | ({ readonly type: 'directory' } & DirectoryIdentity)
  | { readonly type: 'missing' }
  | { readonly type: 'other' }
  | { readonly type: 'failed'; readonly code: string };

/** Looks at a path, links followed. */
export function directoryStatus(directory: string): DirectoryStatus {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return { type: 'missing' };
    return stats.isDirectory() ? { type: 'directory', dev: stats.dev, ino: stats.ino } : { type: 'other' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === 'ELOOP' || error.code === 'ENOTDIR'
      ? { type: 'missing' }
      : { type: 'failed', code: error.code };
  }
}

/** How a file is spelled in its directory, case aside: as asked for where that is there, else in another case; nothing where it is not. */
export function spellingOf(directory: string, file: string): string | undefined {
  const listing = listDirectory(directory);
  if (listing.type === 'failed') return undefined;
  const names = listing.entries.map(({ name }) => name).filter((name) => name.toLowerCase() === file.toLowerCase());
  return names.includes(file) ? file : names.toSorted(compareText).at(-1);
}
