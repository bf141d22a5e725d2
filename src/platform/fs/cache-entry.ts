/** Files in the cache folder that can be rebuilt at any time. */
import { closeSync, fstatSync, openSync, readFileSync, readdirSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';

import { writeFileAtomically } from './atomic-replace.ts';
import { makeFolders } from './make-folders.ts';
import { NAMED_FILE } from './open-flags.ts';
import { isSystemError } from '../system-error.ts';

/** Entries kept per kind: a few projects with a few snapshots each. */
const MAX_ENTRIES = 16;
/** A temporary file this old was left by a killed process: writing takes well under a second. */
const STALE_MS = 60_000;

interface CacheEntry {
  /** The bytes; `undefined` if they are missing or unreadable. Marks the entry as used. */
  read(): Uint8Array | undefined;
  /** Also removes the least recently used entries of its kind. System errors are ignored: the cache is optional. */
  write(bytes: Uint8Array | string): void;
}

/** One file of the cache. Without a file, nothing is kept. */
export function cacheEntry(file: string | undefined): CacheEntry {
  if (file === undefined) return { read: () => undefined, write: () => undefined };
  return { read: () => readEntry(file), write: (bytes) => writeEntry(file, Buffer.from(bytes)) };
}

function readEntry(file: string): Uint8Array | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, NAMED_FILE);
    if (!fstatSync(descriptor).isFile()) return undefined;
    const bytes = readFileSync(descriptor);
    const now = new Date();
    utimesSync(file, now, now);
    return bytes;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function writeEntry(file: string, bytes: Uint8Array): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, bytes, { staleMs: STALE_MS });
    removeLeastRecentlyUsed(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function removeLeastRecentlyUsed(file: string): void {
  const directory = path.dirname(file);
  const kind = `${path.basename(file).split('-')[0] ?? ''}-`;
  const entries = readdirSync(directory)
    .filter((name) => name.startsWith(kind) && name.endsWith('.bin'))
    .map((name) => ({ file: path.join(directory, name), used: statSync(path.join(directory, name)).mtimeMs }))
    .sort((a, b) => b.used - a.used);
  for (const { file: old } of entries.slice(MAX_ENTRIES)) unlinkSync(old);
}
