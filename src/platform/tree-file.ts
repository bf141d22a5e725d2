/** One file of a walk through a tree: opened as the file that was met, read and hashed. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { createHash, hash as hashAtOnce } from 'node:crypto';
import type { Hash } from 'node:crypto';

import { quoted } from '../core/text.ts';
import { TreeRefused, asRefusal } from './tree-walk.ts';
import type { TreeEntry } from './tree-walk.ts';

// As in `confined-open.ts`: a pipe must not hold us, a link is not followed.
const FILE_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;
/** Larger files are read in pieces of this size. */
const PIECE = 4 * 1024 * 1024;
/** Smaller files are read into one buffer, in turn. */
export const SMALL_FILE = 256 * 1024;

type FileEntry = Extract<TreeEntry, { type: 'file' }>;

/** What came of using an opened file, and its state. */
export interface Used<T> {
  readonly stats: Stats;
  readonly value: T;
}

/**
 * Opens a file of a walk, at once, for as long as `use` takes, and gives its state afterwards. Throws `TreeRefused` where it is another
 * file than was met, or did not stay the same; what `use` throws flies on.
 */
export async function withEntry<T>(
  entry: FileEntry,
  use: (descriptor: number, before: Stats) => Promise<T>,
): Promise<Used<T>> {
  const descriptor = openEntry(entry);
  try {
    const before = statEntry(entry, descriptor);
    return { value: await use(descriptor, before), stats: statAgain(entry, descriptor, before) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The same without a pause, and with its state from before: for a small file a promise and one more look are a good part of the work.
 * One that does not stay the same is refused where the reading is finished, which looks at every file once more.
 */
export function withEntryNow<T>(entry: FileEntry, use: (descriptor: number, before: Stats) => T): Used<T> {
  const descriptor = openEntry(entry);
  try {
    const stats = statEntry(entry, descriptor);
    return { value: use(descriptor, stats), stats };
  } finally {
    closeSync(descriptor);
  }
}

function openEntry({ path, place }: FileEntry): number {
  return asked(path, () => openSync(place, FILE_FLAGS));
}

function statEntry({ path, stats }: FileEntry, descriptor: number): Stats {
  const before = fstatSync(descriptor);
  if (!before.isFile() || before.ino !== stats.ino || before.dev !== stats.dev) throw changed(path);
  return before;
}

function statAgain({ path }: FileEntry, descriptor: number, before: Stats): Stats {
  const after = fstatSync(descriptor);
  const isSame = after.size === before.size && after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs;
  if (!isSame) throw changed(path);
  return after;
}

export interface OpenedFile {
  readonly descriptor: number;
  readonly size: number;
  /** Used where the file fits into it: memory that is new for each file costs more than reading a small one. */
  readonly buffer?: Buffer;
}

/** Gives all bytes of an opened file in turn, `size` of them. Throws `TreeRefused` where there are more or fewer. */
export function readPieces(
  at: string,
  { descriptor, size, buffer: given }: OpenedFile,
  piece: (bytes: Buffer) => void,
): void {
  // One byte more than there should be: a file that grew is noticed.
  const buffer = given !== undefined && size < given.length ? given : Buffer.allocUnsafe(Math.min(size + 1, PIECE));
  let length = 0;
  for (;;) {
    const count = asked(at, () => readSync(descriptor, buffer, 0, buffer.length, length));
    length += count;
    if (length > size) throw changed(at);
    if (count > 0) piece(buffer.subarray(0, count));
    // Where the buffer had room for more, nothing follows.
    if (count === 0 || (length === size && count < buffer.length)) break;
  }
  if (length < size) throw changed(at);
}

/** SHA-256 of an opened file; `also` is given the bytes that are hashed. */
export function hashOpened(at: string, file: OpenedFile, also?: (bytes: Buffer) => void): Uint8Array {
  let whole: Uint8Array | undefined;
  let hash: Hash | undefined;
  readPieces(at, file, (bytes) => {
    also?.(bytes);
    if (bytes.length === file.size) whole = hashAtOnce('sha256', bytes, 'buffer');
    else (hash ??= createHash('sha256')).update(bytes);
  });
  return whole ?? (hash ?? createHash('sha256')).digest();
}

function asked<T>(at: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw asRefusal(error, at);
  }
}

function changed(at: string): TreeRefused {
  return new TreeRefused('changed', at, `${quoted(at)} changed while it was read`);
}
