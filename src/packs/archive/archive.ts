/**
 * Opens untrusted archives. The same rules apply to every format, and the whole archive is validated before a byte is written. A format only
 * says which entries there are (`ArchiveReader`); read `read-tar.ts` for one and `open-zip.ts` for the other.
 */
import { isDeepStrictEqual } from 'node:util';

import { ARCHIVE_LIMITS, problemError, quoted } from '#core';
import { isSystemError, pause } from '#platform';
import { findRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import type { EntryProblem } from '../sources/source.ts';
import { openArchiveFile, type ArchiveFile } from './archive-file.ts';
import { extractTree, type Extracted, type TreeWriter } from './extract-tree.ts';
import { openZip } from './open-zip.ts';
import { openTar } from './read-tar.ts';
import {
  archiveChanged,
  openEntryValidator,
  type ArchiveEntry,
  type ArchiveReader,
  type RawEntry,
  type ValidatorOptions,
} from './validate-entries.ts';

export type { ArchiveEntry } from './validate-entries.ts';

export interface OpenArchiveOptions extends Partial<Omit<ValidatorOptions, 'archiveBytes'>> {
  readonly signal?: AbortSignal;
}

interface ExtractOptions {
  readonly signal?: AbortSignal;
  /** Called for each written file. */
  readonly onFile?: (path: string) => void;
}

/** A validated archive. It stays open, so the extracted bytes are the validated ones even if the file is replaced. */
export interface OpenedArchive {
  readonly type: 'archive';
  readonly format: ArchiveReader['format'];
  readonly entries: readonly ArchiveEntry[];
  /**
   * Entries that are not extracted, one line each with the reason: `.git/`, `.claude-plugin/`, `__MACOSX/`, `.DS_Store`, other hidden
   * names.
   */
  readonly leftOut: readonly string[];
  /** Entries that are not extracted because they are refused; empty unless the archive was opened with `perSkill`. */
  readonly problems: readonly EntryProblem[];
  /**
   * Extracts into an empty or new folder whose parent exists. All or nothing: if it refuses or is aborted, the folder is unchanged. Does
   * not sync to disk; the caller does.
   */
  extract(to: string, options?: ExtractOptions): Promise<Extracted | PackRefusal>;
  close(): void;
}

/**
 * Opens an archive and validates everything except the compressed data, which is validated while it is unpacked. Detects the format by
 * content.
 */
export async function openArchive(
  file: string,
  { limits = ARCHIVE_LIMITS, signal, perSkill }: OpenArchiveOptions = {},
): Promise<OpenedArchive | PackRefusal> {
  let held: ArchiveFile | undefined;
  try {
    signal?.throwIfAborted();
    held = openArchiveFile(file);
    const reader = await openReader(held, file, limits, signal);
    return await validate(held, reader, { archiveBytes: held.size, limits, perSkill }, signal);
  } catch (error) {
    held?.close();
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    if (isSystemError(error))
      return packRefusal('source/failed', `${quoted(file)} cannot be read: ${error.code}`, file);
    throw error;
  }
}

async function openReader(
  held: ArchiveFile,
  file: string,
  limits: ValidatorOptions['limits'],
  signal: AbortSignal | undefined,
): Promise<ArchiveReader> {
  const { maxArchiveBytes } = limits;
  if (held.size > maxArchiveBytes)
    throw refused('archive/too-large', `the archive has more than ${String(maxArchiveBytes)} bytes`, file);
  const start = Buffer.alloc(4);
  held.fill(start, 0);
  if (start.readUInt16BE(0) === GZIP) return openTar(held, limits);
  const zip = await openZip(held, limits, signal);
  if (zip !== undefined) return zip;
  throw problemError(
    start.subarray(0, 2).toString('latin1') === 'PK' || held.size === 0
      ? packRefusal('archive/unreadable', `the end of ${quoted(file)} is missing`, file)
      : packRefusal('archive/format', `${quoted(file)} is neither a zip nor a tar.gz`, file),
  );
}

const GZIP = 0x1f8b;

/** `entry` is absent if it is not extracted. */
interface ValidatedEntry {
  readonly raw: RawEntry;
  readonly entry?: ArchiveEntry;
}

async function validate(
  held: ArchiveFile,
  reader: ArchiveReader,
  options: ValidatorOptions,
  signal: AbortSignal | undefined,
): Promise<OpenedArchive> {
  const validator = openEntryValidator(options);
  const read: ValidatedEntry[] = [];
  for await (const { raw } of reader.entries(signal)) read.push({ raw, entry: validator.check(raw) });
  const { extracted, leftOut, problems } = validator.finish();
  const validated = read.map(({ raw, entry }) =>
    entry !== undefined && extracted.has(entry) ? { raw, entry } : { raw },
  );
  return {
    type: 'archive',
    format: reader.format,
    entries: [...extracted],
    leftOut,
    problems,
    extract: (to, how = {}) => extractTree(to, (tree) => extractAll(reader, validated, tree, how)),
    close: () => held.close(),
  };
}

/** Files to extract before yielding to the event loop. */
const SLICE = 64;

async function extractAll(
  reader: ArchiveReader,
  validated: readonly ValidatedEntry[],
  tree: TreeWriter,
  { signal, onFile }: ExtractOptions,
): Promise<Omit<Extracted, 'type'>> {
  signal?.throwIfAborted();
  let [place, files, bytes] = [0, 0, 0];
  for await (const { raw, content } of reader.entries(signal)) {
    const { raw: before, entry } = validated[place] ?? {};
    place += 1;
    // Early, so that nothing is written for a changed entry.
    if (!isDeepStrictEqual(raw, before)) throw archiveChanged();
    if (entry?.type === 'folder') tree.folder(entry.path);
    if (raw.name.endsWith('/')) continue;
    const writer = entry === undefined ? undefined : tree.file(entry.path, entry.isExecutable);
    try {
      // Entries that are not extracted are still validated, because an archive is accepted or refused as a whole.
      for await (const piece of content()) writer?.write(piece);
    } finally {
      writer?.close();
    }
    if (entry === undefined) continue;
    files += 1;
    bytes += entry.bytes;
    onFile?.(entry.path);
    if (files % SLICE === 0) await pause(signal);
    else signal?.throwIfAborted();
  }
  return { files, bytes };
}
