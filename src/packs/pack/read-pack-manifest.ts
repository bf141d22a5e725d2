/** Reads the manifest of a pack from a file or from the zip. */
import { isUtf8 } from 'node:buffer';
import { openPromise, type Entry, type ZipFile } from 'yauzl';

import { quoted, ARCHIVE_LIMITS } from '#core';
import { MANIFEST_NAME, MAX_MANIFEST_BYTES, readManifest, type ManifestReading } from './manifest.ts';
import { findRefusal, packRefusal, readRefusal, refused, type PackRefusal } from '../problems.ts';
import { isSystemError, readTextFile } from '#platform';

export type PackManifestReading = ManifestReading | { readonly type: 'absent' };

/** Reads `manifest.json` as a file. */
export function readPackManifest(file: string): PackManifestReading {
  const read = readTextFile(file, MAX_MANIFEST_BYTES);
  if (read.type === 'absent') return { type: 'absent' };
  if (read.type === 'failed')
    return packRefusal('pack/manifest', `${quoted(file, 200)} cannot be read: ${read.reason}`, file);
  return read.validUtf8 ? readManifest(read.text) : notUtf8(file);
}

/**
 * Reads the manifest inside a zip that is about to be signed. Does not validate the rest of the zip; untrusted archives need the archive
 * reader.
 */
export async function readManifestOfPack(file: string): Promise<PackManifestReading> {
  try {
    const zip = await openPromise(file, { autoClose: false, lazyEntries: true });
    try {
      const entry = await findManifest(zip);
      return entry === undefined ? { type: 'absent' } : await readEntry(zip, entry, file);
    } finally {
      zip.close();
    }
  } catch (error) {
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    if (isSystemError(error)) return readRefusal(error, file);
    // yauzl throws plain errors for invalid files.
    if (error instanceof Error)
      return packRefusal('archive/unreadable', `${quoted(file, 200)} is not a complete zip`, file);
    throw error;
  }
}

async function findManifest(zip: ZipFile): Promise<Entry | undefined> {
  let found: Entry | undefined;
  let count = 0;
  for await (const entry of zip.eachEntry()) {
    count += 1;
    if (count > ARCHIVE_LIMITS.maxEntries)
      throw refused('archive/too-many', 'the pack has too many entries', MANIFEST_NAME);
    if (entry.fileName !== MANIFEST_NAME) continue;
    if (found !== undefined)
      throw refused('archive/duplicate', `${MANIFEST_NAME} occurs twice in the pack`, MANIFEST_NAME);
    found = entry;
  }
  return found;
}

async function readEntry(zip: ZipFile, entry: Entry, file: string): Promise<PackManifestReading> {
  if (entry.uncompressedSize > MAX_MANIFEST_BYTES)
    throw refused('pack/manifest', `${MANIFEST_NAME} is too large`, MANIFEST_NAME);
  const stream = await zip.openReadStreamPromise(entry);
  const pieces: Buffer[] = [];
  // yauzl ends a stream that exceeds the declared size.
  for await (const piece of stream) if (Buffer.isBuffer(piece)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return isUtf8(bytes) ? readManifest(bytes.toString('utf8')) : notUtf8(file);
}

function notUtf8(file: string): PackRefusal {
  return packRefusal('pack/manifest', `${MANIFEST_NAME} of ${quoted(file, 200)} is not UTF-8`, file);
}
