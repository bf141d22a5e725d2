/** Reading small files whole: never blocks on a pipe or a device, never reads more than `maxBytes`. */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

import { FOREIGN_FILE, NAMED_FILE } from './open-flags.ts';
import { isSystemError } from '../system-error.ts';

export type FileRead =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

export type TextRead =
  | { readonly type: 'read'; readonly text: string; readonly validUtf8: boolean }
  | Exclude<FileRead, { readonly type: 'read' }>;

/** Reads a file that a person or a skill wrote. Links are followed. */
export function readTextFile(file: string, maxBytes: number): TextRead {
  const read = readWhole(file, NAMED_FILE, (stats) => {
    if (!stats.isFile()) return 'not a regular file';
    return stats.size > maxBytes ? `larger than ${String(maxBytes)} bytes` : undefined;
  });
  if (read.type !== 'read') return read;
  return { type: 'read', text: read.bytes.toString('utf8'), validUtf8: isUtf8(read.bytes) };
}

export interface PrivateFileOptions {
  readonly maxBytes: number;
  /** The file may also belong to root, but only its owner may have access to it. */
  readonly isSecret?: boolean;
}

/** Reads a file that this user wrote for itself. Rejects links, other users' files and files larger than `maxBytes`. */
export function readPrivateFile(file: string, { maxBytes, isSecret = false }: PrivateFileOptions): FileRead {
  const uid = process.getuid?.();
  const read = readWhole(file, FOREIGN_FILE, (stats) => {
    if (!stats.isFile()) return 'it is not a regular file';
    if (uid !== undefined && stats.uid !== uid && !(isSecret && stats.uid === 0)) return 'it belongs to another user';
    // On systems without users the mode bits say nothing.
    if (uid !== undefined && isSecret && (stats.mode & 0o077) !== 0) return 'other users have access to it';
    return stats.size > maxBytes ? 'it is too large' : undefined;
  });
  if (read.type !== 'failed' || !/^E[A-Z]+$/.test(read.reason)) return read;
  return { type: 'failed', reason: read.reason === 'ELOOP' ? 'it is a link' : `it cannot be read (${read.reason})` };
}

/** A system error is reported by its code. */
function readWhole(file: string, flags: number, reject: (stats: Stats) => string | undefined): FileRead {
  let descriptor: number | undefined;
  try {
    // Most files asked for do not exist, and a failing `open` takes ten times as long as `lstat`.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return { type: 'absent' };
    descriptor = openSync(file, flags);
    const stats = fstatSync(descriptor);
    const reason = reject(stats);
    if (reason !== undefined) return { type: 'failed', reason };
    // One byte more than the size, to notice a file that grows while it is read.
    const buffer = Buffer.allocUnsafeSlow(stats.size + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count)
      count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (length > stats.size) return { type: 'failed', reason: 'it changed while it was read' };
    return { type: 'read', bytes: buffer.subarray(0, length) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'absent' };
    return { type: 'failed', reason: error.code };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
