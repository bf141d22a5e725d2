/** Opens untrusted archives. The same rules apply to every format, and the whole archive is validated before a byte is written. */
import { problemError, quoted, ARCHIVE_LIMITS } from '#core';
import { findRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { isSystemError } from '#platform';
import { openArchiveFile, type ArchiveFile } from './archive-file.ts';
import { openTar } from './open-tar.ts';
import { openZip, type OpenOptions } from './open-zip.ts';
import type { OpenedArchive } from './extract-tree.ts';
import type { ArchiveLimits } from '../archive-limits.ts';

export type { ArchiveEntry, OpenedArchive } from './extract-tree.ts';

export interface OpenArchiveOptions {
  readonly limits?: ArchiveLimits;
  readonly signal?: AbortSignal;
  /** Collects problems that concern a single skill in `problems` instead of refusing the archive. */
  readonly perSkill?: boolean;
}

/**
 * Opens an archive and validates everything except the compressed data, which is validated while it is unpacked. Detects the format by
 * content.
 */
export async function openArchive(
  file: string,
  { limits = ARCHIVE_LIMITS, signal, perSkill = false }: OpenArchiveOptions = {},
): Promise<OpenedArchive | PackRefusal> {
  let held: ArchiveFile | undefined;
  try {
    signal?.throwIfAborted();
    held = openArchiveFile(file);
    return await openByFormat(held, file, { limits, perSkill, signal });
  } catch (error) {
    held?.close();
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    if (isSystemError(error))
      return packRefusal('source/failed', `${quoted(file)} cannot be read: ${error.code}`, file);
    throw error;
  }
}

async function openByFormat(held: ArchiveFile, file: string, options: OpenOptions): Promise<OpenedArchive> {
  const { maxArchiveBytes } = options.limits;
  if (held.size > maxArchiveBytes)
    throw refused('archive/too-large', `the archive has more than ${String(maxArchiveBytes)} bytes`, file);
  const start = Buffer.alloc(4);
  held.fill(start, 0);
  if (start.readUInt16BE(0) === GZIP) return openTar(held, options);
  const zip = await openZip(held, options);
  if (zip !== undefined) return zip;
  throw problemError(
    start.subarray(0, 2).toString('latin1') === 'PK' || held.size === 0
      ? packRefusal('archive/unreadable', `the end of ${quoted(file)} is missing`, file)
      : packRefusal('archive/format', `${quoted(file)} is neither a zip nor a tar.gz`, file),
  );
}

const GZIP = 0x1f8b;
