import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import { toRelativePath } from '../../core/path.ts';
import type { RelativePath } from '../../core/path.ts';
import { MAX_LINKS, pathBelow } from './confined-directory.ts';
import { failed, systemFailure } from './directory-handle.ts';
import type { OpenFailed } from './directory-handle.ts';
import { isInside, isSystemError, tryRealPath } from './paths.ts';

/** Where a path leads once its links are resolved; empty for the root itself. */
export type Resolution =
  | { readonly type: 'resolved'; readonly path: RelativePath | ''; readonly isThere: boolean }
  | OpenFailed;

/**
 * Resolves the links of a path below `root`, a real path, by hand: a link that leaves the root is refused before anything behind it is
 * looked at, so that no answer tells what lies outside. What is not there stays as it was written. Only a judgement: whoever opens the
 * path afterwards follows no link, and notices one that was put there since.
 */
export function resolveBeneath(root: string, asked: RelativePath | '', home: readonly string[]): Resolution {
  try {
    const walked = walk(root, asked, home);
    return walked.type === 'failed' ? walked : spelled(root, walked);
  } catch (error) {
    // No link any more, a moment after it was one.
    return isSystemError(error) && error.code === 'EINVAL' ? failed('file/changed') : systemFailure(error);
  }
}

interface Walked {
  readonly type: 'walked';
  /** What is there, as far as it goes. */
  readonly found: readonly string[];
  /** The rest, which is not. */
  readonly missing: readonly string[];
}

function walk(root: string, asked: string, home: readonly string[]): Walked | OpenFailed {
  // The next name stands last.
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
      // Only a link says `..` here, and nothing leads back out of what is not there.
      return rest.includes('..') ? failed('file/missing') : { type: 'walked', found, missing: [name, ...rest] };
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
  return { type: 'walked', found, missing: [] };
}

/** What a folder says about the names in it. */
export interface NamesOfFolder {
  /** Another name leads to the same file. */
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

/** A name as the folder has it: where capitals do not count, a rule for `.git` must not be passed by `.GIT`. */
export function spelledAs(name: string, { isSame, all }: NamesOfFolder): string {
  const lower = name.toLowerCase();
  const flipped = name === lower ? name.toUpperCase() : lower;
  // Where capitals count there is no such name, nearly always.
  if (flipped === name || !isSame(flipped)) return name;
  const names = all();
  return names.includes(name) ? name : (names.find((other) => other.toLowerCase() === lower) ?? name);
}

/** Real paths of other systems also know which of two forms of an accent a name has. */
function spelled(root: string, { found, missing }: Walked): Resolution {
  const place = path.join(root, ...found);
  const real = process.platform === 'linux' ? place : tryRealPath(place);
  if (real === undefined) return failed('file/changed');
  if (!isInside(real, root)) return failed('path/link-outside');
  const names = [...path.relative(root, real).split(path.sep), ...missing].filter((name) => name !== '');
  const isThere = missing.length === 0;
  if (names.length === 0) return { type: 'resolved', path: '', isThere };
  // A link may lead to a name that nobody could write.
  const reading = toRelativePath(names.join('/'));
  if (reading.type === 'refused') return failed(reading.failure.code);
  return { type: 'resolved', path: reading.path, isThere };
}
