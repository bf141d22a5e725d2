import { readFileSync, readdirSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';

import { writeFileAtomically } from './atomic-replace.ts';
import { makeFolders } from './make-folders.ts';
import { isSystemError } from './paths.ts';

/** Entries of one kind that are kept: projects that somebody works on, with a few snapshots each. */
const KEPT = 16;

/** The bytes of a file that can be rebuilt; absent when it is missing or cannot be read. */
export function readCacheEntry(file: string): Uint8Array | undefined {
  try {
    const bytes = readFileSync(file);
    const now = new Date();
    utimesSync(file, now, now);
    return bytes;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** Keeps bytes that can be rebuilt, and drops the entries of the same kind that were used longest ago. A cache that cannot be written is no failure. */
export function writeCacheEntry(file: string, bytes: Uint8Array): void {
  try {
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, bytes);
    dropOldest(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function dropOldest(file: string): void {
  const directory = path.dirname(file);
  const kind = `${path.basename(file).split('-')[0] ?? ''}-`;
  const entries = readdirSync(directory)
    .filter((name) => name.startsWith(kind) && name.endsWith('.bin'))
    .map((name) => ({ file: path.join(directory, name), used: statSync(path.join(directory, name)).mtimeMs }))
    .sort((a, b) => b.used - a.used);
  for (const { file: old } of entries.slice(KEPT)) unlinkSync(old);
}
