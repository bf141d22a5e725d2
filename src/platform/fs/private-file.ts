import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { isSystemError } from './paths.ts';
import { FOREIGN_FILE } from './open-flags.ts';

export type PrivateFile =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

export interface PrivateFileOptions {
  readonly maxBytes: number;
  /** For what nobody else may know: root may have written it, but nobody else may read or write it. */
  readonly isSecret?: boolean;
}

/** Reads a file this user wrote for itself: a link, a pipe, another user's file or one beyond `maxBytes` is not read. */
export function readPrivateFile(file: string, { maxBytes, isSecret = false }: PrivateFileOptions): PrivateFile {
  try {
    const descriptor = openSync(file, FOREIGN_FILE);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return { type: 'failed', reason: 'it is no regular file' };
      if (process.getuid !== undefined && stats.uid !== process.getuid() && !(isSecret && stats.uid === 0))
        return { type: 'failed', reason: 'it belongs to another user' };
      // Systems without users show every file as everybody's.
      if (isSecret && process.getuid !== undefined && (stats.mode & 0o077) !== 0)
        return { type: 'failed', reason: 'others than its owner may use it' };
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
    if (error.code === 'ELOOP') return { type: 'failed', reason: 'it is a link' };
    return { type: 'failed', reason: `it cannot be read (${error.code})` };
  }
}
