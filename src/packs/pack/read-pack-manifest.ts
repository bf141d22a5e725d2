/** The manifest of a pack, from its folder or from the zip itself. */
import { isUtf8 } from 'node:buffer';

import { openPromise } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';

import { ARCHIVE_LIMITS } from '../../core/archive-limits.ts';
import { MANIFEST_NAME, MAX_MANIFEST_BYTES, readManifest } from './manifest.ts';
import type { ManifestReading } from './manifest.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { readRefusal } from '../system-refusal.ts';

export type PackManifestReading = ManifestReading | { readonly type: 'absent' };

/** `manifest.json` as a file. */
export function readPackManifest(file: string): PackManifestReading {
  const read = readTextFile(file, MAX_MANIFEST_BYTES);
  if (read.type === 'absent') return { type: 'absent' };
  if (read.type === 'failed')
    return packRefusal('pack/manifest', `${quoted(file, 200)} cannot be read: ${read.reason}`, file);
  return read.validUtf8 ? readManifest(read.text) : notUtf8(file);
}

/**
 * The manifest inside a zip, for one that is about to be signed. Nothing else of the zip is judged: whoever takes it from a stranger uses
 * the archive reader.
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
    if (error instanceof PackRefused) return error.refusal;
    if (isSystemError(error)) return readRefusal(error, file);
    // The library throws plain errors, with a sentence about the file.
    if (error instanceof Error) return packRefusal('archive/unreadable', `${quoted(file, 200)} is no whole zip`, file);
    throw error;
  }
}

async function findManifest(zip: ZipFile): Promise<Entry | undefined> {
  let found: Entry | undefined;
  let count = 0;
  for await (const entry of zip.eachEntry()) {
    count += 1;
    if (count > ARCHIVE_LIMITS.maxEntries) throw refused('archive/too-many', 'the pack has too many entries');
    if (entry.fileName !== MANIFEST_NAME) continue;
    if (found !== undefined) throw refused('archive/duplicate', `${MANIFEST_NAME} stands twice in the pack`);
    found = entry;
  }
  return found;
}

async function readEntry(zip: ZipFile, entry: Entry, file: string): Promise<PackManifestReading> {
  if (entry.uncompressedSize > MAX_MANIFEST_BYTES) throw refused('pack/manifest', `${MANIFEST_NAME} is too large`);
  const stream = await zip.openReadStreamPromise(entry);
  const pieces: Buffer[] = [];
  // The library ends a stream that gives more than its entry says.
  for await (const piece of stream) if (Buffer.isBuffer(piece)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return isUtf8(bytes) ? readManifest(bytes.toString('utf8')) : notUtf8(file);
}

function notUtf8(file: string): PackRefusal {
  return packRefusal('pack/manifest', `${MANIFEST_NAME} of ${quoted(file, 200)} is not UTF-8`, file);
}

function refused(code: PackRefusal['code'], message: string): PackRefused {
  return new PackRefused(packRefusal(code, message, MANIFEST_NAME));
}
