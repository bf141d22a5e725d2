/** Walking a tree whose files are read and hashed. */
import { closeSync, lstatSync, readSync } from 'node:fs';
import { createHash, hash as hashAtOnce, type Hash } from 'node:crypto';

import {
  asRefusal,
  changed,
  openFileAt,
  walkStrictly,
  type FileEntry,
  type FolderEntry,
  type LinkEntry,
  type WalkOptions,
} from './tree-walk.ts';

/** Larger files are read in chunks of this size. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Smaller files are read into one shared buffer. */
export const SMALL_FILE = 256 * 1024;

/** A file of a walk, which can be read while it is the current entry. Raises a `TreeRefusal` if it is not the file that the walk met. */
interface WalkedFile extends FileEntry {
  /** Passes all bytes to `use` in chunks, which share one buffer. */
  read(use: (bytes: Buffer) => void): void;
  /** SHA-256 in hex; `also` receives the bytes that are hashed, as `use` of `read`. */
  hash(also?: (bytes: Buffer) => void): string;
}

export type TreeEntry = FolderEntry | WalkedFile | LinkEntry;

/** Every entry of a tree. The caller detects files that change after they were read by walking the tree again. */
export function walkTree(root: string, options: WalkOptions = {}): Generator<TreeEntry, void, undefined> {
  const buffer = sharedBuffer();
  return walkStrictly<WalkedFile>(root, options, (place, at) => {
    const stats = lstatSync(place);
    if (!stats.isFile()) throw changed(at);
    const opened = <T>(use: (file: OpenedFile) => T): T => {
      const { descriptor, stats: now } = openFileAt(place, at, stats);
      try {
        return use({ descriptor, size: now.size, buffer: buffer() });
      } finally {
        closeSync(descriptor);
      }
    };
    return {
      type: 'file',
      path: at,
      stats,
      read: (use) => opened((file) => readPieces(at, file, use)),
      hash: (also) => opened((file) => hashOpened(at, file, also)),
    };
  });
}

/** A file that stays open until the walk goes on. */
export interface OpenedEntry extends WalkedFile {
  readonly descriptor: number;
}

/** The same with every file opened: `stats` are those of the opened file. */
export function walkOpened(
  root: string,
  options: WalkOptions = {},
): Generator<FolderEntry | OpenedEntry | LinkEntry, void, undefined> {
  const buffer = sharedBuffer();
  return walkStrictly<OpenedEntry>(root, options, (place, at) => {
    const { descriptor, stats } = openFileAt(place, at);
    const file = (): OpenedFile => ({ descriptor, size: stats.size, buffer: buffer() });
    return {
      type: 'file',
      path: at,
      stats,
      descriptor,
      read: (use) => readPieces(at, file(), use),
      hash: (also) => hashOpened(at, file(), also),
    };
  });
}

function sharedBuffer(): () => Buffer {
  let buffer: Buffer | undefined;
  return () => (buffer ??= Buffer.allocUnsafe(SMALL_FILE));
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
  { descriptor, size, buffer: shared }: OpenedFile,
  use: (bytes: Buffer) => void,
): void {
  // One byte more than the size, to notice a file that grew.
  const buffer =
    shared !== undefined && size < shared.length ? shared : Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
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
