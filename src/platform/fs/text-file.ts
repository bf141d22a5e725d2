import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

import { isSystemError } from './paths.ts';
import { NAMED_FILE } from './open-flags.ts';

export type TextFile =
  | { readonly type: 'read'; readonly text: string; readonly validUtf8: boolean }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

/** Reads a small file that a person or a skill wrote: never blocks on a pipe or a device, never reads more than `maxBytes`. */
export function readTextFile(path: string, maxBytes: number): TextFile {
  let descriptor: number;
  try {
    // Most files that are asked for are not there, and an error takes ten times as long as a look.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { type: 'absent' };
    descriptor = openSync(path, NAMED_FILE);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'absent' };
    return { type: 'failed', reason: error.code };
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { type: 'failed', reason: 'not a plain file' };
    if (stats.size > maxBytes) return { type: 'failed', reason: `larger than ${String(maxBytes)} bytes` };
    const buffer = Buffer.allocUnsafe(stats.size + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count)
      count = readSync(descriptor, buffer, length, buffer.length - length, null);
    // One byte more than the size: a file that grows while it is read is noticed and not cut silently.
    if (length > stats.size) return { type: 'failed', reason: 'it changed while it was read' };
    return { type: 'read', text: buffer.toString('utf8', 0, length), validUtf8: isUtf8(buffer.subarray(0, length)) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { type: 'failed', reason: error.code };
  } finally {
    closeSync(descriptor);
  }
}
