/**
 * Finds the files of a workspace that match patterns. Works by descriptors: no link is followed, only the folders on the current path are
 * open, and memory use is bounded however many files a program left.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, opendirSync, type Dir, type Dirent } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compareText, printable, toRelativePath, type compileGlob, isProblem } from '#core';
import { DirectoryHandle, isSystemError, quietly } from '#platform';
import { isFreeName } from '../workspace/layout.ts';
import type { WorkspaceFolders, SkipReason } from './collect-folders.ts';

export type Glob = ReturnType<typeof compileGlob>;

export interface WalkLimits {
  /** Maximum number of names that are remembered, for files and for irregular entries. */
  readonly maxKept: number;
  readonly maxDepth: number;
  /** Maximum number of names that are examined. */
  readonly maxNames: number;
  /** Leaves out what was last changed before this time, in milliseconds. */
  readonly changedSince?: number;
  /** Names of the skills that programs see mounted. */
  readonly skills?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A matching entry that must not be opened. */
interface IrregularEntry {
  /** Safe to print. It is the real path unless `reason` is `name`. */
  readonly name: string;
  readonly reason: Extract<SkipReason, 'name' | 'link' | 'not-regular' | 'too-deep' | 'unreadable'>;
}

export interface WalkResult {
  /** The first matches in name order. */
  readonly files: readonly string[];
  /** Number of all matches. */
  readonly fileCount: number;
  readonly irregular: readonly IrregularEntry[];
  readonly irregularCount: number;
  /** The walk stopped at `maxNames`. */
  readonly isCut: boolean;
  /** Indexes of the patterns without a match. */
  readonly unmatched: readonly number[];
}

/** Maximum time before the walk yields to other work. */
const SLICE_MS = 10;
const NAMES_BETWEEN_CHECKS = 64;

interface Level {
  readonly folder: DirectoryHandle;
  readonly names: Dir;
  readonly relative: string;
  readonly depth: number;
}

export async function walkOutputs(
  folders: WorkspaceFolders,
  globs: readonly Glob[],
  { maxKept, maxDepth, maxNames, changedSince, skills = [], signal }: WalkLimits,
): Promise<WalkResult> {
  const reasons = new Map<string, IrregularEntry['reason']>();
  const files = firstNames(maxKept);
  const irregular = firstNames(maxKept, (name) => reasons.delete(name));
  const unmatched = new Set(globs.keys());
  let levels: Level[] = [];
  let seen = 0;

  const note = (name: string, reason: IrregularEntry['reason']): void => {
    if (!reasons.has(name) && irregular.add(name)) reasons.set(name, reason);
  };
  /** Takes ownership of the folder. */
  const descend = (folder: DirectoryHandle, relative: string): void => {
    try {
      const names = opendirSync(folder.place, { encoding: 'latin1', bufferSize: 256 });
      const level = { folder, names, relative, depth: (levels.at(-1)?.depth ?? 0) + 1 };
      if (folder.isInPlace()) {
        levels.push(level);
        return;
      }
      closeLevel(level);
      note(relative, 'link');
    } catch (error) {
      folder.close();
      if (!isSystemError(error)) throw error;
      note(relative, 'unreadable');
    }
  };
  /** Tests every pattern until each has matched once; after that the first match is enough. */
  const isMatched = (name: string): boolean => {
    if (unmatched.size === 0) return globs.some((glob) => glob.matches(name));
    let isFound = false;
    for (const [place, glob] of globs.entries()) {
      if ((isFound && !unmatched.has(place)) || !glob.matches(name)) continue;
      unmatched.delete(place);
      isFound = true;
    }
    return isFound;
  };
  /** A program can set the modification time, but not the time of the change. */
  const isChanged = (place: string): boolean =>
    // The entry is gone, or cannot be read: opening it tells.
    changedSince === undefined || quietly(() => lstatSync(place).ctimeMs >= changedSince, true);
  const look = (level: Level, entry: Dirent): void => {
    const { text, isValid } = decodedName(entry.name);
    // A pattern matches files of a skill only if it names `skills`.
    if (level.relative === '' && !isFreeName(text)) return;
    const name = joined(level.relative, text);
    const kind = classifyEntry(level.folder.place, entry, text);
    if (kind === undefined) return;
    const place = `${level.folder.place}/${text}`;
    // A link may lead to a folder, so it is reported wherever a pattern would descend into one, but not in every run after it was made.
    const isEntered = kind === 'folder' || (kind === 'link' && isChanged(place));
    const isReached = isEntered && globs.some((glob) => glob.reaches(name));
    const isMatch = kind !== 'folder' && isMatched(name) && isChanged(place);
    if (!isReached && !isMatch) return;
    if (!isValid || !isOpenable(name)) note(shownName(level.relative, entry.name), 'name');
    else if (kind === 'file') files.add(name);
    else if (kind === 'link') note(name, 'link');
    else if (kind === 'other') note(name, 'not-regular');
    else if (level.depth >= maxDepth) note(name, 'too-deep');
    else {
      const opened = level.folder.tryChild(text);
      if (opened.type === 'directory') descend(opened.directory, name);
      else if (opened.type === 'link') note(name, 'link');
      else if (opened.type === 'failed' && opened.code !== 'file/missing') note(name, 'unreadable');
    }
  };
  const nextEntry = (level: Level): Dirent | null => {
    try {
      return level.names.readSync();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      note(level.relative, 'unreadable');
      return null;
    }
  };

  for (const start of startFolders(globs, skills)) {
    signal?.throwIfAborted();
    const entered = folders.enter(start);
    if (entered.type === 'link' || entered.type === 'unreadable') note(entered.at, entered.type);
    if (entered.type !== 'open') continue;
    const { place, confinement } = entered.folder;
    try {
      // Opened again, with a lifetime of its own.
      descend(DirectoryHandle.open(place, { followLink: true, confinement }), start);
      let sliceEnd = performance.now() + SLICE_MS;
      for (let level = levels.at(-1); level !== undefined && seen < maxNames; level = levels.at(-1)) {
        const entry = nextEntry(level);
        if (entry === null) {
          levels.pop();
          closeLevel(level);
        } else look(level, entry);
        seen += 1;
        if (seen % NAMES_BETWEEN_CHECKS !== 0 || performance.now() < sliceEnd) continue;
        await nextTurn();
        signal?.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      }
    } finally {
      for (const level of levels) closeLevel(level);
      levels = [];
    }
  }
  return {
    files: files.sorted(),
    fileCount: files.count(),
    irregular: irregular.sorted().flatMap((name) => {
      const reason = reasons.get(name);
      return reason === undefined ? [] : [{ name, reason }];
    }),
    irregularCount: irregular.count(),
    isCut: seen >= maxNames,
    unmatched: [...unmatched],
  };
}

/** The prefixes of the patterns, without nested ones. The empty prefix is the workspace without its skills. */
function startFolders(globs: readonly Glob[], skills: readonly string[]): readonly string[] {
  const inSkills = skills.map((name) => `skills/${name}`);
  const prefixes = new Set(
    globs.flatMap(({ prefix }) => (prefix === 'skills' && skills.length > 0 ? inSkills : [prefix])),
  );
  const isNested = (prefix: string): boolean =>
    [...prefixes].some((other) => prefix.startsWith(`${other}/`)) ||
    (prefix !== '' && prefixes.has('') && !isInSkills(prefix));
  return [...prefixes]
    .filter((prefix) => prefix === '' || isInSkills(prefix) || isFreeName(prefix.split('/', 1)[0] ?? ''))
    .filter((prefix) => !isNested(prefix) && globs.some((glob) => glob.reaches(prefix)))
    .toSorted(compareText);
}

export function isInSkills(prefix: string): boolean {
  return prefix === 'skills' || prefix.startsWith('skills/');
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function closeLevel({ folder, names }: Level): void {
  names.closeSync();
  folder.close();
}

type Kind = 'file' | 'folder' | 'link' | 'other';

/** The type that the folder reports, which is checked again when the file is opened. `undefined` if the entry is gone. */
function classifyEntry(place: string, entry: Dirent, text: string): Kind | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return 'other';
  // Some file systems do not report types.
  try {
    const stats = lstatSync(`${place}/${text}`, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    if (isSystemError(error)) return 'other';
    throw error;
  }
}

/** Decodes a name that was read as latin1 so that no byte is lost. `text` has U+FFFD for bytes that are not UTF-8. */
function decodedName(raw: string): { readonly text: string; readonly isValid: boolean } {
  if (ASCII.test(raw)) return { text: raw, isValid: true };
  const bytes = Buffer.from(raw, 'latin1');
  return { text: bytes.toString('utf8'), isValid: isUtf8(bytes) };
}

const ASCII = /^[\x00-\x7f]*$/;

/** Whether the name can be used as a path in requests. */
function isOpenable(name: string): boolean {
  const reading = toRelativePath(name);
  return !isProblem(reading) && reading === name;
}

function shownName(relative: string, raw: string): string {
  const { text, isValid } = decodedName(raw);
  if (isValid) return printable(joined(relative, text));
  const bytes = raw.replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return joined(printable(relative), bytes);
}

/** Keeps the first names in sorted order out of many, in bounded memory. */
interface FirstNames {
  /** Returns whether the name is among the first so far. */
  add(name: string): boolean;
  sorted(): readonly string[];
  count(): number;
}

function firstNames(room: number, forget: (name: string) => void = () => undefined): FirstNames {
  let names: string[] = [];
  /** Names after it cannot be among the first. */
  let last: string | undefined;
  let count = 0;
  const cut = (): void => {
    const sorted = names.toSorted(compareText);
    for (const name of sorted.slice(room)) forget(name);
    names = sorted.slice(0, room);
    if (names.length === room) last = names.at(-1);
  };
  return {
    add(name) {
      count += 1;
      if (last !== undefined && name > last) return false;
      names.push(name);
      if (names.length >= room * 2 + NAMES_BETWEEN_CHECKS) cut();
      return true;
    },
    sorted() {
      cut();
      return names;
    },
    count: () => count,
  };
}
