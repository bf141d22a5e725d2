/**
 * Finds the files of a workspace that match patterns. Works by descriptors: no link is followed, only the folders on the current path are
 * open, and memory use is bounded however many files a program left.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, opendirSync, type Dir, type Dirent } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compareText, printable, toRelativePath, type Collected, type compileGlob, isProblem } from '#core';
import { type DirectoryHandle, isSystemError, quietly } from '#platform';
import type { WorkspaceFolders } from './collect-folders.ts';

type Glob = ReturnType<typeof compileGlob>;

export interface WalkLimits {
  /** Maximum number of names that are remembered, for files and for irregular entries. */
  readonly maxKept: number;
  readonly maxDepth: number;
  /** Maximum number of names that are examined. */
  readonly maxNames: number;
  /** Leaves out what was last changed before this time, in milliseconds. */
  readonly changedSince?: number;
  readonly signal?: AbortSignal;
}

/** A matching entry that must not be opened. */
export interface IrregularEntry {
  /** Safe to print. It is the real path unless `reason` is `name`. */
  readonly name: string;
  readonly reason: Extract<
    Collected['skipped'][number]['reason'],
    'name' | 'link' | 'not-regular' | 'too-deep' | 'unreadable'
  >;
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

/** Folders of programs. A pattern matches files of a skill only if it names `skills`. */
const TOP_FOLDERS: readonly string[] = ['out', 'runs', 'work'];
const NAMED_FOLDERS: ReadonlySet<string> = new Set([...TOP_FOLDERS, 'skills']);
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
  limits: WalkLimits,
): Promise<WalkResult> {
  const walk = new Walk(globs, limits);
  for (const start of startFolders(globs)) {
    limits.signal?.throwIfAborted();
    const entered = folders.enter(start);
    if (entered.type === 'open') await walk.below(folders.duplicate(entered.folder), start);
    else if (entered.type === 'link') walk.note({ name: entered.at, reason: 'link' });
    else if (entered.type === 'unreadable') walk.note({ name: entered.at, reason: 'unreadable' });
  }
  return walk.result();
}

/** The prefixes of the patterns, without nested ones. */
function startFolders(globs: readonly Glob[]): readonly string[] {
  const prefixes = new Set(globs.flatMap(({ prefix }) => (prefix === '' ? TOP_FOLDERS : [prefix])));
  return [...prefixes]
    .filter((prefix) => NAMED_FOLDERS.has(prefix.split('/', 1)[0] ?? ''))
    .filter((prefix) => ![...prefixes].some((other) => prefix.startsWith(`${other}/`)))
    .filter((prefix) => globs.some((glob) => glob.reaches(prefix)))
    .toSorted(compareText);
}

class Walk {
  readonly #globs: readonly Glob[];
  readonly #limits: WalkLimits;
  readonly #files: FirstNames;
  readonly #irregular: FirstNames;
  readonly #reasons = new Map<string, IrregularEntry['reason']>();
  readonly #unmatched: Set<number>;
  #seen = 0;

  constructor(globs: readonly Glob[], limits: WalkLimits) {
    this.#globs = globs;
    this.#limits = limits;
    this.#files = new FirstNames(limits.maxKept);
    this.#irregular = new FirstNames(limits.maxKept, (name) => this.#reasons.delete(name));
    this.#unmatched = new Set(globs.keys());
  }

  result(): WalkResult {
    const irregular = this.#irregular.sorted().flatMap((name) => {
      const reason = this.#reasons.get(name);
      return reason === undefined ? [] : [{ name, reason }];
    });
    return {
      files: this.#files.sorted(),
      fileCount: this.#files.count,
      irregular,
      irregularCount: this.#irregular.count,
      isCut: this.#isFull(),
      unmatched: [...this.#unmatched],
    };
  }

  note({ name, reason }: IrregularEntry): void {
    if (!this.#reasons.has(name) && this.#irregular.add(name)) this.#reasons.set(name, reason);
  }

  /** Takes ownership of the folder. */
  async below(start: DirectoryHandle, relative: string): Promise<void> {
    const levels: Level[] = [];
    try {
      this.#descend(levels, start, relative);
      let sliceEnd = performance.now() + SLICE_MS;
      for (let level = levels.at(-1); level !== undefined && !this.#isFull(); level = levels.at(-1)) {
        const entry = this.#nextEntry(level);
        if (entry === null) {
          levels.pop();
          closeLevel(level);
        } else this.#look(levels, level, entry);
        this.#seen += 1;
        if (this.#seen % NAMES_BETWEEN_CHECKS !== 0 || performance.now() < sliceEnd) continue;
        await nextTurn();
        this.#limits.signal?.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      }
    } finally {
      for (const level of levels) closeLevel(level);
    }
  }

  #isFull(): boolean {
    return this.#seen >= this.#limits.maxNames;
  }

  #nextEntry(level: Level): Dirent | null {
    try {
      return level.names.readSync();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.note({ name: level.relative, reason: 'unreadable' });
      return null;
    }
  }

  #look(levels: Level[], level: Level, entry: Dirent): void {
    const { text, isValid } = decodedName(entry.name);
    const name = `${level.relative}/${text}`;
    const kind = classifyEntry(level.folder.place, entry, text);
    if (kind === undefined) return;
    const isInside = kind === 'folder' && this.#globs.some((glob) => glob.reaches(name));
    // A link may lead to a folder, so it is reported wherever a pattern would descend into one.
    const isMatch = kind !== 'folder' && this.#match(name) && this.#isChanged(`${level.folder.place}/${text}`);
    if (!isInside && !isMatch && !(kind === 'link' && this.#globs.some((glob) => glob.reaches(name)))) return;
    if (!isValid || !isOpenable(name)) this.note({ name: shownName(level.relative, entry.name), reason: 'name' });
    else if (kind === 'file') this.#files.add(name);
    else if (kind === 'link') this.note({ name, reason: 'link' });
    else if (kind === 'other') this.note({ name, reason: 'not-regular' });
    else if (level.depth >= this.#limits.maxDepth) this.note({ name, reason: 'too-deep' });
    else this.#enter(levels, level, text, name);
  }

  /** A program can set the modification time, but not the time of the change. */
  #isChanged(place: string): boolean {
    const { changedSince } = this.#limits;
    if (changedSince === undefined) return true;
    // The entry is gone, or cannot be read: opening it tells.
    return quietly(() => lstatSync(place).ctimeMs >= changedSince, true);
  }

  /** Tests every pattern until each has matched once; after that the first match is enough. */
  #match(name: string): boolean {
    if (this.#unmatched.size === 0) return this.#globs.some((glob) => glob.matches(name));
    let isMatched = false;
    for (const [place, glob] of this.#globs.entries()) {
      if ((isMatched && !this.#unmatched.has(place)) || !glob.matches(name)) continue;
      this.#unmatched.delete(place);
      isMatched = true;
    }
    return isMatched;
  }

  #enter(levels: Level[], level: Level, text: string, name: string): void {
    const opened = level.folder.tryChild(text);
    if (opened.type === 'directory') this.#descend(levels, opened.directory, name);
    else if (opened.type === 'link') this.note({ name, reason: 'link' });
    else if (opened.type === 'failed' && opened.code !== 'file/missing') this.note({ name, reason: 'unreadable' });
  }

  #descend(levels: Level[], folder: DirectoryHandle, relative: string): void {
    try {
      const names = opendirSync(folder.place, { encoding: 'latin1', bufferSize: 256 });
      levels.push({ folder, names, relative, depth: (levels.at(-1)?.depth ?? 0) + 1 });
    } catch (error) {
      folder.close();
      if (!isSystemError(error)) throw error;
      this.note({ name: relative, reason: 'unreadable' });
      return;
    }
    if (folder.isInPlace()) return;
    const level = levels.pop();
    if (level !== undefined) closeLevel(level);
    this.note({ name: relative, reason: 'link' });
  }
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
  if (isValid) return printable(`${relative}/${text}`);
  const bytes = raw.replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `${printable(relative)}/${bytes}`;
}

/** Keeps the first names in sorted order out of many, in bounded memory. */
class FirstNames {
  readonly #room: number;
  readonly #forget: (name: string) => void;
  #names: string[] = [];
  /** Names after it cannot be among the first. */
  #last: string | undefined;
  count = 0;

  constructor(room: number, forget: (name: string) => void = () => undefined) {
    this.#room = room;
    this.#forget = forget;
  }

  /** Returns whether the name is among the first so far. */
  add(name: string): boolean {
    this.count += 1;
    if (this.#last !== undefined && name > this.#last) return false;
    this.#names.push(name);
    if (this.#names.length >= this.#room * 2 + NAMES_BETWEEN_CHECKS) this.#cut();
    return true;
  }

  sorted(): readonly string[] {
    this.#cut();
    return this.#names;
  }

  #cut(): void {
    const sorted = this.#names.toSorted(compareText);
    for (const name of sorted.slice(this.#room)) this.#forget(name);
    this.#names = sorted.slice(0, this.#room);
    if (this.#names.length === this.#room) this.#last = this.#names.at(-1);
  }
}
