/**
 * The names below a workspace that patterns match, found by descriptors: no link is followed, nothing is kept open but the folders
 * on the way down, and what is remembered has a bound, however many files a program left.
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, opendirSync } from 'node:fs';
import type { Dir, Dirent } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compareText } from '../../core/diagnostic.ts';
import type { Glob } from '../../core/glob.ts';
import type { SkipReason } from '../../core/outputs.ts';
import { toRelativePath } from '../../core/path.ts';
import { printable } from '../../core/text/text.ts';
import type { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { WorkspaceFolders } from './collect-folders.ts';

export interface WalkLimits {
  /** Names kept of files, and of what is no file. */
  readonly maxKept: number;
  readonly maxDepth: number;
  /** Names looked at. */
  readonly maxNames: number;
  readonly signal?: AbortSignal;
}

/** Something that matches and is not to be opened. */
export interface Oddity {
  /** Fit to be shown; opens the thing only where `reason` is not `name`. */
  readonly name: string;
  readonly reason: Extract<SkipReason, 'name' | 'link' | 'not-regular' | 'too-deep' | 'unreadable'>;
}

export interface Walked {
  /** The first by name. */
  readonly files: readonly string[];
  /** All that match. */
  readonly fileCount: number;
  readonly oddities: readonly Oddity[];
  readonly oddityCount: number;
  /** There were too many names to look at them all. */
  readonly isCut: boolean;
  /** Places of the patterns that matched nothing. */
  readonly unmatched: readonly number[];
}

/** Where programs write. The top of a workspace is ours, and a pattern means a skill's own files only where it names them. */
const TOP_FOLDERS: readonly string[] = ['out', 'runs', 'work'];
const NAMED_FOLDERS: ReadonlySet<string> = new Set([...TOP_FOLDERS, 'skills']);
/** How long other work waits for a walk. */
const SLICE_MS = 10;
const NAMES_BETWEEN_LOOKS = 64;

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
): Promise<Walked> {
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

/** The prefixes of the patterns, none below another. */
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
  readonly #oddities: FirstNames;
  readonly #reasons = new Map<string, Oddity['reason']>();
  readonly #unmatched: Set<number>;
  #seen = 0;

  constructor(globs: readonly Glob[], limits: WalkLimits) {
    this.#globs = globs;
    this.#limits = limits;
    this.#files = new FirstNames(limits.maxKept);
    this.#oddities = new FirstNames(limits.maxKept, (name) => this.#reasons.delete(name));
    this.#unmatched = new Set(globs.keys());
  }

  result(): Walked {
    const oddities = this.#oddities.sorted().flatMap((name) => {
      const reason = this.#reasons.get(name);
      return reason === undefined ? [] : [{ name, reason }];
    });
    return {
      files: this.#files.sorted(),
      fileCount: this.#files.count,
      oddities,
      oddityCount: this.#oddities.count,
      isCut: this.#isFull(),
      unmatched: [...this.#unmatched],
    };
  }

  note({ name, reason }: Oddity): void {
    if (!this.#reasons.has(name) && this.#oddities.add(name)) this.#reasons.set(name, reason);
  }

  /** Takes the folder over. */
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
        if (this.#seen % NAMES_BETWEEN_LOOKS !== 0 || performance.now() < sliceEnd) continue;
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
    const { text, isSpelled } = decodedName(entry.name);
    const name = `${level.relative}/${text}`;
    const kind = kindOf(level.folder.place, entry, text);
    if (kind === undefined) return;
    const isInside = kind === 'folder' && this.#globs.some((glob) => glob.reaches(name));
    // A link may lead to a folder: where a pattern would look into one, the link is worth a word too.
    const isMet = kind !== 'folder' && this.#match(name);
    if (!isInside && !isMet && !(kind === 'link' && this.#globs.some((glob) => glob.reaches(name)))) return;
    if (!isSpelled || !isOpenable(name)) this.note({ name: shownName(level.relative, entry.name), reason: 'name' });
    else if (kind === 'file') this.#files.add(name);
    else if (kind === 'link') this.note({ name, reason: 'link' });
    else if (kind === 'other') this.note({ name, reason: 'not-regular' });
    else if (level.depth >= this.#limits.maxDepth) this.note({ name, reason: 'too-deep' });
    else this.#enter(levels, level, text, name);
  }

  /** Every pattern is asked, to know which of them met nothing; once that is known, the first that matches is enough. */
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

/** A hint of the file system, which counts for nothing once a file is opened. Nothing where the name is gone again. */
function kindOf(place: string, entry: Dirent, text: string): Kind | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) return 'other';
  // Some file systems do not say.
  try {
    const stats = lstatSync(`${place}/${text}`, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    if (isSystemError(error)) return 'other';
    throw error;
  }
}

/** Names come as one character a byte, so that none is lost; `text` has U+FFFD for what is not UTF-8. */
function decodedName(raw: string): { readonly text: string; readonly isSpelled: boolean } {
  if (ASCII.test(raw)) return { text: raw, isSpelled: true };
  const bytes = Buffer.from(raw, 'latin1');
  return { text: bytes.toString('utf8'), isSpelled: isUtf8(bytes) };
}

const ASCII = /^[\x00-\x7f]*$/;

/** Whoever is given the name can ask for the file by it. */
function isOpenable(name: string): boolean {
  const reading = toRelativePath(name);
  return reading.type === 'path' && reading.path === name;
}

function shownName(relative: string, raw: string): string {
  const { text, isSpelled } = decodedName(raw);
  if (isSpelled) return printable(`${relative}/${text}`);
  const bytes = raw.replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `${printable(relative)}/${bytes}`;
}

/** The first names in order out of very many, in memory for a few. */
class FirstNames {
  readonly #room: number;
  readonly #forget: (name: string) => void;
  #names: string[] = [];
  /** Nothing behind it is among the first. */
  #last: string | undefined;
  count = 0;

  constructor(room: number, forget: (name: string) => void = () => undefined) {
    this.#room = room;
    this.#forget = forget;
  }

  /** Whether it is among the first so far. */
  add(name: string): boolean {
    this.count += 1;
    if (this.#last !== undefined && name > this.#last) return false;
    this.#names.push(name);
    if (this.#names.length >= this.#room * 2 + NAMES_BETWEEN_LOOKS) this.#cut();
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
