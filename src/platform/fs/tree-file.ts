/** Reading and hashing one file of a tree walk. */
import { closeSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { createHash, hash as hashAtOnce } from 'node:crypto';
import type { Hash } from 'node:crypto';

import { asRefusal, changed, openFileAt } from './tree-walk.ts';
import type { FileEntry } from './tree-walk.ts';

/** Larger files are read in chunks of this size. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Smaller files are read into one shared buffer. */
export const SMALL_FILE = 256 * 1024;

/**
 * Opens a file of a walk while `use` runs, and also returns its state from before. Throws `TreeRefused` if it is not the file that the
 * walk met, and whatever `use` throws. The caller detects later changes by walking the tree again.
 */
export function withEntryNow<T>(
  entry: FileEntry,
  use: (descriptor: number, before: Stats) => T,
): { readonly stats: Stats; readonly value: T } {
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
  /** Used if the file fits into it: allocating memory for each file costs more than reading a small one. */
  readonly buffer?: Buffer;
}

/** Passes all bytes of an opened file to `use` in chunks. Throws `TreeRefused` if there are more or fewer than `size`. */
export function readPieces(
  at: string,
  { descriptor, size, buffer: given }: OpenedFile,
  use: (bytes: Buffer) => void,
): void {
  // One byte more than the size, to notice a file that grew.
  const buffer =
    given !== undefined && size < given.length ? given : Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
  let length = 0;
  for (;;) {
    const count = readChunk(at, descriptor, buffer, length);
    length += count;
    if (length > size) throw changed(at);
    if (count > 0) use(buffer.subarray(0, count));
    // A short read that reaches the size is the last one.
    if (count === 0 || (length === size && count < buffer.length)) break;
  }
  if (length < size) throw changed(at);
}

function readChunk(at: string, descriptor: number, buffer: Buffer, position: number): number {
  try {
    return readSync(descriptor, buffer, 0, buffer.length, position);
  } catch (error) {
    throw asRefusal(error, at);
  }
}

/** SHA-256 of an opened file in hex, which Node returns faster than a buffer; `also` receives the bytes that are hashed. */
export function hashOpened(at: string, file: OpenedFile, also?: (bytes: Buffer) => void): string {
  let whole: string | undefined;
  let hash: Hash | undefined;
  readPieces(at, file, (bytes) => {
    also?.(bytes);
    if (bytes.length === file.size) whole = hashAtOnce('sha256', bytes, 'hex');
    else (hash ??= createHash('sha256')).update(bytes);
  });
  return whole ?? (hash ?? createHash('sha256')).digest('hex');
}
