/** The records of artifact versions on disk, and the cleanup after killed processes. */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { hasShape, parseJson, readField, shape } from '#core';
import { isSystemError, readPrivateFile } from '#platform';

/** A version, or the tombstone of a deleted one. */
export type ArtifactRecord =
  | {
      readonly name: string;
      /** SHA-256 in hex. */
      readonly digest: string;
      readonly bytes: number;
      readonly mediaType: string;
      readonly savedAt: string;
    }
  | { readonly name: string; readonly deletedAt: string };

const MAX_RECORD_BYTES = 16 * 1024;
/** Writing a version never takes this long. */
const STALE_MS = 60 * 60 * 1000;

/** `undefined` if there is no valid record. */
export function readRecord(folder: string): ArtifactRecord | undefined {
  const read = readPrivateFile(path.join(folder, 'record.json'), { maxBytes: MAX_RECORD_BYTES });
  const value = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  return isRecord(value) ? value : undefined;
}

const VERSION = shape({ text: 'name digest mediaType savedAt', number: 'bytes' });
const TOMBSTONE = shape({ text: 'name deletedAt' });

function isRecord(value: unknown): value is ArtifactRecord {
  if (hasShape(value, TOMBSTONE)) return true;
  return hasShape(value, VERSION) && /^[0-9a-f]{64}$/.test(String(readField(value, 'digest')));
}

/** Ascending, deleted versions included. */
export function versionsIn(folder: string): readonly number[] {
  return listEntries(folder)
    .filter((name) => /^(?:0|[1-9]\d{0,14})$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** The names with versions, deleted versions included. */
export function namesIn(folder: string): readonly string[] {
  return listEntries(folder).flatMap((key) => {
    const own = path.join(folder, key);
    const latest = versionsIn(own).at(-1);
    const record = latest === undefined ? undefined : readRecord(path.join(own, String(latest)));
    return record === undefined ? [] : [record.name];
  });
}

/** Removes unfinished files of killed processes. */
export function removeOldIncoming(folder: string, now: number): void {
  for (const name of listEntries(folder)) {
    const place = path.join(folder, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < now - STALE_MS) rmSync(place, { recursive: true, force: true });
  }
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return [];
    throw error;
  }
}
