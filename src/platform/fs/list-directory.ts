import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, statSync } from 'node:fs';

import { compareText } from '../../core/diagnostic.ts';
import { isSystemError } from './paths.ts';

/** The names in one directory by what they name, in the order of the file system; or why they cannot be had. */
export type Listing =
  | ({
      readonly type: 'listed';
      /** Directories and links whose names are not UTF-8: no text names them. */
      readonly undecodable: readonly UndecodableName[];
    } & Names)
  /** `code` is the system's: ENOENT, EACCES, ... */
  | { readonly type: 'failed'; readonly code: string };

interface Names {
  readonly folders: string[];
  readonly links: string[];
  readonly others: string[];
}

export interface UndecodableName {
  /** With U+FFFD for what cannot be shown. */
  readonly shown: string;
  readonly holdsSkill: boolean;
}

/** Lists a directory. A name with U+FFFD in it is looked at as bytes: it may be a name that no text can reach. */
export function listDirectory(directory: string): Listing {
  try {
    const folders: string[] = [];
    const links: string[] = [];
    const others: string[] = [];
    let isDoubtful = false;
    const entries = readdirSync(directory, { withFileTypes: true });
    // Counted: where nothing is compiled yet, an iterator makes an object at every step.
    for (let at = 0; at < entries.length; at += 1) {
      const entry = entries[at];
      if (entry === undefined) continue;
      const { name } = entry;
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isSymbolicLink()) links.push(name);
      else others.push(name);
      isDoubtful ||= name.includes('\uFFFD');
    }
    if (!isDoubtful) return { type: 'listed', folders, links, others, undecodable: [] };
    return { type: 'listed', ...withoutUndecodable(directory, { folders, links, others }) };
  } catch (error) {
    if (isSystemError(error)) return { type: 'failed', code: error.code };
    throw error;
  }
}

function withoutUndecodable(
  directory: string,
  { folders, links, others }: Names,
): Omit<Extract<Listing, { type: 'listed' }>, 'type'> {
  const reachable = new Set<string>();
  const undecodable: UndecodableName[] = [];
  for (const name of readdirSync(Buffer.from(directory), { encoding: 'buffer' })) {
    const shown = name.toString('utf8');
    if (isUtf8(name)) reachable.add(shown);
    else if (isDirectoryAt(directory, name)) undecodable.push({ shown, holdsSkill: holdsSkill(directory, name) });
  }
  const isReachable = (name: string): boolean => reachable.has(name);
  return {
    folders: folders.filter(isReachable),
    links: links.filter(isReachable),
    others: others.filter(isReachable),
    undecodable,
  };
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
  const names = allNames(listing).filter((name) => name.toLowerCase() === file.toLowerCase());
  return names.includes(file) ? file : names.toSorted(compareText).at(-1);
}

export function allNames({ folders, links, others }: Names): readonly string[] {
  return [...folders, ...links, ...others];
}
