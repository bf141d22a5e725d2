import { closeSync, lstatSync, opendirSync, readdirSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { toRelativePath } from '../../core/path.ts';
import { descriptorPath, openFolder } from './confined-open.ts';
import { isInside, isSystemError, tryRealPath } from './paths.ts';

export interface ConfinedEntry {
  /** Relative to the folder, as `read` takes it. */
  readonly path: string;
  /** Of a link: the length of where it points. */
  readonly bytes: number;
  readonly type: 'file' | 'link' | 'other';
  readonly isExecutable: boolean;
}

export interface ConfinedListing {
  readonly files: readonly ConfinedEntry[];
  /** There are more than are listed: too many, too deep, or with names that no path can spell. */
  readonly isCut: boolean;
}

export interface ListLimits {
  readonly maxFiles: number;
  /** Of folders in folders; 0 lists the top alone. */
  readonly maxDepth: number;
}

/** Where a listing starts: a folder held open, or the real path of one on systems that cannot list by descriptors. */
export type ListRoot = { readonly descriptor: number } | { readonly realPath: string };

interface Gathered extends ListLimits {
  readonly root: ListRoot;
  readonly files: ConfinedEntry[];
  isCut: boolean;
  /** Names looked at so far, folders included. */
  seen: number;
}

/** Folders whose insides are no part of a skill. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Names looked at for each file that may be listed: a tree of empty folders ends too. */
const NAMES_PER_FILE = 4;

/** Lists what lies below a folder. Shallow files come first where there are too many. */
export function listBeneath(root: ListRoot, limits: ListLimits): ConfinedListing {
  const gathered: Gathered = { ...limits, root, files: [], isCut: false, seen: 0 };
  listFolder(gathered, 'descriptor' in root ? descriptorPath(root.descriptor) : root.realPath, '', 0);
  return { files: gathered.files.toSorted((a, b) => compareText(a.path, b.path)), isCut: gathered.isCut };
}

function listFolder(gathered: Gathered, place: string, prefix: string, depth: number): void {
  const names = namesIn(gathered, place);
  if (!isRightPlace(gathered, place)) {
    gathered.isCut = true;
    return;
  }
  const folders: string[] = [];
  for (const name of names) {
    const stats = quietStats(path.join(place, name));
    if (stats === undefined) {
      // Gone again; or a name that is not UTF-8, which no text spells.
      gathered.isCut ||= name.includes('\uFFFD');
      continue;
    }
    const relative = prefix + name;
    const spelled = toRelativePath(relative);
    if (spelled.type === 'refused' || spelled.path !== relative) gathered.isCut = true;
    else if (stats.isDirectory()) {
      if (PASSED_OVER.has(name)) continue;
      if (depth < gathered.maxDepth) folders.push(name);
      else gathered.isCut = true;
    } else if (gathered.files.length === gathered.maxFiles) gathered.isCut = true;
    else {
      const type = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
      const isExecutable = type === 'file' && (stats.mode & 0o111) !== 0;
      gathered.files.push({ path: relative, bytes: stats.size, type, isExecutable });
    }
  }
  for (const name of folders) enterFolder(gathered, path.join(place, name), `${prefix}${name}/`, depth + 1);
}

function enterFolder(gathered: Gathered, place: string, prefix: string, depth: number): void {
  if (gathered.isCut && gathered.files.length === gathered.maxFiles) return;
  if ('realPath' in gathered.root) {
    listFolder(gathered, place, prefix, depth);
    return;
  }
  const opened = openFolder(place);
  if (opened.type !== 'folder') {
    gathered.isCut = true;
    return;
  }
  try {
    listFolder(gathered, descriptorPath(opened.descriptor), prefix, depth);
  } finally {
    closeSync(opened.descriptor);
  }
}

/** By descriptors the walk cannot be anywhere else; by paths a folder may have become a link just before it was listed. */
function isRightPlace({ root }: Gathered, place: string): boolean {
  return 'descriptor' in root || (tryRealPath(place) === place && isInside(place, root.realPath));
}

/**
 * A folder of this many bytes or fewer holds some hundreds of names, whatever the file system: those are read at once, in a third of
 * the time.
 */
const SMALL_FOLDER = 16 * 1024;

/** Sorted, and no more of them than are still to be looked at; none of a folder that cannot be read. */
function namesIn(gathered: Gathered, place: string): readonly string[] {
  const names: string[] = [];
  try {
    if (statSync(place).size <= SMALL_FOLDER) {
      const all = readdirSync(place).sort(compareText);
      const room = Math.max(0, gathered.maxFiles * NAMES_PER_FILE - gathered.seen);
      gathered.isCut ||= all.length > room;
      gathered.seen += all.length;
      return all.slice(0, room);
    }
    const folder = opendirSync(place, { bufferSize: 256 });
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (gathered.seen >= gathered.maxFiles * NAMES_PER_FILE) {
          gathered.isCut = true;
          break;
        }
        gathered.seen += 1;
        names.push(entry.name);
      }
    } finally {
      folder.closeSync();
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    gathered.isCut = true;
  }
  return [...new Set(names)].toSorted(compareText);
}

function quietStats(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
