import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { quoted, SkillError } from '#core';
import { refused } from '../problems.ts';
import { OPEN_FLAGS, isSystemError } from '#platform';

/** An open archive. All reads use one descriptor, so they refer to the same file. */
export interface ArchiveFile {
  readonly size: number;
  /** Reads exactly `length` bytes. Throws a refusal if the file was truncated. */
  bytes(at: number, length: number): Buffer;
  /** Fills the buffer from offset `at` and returns the number of bytes read. */
  fill(buffer: Buffer, at: number): number;
  close(): void;
}

/** Throws a refusal if the path does not exist or is not a regular file. */
export function openArchiveFile(file: string): ArchiveFile {
  const descriptor = openOrRefuse(file);
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) {
    closeSync(descriptor);
    throw refused('archive/format', `${quoted(file)} is not a file`, file);
  }
  let isOpen = true;
  const fill = (buffer: Buffer, at: number): number => {
    // The descriptor may belong to another file after it was closed.
    if (!isOpen) throw closedError();
    let filled = 0;
    for (let count = -1; count !== 0 && filled < buffer.length; filled += count)
      count = readSync(descriptor, buffer, filled, buffer.length - filled, at + filled);
    return filled;
  };
  return {
    size: stats.size,
    fill,
    bytes: (at, length) => wholeBytes(fill, at, length),
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** Serves small reads from one larger read. */
export function windowedReads(file: ArchiveFile, windowBytes: number): Pick<ArchiveFile, 'bytes' | 'fill'> {
  let window = Buffer.alloc(0);
  let start = 0;
  const fill = (buffer: Buffer, at: number): number => {
    if (buffer.length > windowBytes) return file.fill(buffer, at);
    if (at < start || at + buffer.length > start + window.length) {
      const next = Buffer.allocUnsafe(windowBytes);
      window = next.subarray(0, file.fill(next, at));
      start = at;
    }
    return window.copy(buffer, 0, at - start);
  };
  return { fill, bytes: (at, length) => wholeBytes(fill, at, length) };
}

function wholeBytes(fill: ArchiveFile['fill'], at: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  if (fill(buffer, at) === length) return buffer;
  throw refused('archive/unreadable', 'the archive ends too early');
}

function openOrRefuse(file: string): number {
  try {
    return openSync(file, OPEN_FLAGS.namedFile);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const code = error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'source/missing' : 'source/refused';
    throw refused(code, `${quoted(file)} cannot be opened: ${error.code}`, file);
  }
}

function closedError(): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: 'the archive is closed',
    hint: 'extract before closing',
    data: { expected: 'an open archive' },
  });
}
