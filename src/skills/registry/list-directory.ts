import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, statSync } from 'node:fs';

import { compareText } from '#core';
import { isSystemError } from '#platform';

/** The names in one directory by kind, in the order of the file system. */
export type Listing =
  | ({
      readonly type: 'listed';
      /** Directories and links with names that are not UTF-8: no text path reaches them. */
      readonly undecodable: readonly UndecodableName[];
    } & Names)
  /** `code`: ENOENT, EACCES, ... */
  | { readonly type: 'failed'; readonly code: string };

interface Names {
  readonly folders: string[];
  readonly links: string[];
  readonly others: string[];
}

interface UndecodableName {
  /** With U+FFFD for bytes that are not UTF-8. */
  readonly shown: string;
  readonly holdsSkill: boolean;
}

/** Lists a directory. A name with U+FFFD is checked as bytes, because it may not be UTF-8. */
export function listDirectory(directory: string): Listing {
  try {
    const folders: string[] = [];
    const links: string[] = [];
    const others: string[] = [];
    let hasReplacement = false;
    const entries = readdirSync(directory, { withFileTypes: true });
    for (const entry of entries) {
      const { name } = entry;
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isSymbolicLink()) links.push(name);
      else others.push(name);
      hasReplacement ||= name.includes('\uFFFD');
    }
    if (!hasReplacement) return { type: 'listed', folders, links, others, undecodable: [] };
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

/** Identifies the directory that a path leads to, links followed. */
export interface DirectoryIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** `missing`: nothing or a broken link. `other`: not a directory. */
export type DirectoryStatus =
  | ({ readonly type: 'directory' } & DirectoryIdentity)
  | { readonly type: 'missing' }
  | { readonly type: 'other' }
  | { readonly type: 'failed'; readonly code: string };

/** Links are followed. */
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

/** The spelling of a file name in its directory: exact if it exists, otherwise in another case; `undefined` if it does not exist. */
export function findSpelling(directory: string, file: string): string | undefined {
  const listing = listDirectory(directory);
  if (listing.type === 'failed') return undefined;
  const names = allNames(listing).filter((name) => name.toLowerCase() === file.toLowerCase());
  return names.includes(file) ? file : names.toSorted(compareText).at(-1);
}

export function allNames({ folders, links, others }: Names): readonly string[] {
  return [...folders, ...links, ...others];
}
