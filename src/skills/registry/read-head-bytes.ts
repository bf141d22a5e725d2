import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

import type { Diagnostic } from '#core';
import { MAX_FRONTMATTER_BYTES, findFrontmatter } from '../format/bounds.ts';
import { OPEN_FLAGS, isInside, isSystemError, sha256, realPath, tryRealPath } from '#platform';
import type { statFile } from './file-stamp.ts';

type FileStamp = NonNullable<ReturnType<typeof statFile>>;

/** The decoded frontmatter of one file, or the reason why it could not be read. */
export type HeadFile =
  | { readonly type: 'absent' }
  /** The file could not be opened or is not a regular file. It may be fixed without a change of its stamp. */
  | { readonly type: 'failed'; readonly code: Diagnostic['code']; readonly message: string }
  /** The file was read, but its frontmatter is too large. */
  | {
      readonly type: 'unusable';
      readonly code: Diagnostic['code'];
      readonly message: string;
      readonly stamp: FileStamp;
    }
  | DecodedHead;

interface DecodedHead {
  readonly type: 'read';
  readonly stamp: FileStamp;
  /** From byte 0 to the end of the closing fence, or all text read if there is no frontmatter. */
  readonly text: string;
  readonly validUtf8: boolean;
  /** `sha256:` of the same bytes; empty if there is no frontmatter. */
  readonly digest: string;
}

const BLOCK = 1024;
/** Room for a closing fence that begins within the limit. */
const MAX_READ = MAX_FRONTMATTER_BYTES + BLOCK;

const IS_WINDOWS = process.platform === 'win32';

/** Reads frontmatter and less than one block of the body. One buffer serves all files. */
export class HeadReader {
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_READ);
  #bytesRead = 0;

  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** `directory` is the skill's folder: if `file` is a link, its target must be inside. Never throws because of the disk content. */
  read(file: string, directory: string): HeadFile {
    try {
      if (IS_WINDOWS && lstatSync(file).isSymbolicLink()) return this.#readLink(file, directory);
      return this.#readOpened(openSync(file, OPEN_FLAGS.foreignFile));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code === 'ELOOP' || error.code === 'EMLINK') return this.#readLink(file, directory);
      return failure(error.code);
    }
  }

  #readLink(file: string, directory: string): HeadFile {
    const target = tryRealPath(file);
    if (target === undefined)
      return { type: 'failed', code: 'file/broken-link', message: 'the file is a link to a missing target' };
    if (!isInside(target, realPath(directory))) {
      return { type: 'failed', code: 'file/link-escapes', message: 'the file is a link to a target outside its skill' };
    }
    try {
      const reading = this.#readOpened(openSync(target, OPEN_FLAGS.foreignFile));
      // Another process may have changed the link in the meantime.
      if (tryRealPath(file) === target) return reading;
      return failure('ENOENT');
    } catch (error) {
      if (isSystemError(error)) return failure(error.code);
      throw error;
    }
  }

  /** Takes the descriptor over. */
  #readOpened(descriptor: number): HeadFile {
    try {
      // Checked before reading, because reading a device can have side effects.
      const stats = fstatSync(descriptor);
      return stats.isFile() ? this.#readBlocks(descriptor, stats) : notRegular();
    } finally {
      closeSync(descriptor);
    }
  }

  #readBlocks(descriptor: number, stats: Stats): HeadFile {
    const buffer = this.#buffer;
    let length = 0;
    for (;;) {
      const room = Math.min(BLOCK, MAX_READ - length);
      const count = readSync(descriptor, buffer, length, room, length);
      const from = length;
      length += count;
      this.#bytesRead += count;
      // A short read of a regular file is its end.
      const complete = count < room || length === stats.size;
      // A search from the start is needed only if this block may contain a fence.
      if (from > 0 && !complete && length < MAX_READ && !mayHoldFence(buffer, from, length)) continue;
      const bounds = findFrontmatter(buffer, length, complete);
      if (bounds.type === 'found' && bounds.end <= MAX_FRONTMATTER_BYTES) return this.#decode(bounds.end, stats);
      if (bounds.type === 'found') return tooLarge(stats);
      // The parser reports what is wrong with a file without frontmatter.
      if (bounds.type === 'none' || complete) return withoutFrontmatter(buffer.subarray(0, length), stats);
      if (bounds.type === 'unterminated' || length >= MAX_READ) return tooLarge(stats);
    }
  }

  #decode(end: number, stamp: FileStamp): DecodedHead {
    const text = this.#buffer.toString('utf8', 0, end);
    // Invalid bytes decode to U+FFFD. Without one, the text has the same bytes as the file.
    if (!text.includes('\uFFFD'))
      return { type: 'read', stamp, text, validUtf8: true, digest: `sha256:${sha256(text)}` };
    const bytes = this.#buffer.subarray(0, end);
    return { type: 'read', stamp, text, validUtf8: isUtf8(bytes), digest: `sha256:${sha256(bytes)}` };
  }
}

/** Whether the latest block may contain a fence, or the rest of one that started in the block before. */
function mayHoldFence(buffer: Buffer, from: number, to: number): boolean {
  const start = from - 64;
  return isBefore(buffer.indexOf('---', start, 'latin1'), to) || isBefore(buffer.indexOf('...', start, 'latin1'), to);
}

function isBefore(at: number, limit: number): boolean {
  return at !== -1 && at < limit;
}

function withoutFrontmatter(bytes: Buffer, stamp: FileStamp): HeadFile {
  // A block may end in the middle of a character.
  let end = bytes.length;
  if (end < stamp.size) {
    while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80 && bytes.length - end < 3) end -= 1;
    if (((bytes[end - 1] ?? 0) & 0xc0) === 0xc0) end -= 1;
  }
  const shown = bytes.subarray(0, end);
  return { type: 'read', stamp, text: shown.toString('utf8'), validUtf8: isUtf8(shown), digest: '' };
}

function tooLarge(stamp: FileStamp): HeadFile {
  return { type: 'unusable', code: 'frontmatter/too-large', message: 'the frontmatter has more than 64 KiB', stamp };
}

function notRegular(): HeadFile {
  return { type: 'failed', code: 'file/not-regular', message: 'the file is a directory, a pipe, a socket or a device' };
}

function failure(code: string): HeadFile {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR': {
      return { type: 'absent' };
    }
    case 'ENXIO':
    case 'ENODEV':
    case 'EOPNOTSUPP':
    case 'EISDIR': {
      return notRegular();
    }
    default: {
      return { type: 'failed', code: 'file/unreadable', message: `the file cannot be read (${code})` };
    }
  }
}
