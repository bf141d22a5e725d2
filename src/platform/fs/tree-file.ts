/** Reading and hashing one file of a tree walk. */
import { closeSync, readSync, type Stats } from 'node:fs';
import { createHash, hash as hashAtOnce, type Hash } from 'node:crypto';

import { asRefusal, changed, openFileAt, type FileEntry } from './tree-walk.ts';

/** Larger files are read in chunks of this size. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Smaller files are read into one shared buffer. */
export const SMALL_FILE = 256 * 1024;

/**
 * Opens a file of a walk while `use` runs, and also returns its state from before. Raises a `TreeRefusal` if it is not the file that the
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

/** Passes all bytes of an opened file to `use` in chunks. Raises a `TreeRefusal` if there are more or fewer than `size`. */
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
    const count = readChunk(at, descriptor, buffer, { at: 0, length: buffer.length, position: length });
    length += count;
    if (length > size) throw changed(at);
    if (count > 0) use(buffer.subarray(0, count));
    // A short read that reaches the size is the last one.
    if (count === 0 || (length === size && count < buffer.length)) break;
  }
  if (length < size) throw changed(at);
}

interface Chunk {
  /** Where it is put in the buffer. */
  readonly at: number;
  readonly length: number;
  /** Where it begins in the file. */
  readonly position: number;
}

function readChunk(path: string, descriptor: number, buffer: Buffer, { at, length, position }: Chunk): number {
  try {
    return readSync(descriptor, buffer, at, length, position);
  } catch (error) {
    throw asRefusal(error, path);
  }
}

/** SHA-256 of an opened file in hex, which Node returns in half the time of a buffer; `also` receives the bytes that are hashed. */
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

/**
 * Hashes many files. Small ones are read into one buffer and hashed when it is full: system calls and hashing evict each other's code from
 * the processor's cache, and taking turns at every file takes a fifth more time.
 */
export class FileHasher {
  readonly #buffer: Buffer;
  #used = 0;
  #waiting: { readonly from: number; readonly to: number; readonly done: (sha256: string) => void }[] = [];

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** Reads an opened file now and calls `done` with its SHA-256 in hex, at the latest in `finish`. Raises a `TreeRefusal` as `readPieces`. */
  add(at: string, { descriptor, size }: OpenedFile, done: (sha256: string) => void): void {
    if (size >= this.#buffer.length) return done(hashOpened(at, { descriptor, size }));
    if (this.#used + size >= this.#buffer.length) this.finish();
    const from = this.#used;
    // One byte more than the size, to notice a file that grew.
    const count = readChunk(at, descriptor, this.#buffer, { at: from, length: size + 1, position: 0 });
    // Either a short read, or the file changed and is refused here.
    if (count !== size) return done(hashOpened(at, { descriptor, size }));
    this.#used += size;
    this.#waiting.push({ from, to: this.#used, done });
  }

  finish(): void {
    for (const { from, to, done } of this.#waiting) done(hashAtOnce('sha256', this.#buffer.subarray(from, to), 'hex'));
    this.#waiting = [];
    this.#used = 0;
  }
}
