import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';

import { toRelativePath, type RelativePath, isProblem } from '#core';
import { MAX_LINKS, pathBelow } from './confined-directory.ts';
import { failed, systemFailure, type OpenFailed } from './directory-handle.ts';
import { isInside, tryRealPath } from './paths.ts';
import { isSystemError } from '../system-error.ts';

/** The path with its links resolved; empty for the root itself. */
export type Resolution =
  | { readonly type: 'resolved'; readonly path: RelativePath | ''; readonly isThere: boolean }
  | OpenFailed;

/**
 * Resolves the links of a path below `root`, a real path. A link that leaves the root is refused before its target is accessed, so that
 * the result reveals nothing about what lies outside. Missing parts stay as written. The result is not a guarantee: callers open the
 * path without following links, and so notice a link that was created since.
 */
export function resolveBeneath(root: string, asked: RelativePath | '', home: readonly string[]): Resolution {
  try {
    const names = resolveNames(root, asked, home);
    return names.type === 'failed' ? names : spelled(root, names);
  } catch (error) {
    // The link was replaced by something else between two calls.
    return isSystemError(error) && error.code === 'EINVAL' ? failed('file/changed') : systemFailure(error);
  }
}

interface ResolvedNames {
  readonly type: 'names';
  /** The part of the path that exists. */
  readonly found: readonly string[];
  /** The rest. */
  readonly missing: readonly string[];
}

function resolveNames(root: string, asked: string, home: readonly string[]): ResolvedNames | OpenFailed {
  // The next name is last.
  const pending = asked.split('/').reverse();
  let found: string[] = [];
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (found.pop() === undefined) return failed('path/link-outside');
      continue;
    }
    const place = path.join(root, ...found, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    const rest = pending.filter((part) => part !== '' && part !== '.').reverse();
    if (stats === undefined)
      // `..` comes from a link target here, and a missing folder has no parent.
      return rest.includes('..') ? failed('file/missing') : { type: 'names', found, missing: [name, ...rest] };
    if (!stats.isSymbolicLink()) {
      if (!stats.isDirectory() && rest.length > 0) return failed('file/exists');
      found.push(spelledAs(name, folderAt(path.join(root, ...found), stats)));
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return failed('path/link-loop');
    const target = readlinkSync(place);
    const inside = path.isAbsolute(target) ? pathBelow(`${target}/`, home) : target;
    if (inside === undefined) return failed('path/link-outside');
    if (path.isAbsolute(target)) found = [];
    pending.push(...inside.split('/').reverse());
  }
  return { type: 'names', found, missing: [] };
}

export interface NamesOfFolder {
  /** True if another name leads to the same file. */
  readonly isSame: (other: string) => boolean;
  readonly all: () => readonly string[];
}

function folderAt(folder: string, { dev, ino }: Stats): NamesOfFolder {
  return {
    isSame: (other) => {
      const stats = lstatSync(path.join(folder, other), { throwIfNoEntry: false });
      return stats?.dev === dev && stats.ino === ino;
    },
    all: () => readdirSync(folder),
  };
}

/** A name as the folder spells it: on a case-insensitive file system `.GIT` must not bypass a rule for `.git`. */
export function spelledAs(name: string, { isSame, all }: NamesOfFolder): string {
  const lower = name.toLowerCase();
  const flipped = name === lower ? name.toUpperCase() : lower;
  // On a case-sensitive file system there is rarely such a name.
  if (flipped === name || !isSame(flipped)) return name;
  const names = all();
  return names.includes(name) ? name : (names.find((other) => other.toLowerCase() === lower) ?? name);
}

/** On other systems the real path also has the Unicode normalization of the stored name. */
function spelled(root: string, { found, missing }: ResolvedNames): Resolution {
  const place = path.join(root, ...found);
  const real = process.platform === 'linux' ? place : tryRealPath(place);
  if (real === undefined) return failed('file/changed');
  if (!isInside(real, root)) return failed('path/link-outside');
  const names = [...path.relative(root, real).split(path.sep), ...missing].filter((name) => name !== '');
  const isThere = missing.length === 0;
  if (names.length === 0) return { type: 'resolved', path: '', isThere };
  // A link may lead to a name that is not a valid path.
  const reading = toRelativePath(names.join('/'));
  if (isProblem(reading)) return failed(reading.code);
  return { type: 'resolved', path: reading, isThere };
}
