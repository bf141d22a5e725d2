/** Reads the manifest of a pack from a file or from the zip. */
import { isUtf8 } from 'node:buffer';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { ARCHIVE_LIMITS, quoted, listParentFolders, compareText } from '#core';
import { isSystemError, readTextFile, isPresent } from '#platform';
import {
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  readManifest,
  type ManifestReading,
  type ManifestSkill,
  type PackManifest,
} from './manifest.ts';
import { findRefusal, packRefusal, readRefusal, refused, isRefusal, type PackRefusal } from '../problems.ts';
import { findDrift, hasDrift, type Drift } from '../lock/lock-file.ts';
import { presentFiles } from '../root/present-files.ts';

export type PackManifestReading = ManifestReading | { readonly type: 'absent' };

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

/** `folder` contains `<skill>/…` for each skill. Paths of the drift start there; folders end with `/`. */
export function checkManifest(folder: string, { skills }: PackManifest): Drift | PackRefusal {
  const drifts: Drift[] = [];
  try {
    drifts.push({ changed: [], missing: [], added: extraEntries(folder, skills) });
  } catch (error) {
    return readRefusal(error, folder);
  }
  for (const skill of skills) {
    const drift = skillDrift(folder, skill);
    if (isRefusal(drift)) return drift;
    drifts.push(drift);
  }
  const all = (key: keyof Drift): readonly string[] => drifts.flatMap((drift) => drift[key]).sort(compareText);
  return { changed: all('changed'), missing: all('missing'), added: all('added') };
}

function extraEntries(folder: string, skills: readonly ManifestSkill[]): readonly string[] {
  const known = new Set([MANIFEST_NAME, ...skills.map(({ name }) => name)]);
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !known.has(name))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`);
}

function skillDrift(folder: string, skill: ManifestSkill): Drift | PackRefusal {
  const { name, files, digest } = skill;
  const dir = path.join(folder, name);
  const below = (at: string): string => `${name}/${at}`;
  if (!isPresent(dir)) return { changed: [], missing: Object.keys(files).map(below), added: [] };
  const tree = presentFiles(dir, { withoutLooks: true });
  if (isRefusal(tree)) return tree;
  const link = Object.keys(tree.files).find((at) => tree.files[at]?.sha256 === '');
  if (link !== undefined)
    return packRefusal('archive/link', `${quoted(below(link), 120)} is a link or a special file`, below(link));
  const { changed, missing, added } = findDrift(files, tree.files);
  const expected = new Set(Object.keys(files).flatMap(listParentFolders));
  const folders = tree.folders.filter((at) => !expected.has(at)).map((at) => `${at}/`);
  const drift = { changed: changed.map(below), missing: missing.map(below), added: [...added, ...folders].map(below) };
  if (!hasDrift(drift) && tree.digest !== digest)
    return packRefusal(
      'pack/manifest',
      `the digest of ${quoted(name)} in ${MANIFEST_NAME} does not match its files`,
      MANIFEST_NAME,
    );
  return drift;
}
