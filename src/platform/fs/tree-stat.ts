/** What a tree looks like from outside: no file is opened, and any change shows in it that is older than a tick of the clock. */
import { lstatSync, readdirSync, statSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { compareText } from '../../core/diagnostic.ts';
import { isSettled } from './file-stamp.ts';
import { sha256 } from '../hash.ts';
import { isSystemError } from './paths.ts';
import { NO_PART, TREE_LIMITS, walkTree } from './tree-walk.ts';
import type { TreeLimits, WalkOptions } from './tree-walk.ts';

/** What the entries of a tree look like, in the order of the walk. */
export class TreeLooks {
  readonly #paths: string[] = [];
  /** `LOOK_NUMBERS` for each path. As numbers: to write the times of thousands of files as text took longer than to ask for them. */
  #numbers = new Float64Array(LOOK_NUMBERS * FIRST_PLACES);

  /** Keeps a place for what is known only later. */
  expect(): number {
    const place = this.#paths.push('') - 1;
    if ((place + 1) * LOOK_NUMBERS > this.#numbers.length) {
      const longer = new Float64Array(this.#numbers.length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    return place;
  }

  add(place: number, path: string, { mode, size, mtimeMs, ctimeMs, ino }: Stats): void {
    const at = place * LOOK_NUMBERS;
    const numbers = this.#numbers;
    this.#paths[place] = path;
    numbers[at] = mode;
    numbers[at + 1] = size;
    numbers[at + 2] = mtimeMs;
    numbers[at + 3] = ctimeMs;
    numbers[at + 4] = ino;
  }

  append(path: string, stats: Stats): void {
    this.add(this.expect(), path, stats);
  }

  fingerprint(): string {
    // No path has a NUL in it, and each has as many numbers: nothing else is written alike.
    const paths = Buffer.from(this.#paths.join('\0'), 'utf8');
    const numbers = new Uint8Array(this.#numbers.buffer, 0, this.#paths.length * LOOK_NUMBERS * 8);
    return sha256(Buffer.concat([new Uint8Array(Float64Array.of(paths.length).buffer), numbers, paths]));
  }
}

const LOOK_NUMBERS = 5;
/** Most skills have fewer files; the list doubles where it is full. */
const FIRST_PLACES = 16;

/** The fingerprint of a tree as it is now. Throws `TreeRefused`. */
export function fingerprintTree(root: string, options: WalkOptions): string {
  return lookAtTree(root, options).fingerprint;
}

export interface TreeLook {
  readonly fingerprint: string;
  /** For who looks again and again; absent where the tree is large, no plain one, or changed just now. */
  readonly seen?: SeenTree;
}

/** The same, with what a second look can be compared with. Throws `TreeRefused`. */
export function lookAtTree(root: string, options: WalkOptions): TreeLook {
  const looking = lookByNames(root, options);
  if (looking !== undefined) {
    const { looks, seen } = looking;
    return { fingerprint: looks.fingerprint(), ...(seen.isUsable ? { seen } : {}) };
  }
  const walked = new TreeLooks();
  for (const { path, stats } of walkTree(root, options)) walked.append(path, stats);
  return { fingerprint: walked.fingerprint() };
}

/** Entries of a tree that is remembered as it was seen: thousands of trees are known at one time. */
const MOST_SEEN = 64;

/**
 * File systems of Linux, by their numbers, on which the times of a folder change with each name that comes, goes or changes: ext4, XFS,
 * Btrfs, tmpfs. Elsewhere the names themselves are looked at.
 */
const TELLING_FOLDERS: ReadonlySet<number> = new Set([0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994]);

/**
 * A plain tree as it was seen. Looks at all that a fingerprint is made of, and compares it one by one: to make the fingerprint anew takes
 * as long as to look.
 */
export class SeenTree {
  readonly #folders: { readonly place: string; readonly names: readonly string[] }[] = [];
  readonly #entries: { readonly place: string; readonly stats: FileLook }[] = [];
  /** What is in a folder is told by the times of the folder. */
  #isToldByTimes: boolean | undefined;
  readonly #lookedAt = Date.now();
  /** Whatever changes from now on has other times. */
  #isSettled = true;

  get isUsable(): boolean {
    return this.#isSettled && this.#entries.length <= MOST_SEEN;
  }

  folder(place: string, names: readonly string[]): void {
    if (this.isUsable) this.#folders.push({ place, names });
  }

  /** The tree itself first. */
  entry(place: string, { mode, size, mtimeMs, ctimeMs, ino, dev }: FileLook): void {
    const stats = { mode, size, mtimeMs, ctimeMs, ino, dev };
    this.#isSettled &&= isSettled(stats, this.#lookedAt);
    if (this.isUsable) this.#entries.push({ place, stats });
  }

  /** False where anything is different, or cannot be told. */
  isSame(): boolean {
    try {
      this.#isToldByTimes ??= this.#hasTellingFolders();
      if (!this.#isToldByTimes)
        for (const { place, names } of this.#folders) if (!isSameList(readdirSync(place), names)) return false;
      let look: (place: string) => Stats = statSync;
      for (const { place, stats } of this.#entries) {
        if (!isSameLook(look(place), stats)) return false;
        look = lstatSync;
      }
      return true;
    } catch (error) {
      if (isSystemError(error)) return false;
      throw error;
    }
  }

  #hasTellingFolders(): boolean {
    const [top] = this.#entries;
    if (top === undefined || process.platform !== 'linux') return false;
    const isOfOne = this.#entries.every(({ stats }) => stats.dev === top.stats.dev);
    return isOfOne && TELLING_FOLDERS.has(statfsSync(top.place).type);
  }
}

type FileLook = Pick<Stats, 'mode' | 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'dev'>;

function isSameLook(now: FileLook, before: FileLook): boolean {
  return (
    now.mtimeMs === before.mtimeMs &&
    now.ctimeMs === before.ctimeMs &&
    now.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mode === before.mode
  );
}

/** In the order in which the system gives them: that of a folder in which nothing changes does not change either. */
function isSameList(now: readonly string[], before: readonly string[]): boolean {
  if (now.length !== before.length) return false;
  for (let place = 0; place < now.length; place += 1) if (now[place] !== before[place]) return false;
  return true;
}

/**
 * The same looks without descriptors, which takes half as long: nothing is read here, and whoever exchanges a folder for a link meanwhile
 * shows other files, which look different. Nothing where the tree is not a plain one, or changes: the walk has the last word there.
 */
function lookByNames(root: string, { limits = TREE_LIMITS, leaveOut = [], skip }: WalkOptions): Looking | undefined {
  if (skip !== undefined) return undefined;
  try {
    const stats = statSync(root);
    const looks = new TreeLooks();
    const seen = new SeenTree();
    const looking: Looking = { looks, seen, limits, leaveOut, entries: 0, bytes: 0 };
    if (!stats.isDirectory()) return undefined;
    looks.append('', stats);
    seen.entry(root, stats);
    return isPlain(looking, `${root}/`, '', 1) ? looking : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

interface Looking {
  readonly looks: TreeLooks;
  readonly seen: SeenTree;
  readonly limits: TreeLimits;
  readonly leaveOut: readonly string[];
  entries: number;
  bytes: number;
}

/** Looks at what is in a folder. `place` and `prefix` end in a slash, but for the prefix of the top. */
function isPlain(looking: Looking, place: string, prefix: string, depth: number): boolean {
  const { looks, seen, limits, leaveOut } = looking;
  const names = readdirSync(place);
  seen.folder(place, names);
  for (const name of names.toSorted(compareText)) {
    if (name === NO_PART || (depth === 1 && leaveOut.includes(name))) continue;
    const stats = lstatSync(place + name);
    const isFolder = stats.isDirectory();
    if (!isFolder && !stats.isFile() && !stats.isSymbolicLink()) return false;
    looking.entries += 1;
    if (!isFolder) looking.bytes += stats.size;
    if (looking.entries > limits.maxEntries || looking.bytes > limits.maxBytes) return false;
    // It may stand for bytes that are no UTF-8.
    if (name.includes('\uFFFD')) return false;
    looks.append(prefix + name, stats);
    seen.entry(place + name, stats);
    if (!isFolder) continue;
    if (depth >= limits.maxDepth || !isPlain(looking, `${place}${name}/`, `${prefix}${name}/`, depth + 1)) return false;
  }
  return true;
}
