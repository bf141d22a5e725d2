/** One file of a walk through a tree: opened as the file that was met, read and hashed. */
import { closeSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { createHash, hash as hashAtOnce } from 'node:crypto';
import type { Hash } from 'node:crypto';

import { asRefusal, changed, openFileAt } from './tree-walk.ts';
import type { FileEntry } from './tree-walk.ts';

/** Larger files are read in pieces of this size. */
const PIECE = 4 * 1024 * 1024;
/** Smaller files are read into one buffer, in turn. */
export const SMALL_FILE = 256 * 1024;

/** What came of using an opened file, and its state. */
export interface Used<T> {
  readonly stats: Stats;
  readonly value: T;
}

/**
 * Opens a file of a walk for as long as `use` takes, and gives its state from before. Throws `TreeRefused` where it is another file than
 * was met; what `use` throws flies on. One that does not stay the same while it is read is refused by whoever looks at the tree once more.
 */
export function withEntryNow<T>(entry: FileEntry, use: (descriptor: number, before: Stats) => T): Used<T> {
  const { descriptor, stats } = openFileAt(entry.place, entry.path, entry.stats);
  try {
    return { value: use(descriptor, stats), stats };
  } finally {
    closeSync(descriptor);
  }
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

/**
 * All bytes of a small file, into memory that has room for one more: a file that grew is noticed. Throws `TreeRefused` where there are
 * more or fewer.
 */
export function readSmall(at: string, { descriptor, size, buffer }: Required<OpenedFile>): Buffer {
  let length = 0;
  try {
    for (let count = 1; count > 0 && length < Math.max(size, 1); length += count)
      count = readSync(descriptor, buffer, length, size + 1 - length, length);
  } catch (error) {
    throw asRefusal(error, at);
  }
  if (length !== size) throw changed(at);
  return buffer.subarray(0, size);
}

export function hashBytes(bytes: Uint8Array): Uint8Array {
  return hashAtOnce('sha256', bytes, 'buffer');
}

/** SHA-256 of an opened file; `also` is given the bytes that are hashed. */
export function hashOpened(at: string, file: OpenedFile, also?: (bytes: Buffer) => void): Uint8Array {
  let whole: Uint8Array | undefined;
  let hash: Hash | undefined;
  readPieces(at, file, (bytes) => {
    also?.(bytes);
    if (bytes.length === file.size) whole = hashBytes(bytes);
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
