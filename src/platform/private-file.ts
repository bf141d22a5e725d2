import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

import { isSystemError } from './paths.ts';

export type PrivateFile =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

/** Reads a file this user wrote for itself: a link, a pipe, another user's file or one beyond `maxBytes` is not read. */
export function readPrivateFile(file: string, { maxBytes }: { readonly maxBytes: number }): PrivateFile {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return { type: 'failed', reason: 'it is no regular file' };
      if (process.getuid !== undefined && stats.uid !== process.getuid())
        return { type: 'failed', reason: 'it belongs to another user' };
      if (stats.size > maxBytes) return { type: 'failed', reason: 'it is too large' };
      const bytes = Buffer.allocUnsafeSlow(stats.size);
      let length = 0;
      while (length < stats.size) {
        const count = readSync(descriptor, bytes, length, stats.size - length, length);
        if (count === 0) break;
        length += count;
      }
      return { type: 'read', bytes: bytes.subarray(0, length) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'absent' };
    return { type: 'failed', reason: `it cannot be read (${error.code})` };
  }
}
