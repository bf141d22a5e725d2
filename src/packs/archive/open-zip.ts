import { Readable } from 'node:stream';
import { constants, crc32, createInflateRaw, inflateRawSync } from 'node:zlib';

import { quoted } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { pause } from '#platform';
import {
  extractTree,
  type FileWriter,
  type ArchiveEntry,
  type ExtractOptions,
  type Extracted,
  type OpenedArchive,
  type TreeWriter,
} from './extract-tree.ts';
import type { ArchiveFile } from './archive-file.ts';
import { openEntryValidator, entryRefused } from './validate-entries.ts';
import { readZipDirectory, findZipEnd, type ZipEntry } from './zip-directory.ts';
import { inFileOrder, readLocalHeaders } from './zip-local.ts';
import { refused } from '../problems.ts';

export interface OpenOptions {
  readonly limits: ArchiveLimits;
  readonly signal?: AbortSignal;
  /** Collects problems that concern a single skill in `problems` instead of refusing the archive. */
  readonly perSkill?: boolean;
}

interface ValidatedZipEntry {
  readonly raw: ZipEntry;
  /** Undefined if the entry is not extracted. */
  readonly entry: ArchiveEntry | undefined;
  /** Offset of its data. */
  readonly start: number;
}

/** Some packers write an empty folder as two deflated bytes. */
const EMPTY_DEFLATED_BYTES = 2;
const NOWHERE: FileWriter = { write: () => undefined, close: () => undefined };
/** Files to extract before yielding to the event loop. */
const SLICE = 64;

/** Returns undefined if the file is not a zip. Throws a refusal. */
export async function openZip(
  file: ArchiveFile,
  { limits, signal, perSkill = false }: OpenOptions,
): Promise<OpenedArchive | undefined> {
  const end = findZipEnd(file, limits);
  if (end === undefined) return undefined;
  const sorted = inFileOrder(await readZipDirectory(file, end, signal));
  const validator = openEntryValidator({ archiveBytes: file.size, limits, perSkill });
  const all = sorted.map((raw) => {
    const { entry } = validator.check(raw);
    refuseFolderContent(raw);
    return entry;
  });
  const { isExtracted, leftOut, problems } = validator.finish();
  const entries = all.map((entry) => (entry !== undefined && isExtracted(entry) ? entry : undefined));
  const starts = await readLocalHeaders(file, sorted, end.start, signal);
  const validated = sorted.map((raw, place): ValidatedZipEntry => ({
    raw,
    entry: entries[place],
    start: starts[place] ?? 0,
  }));
  return {
    type: 'archive',
    format: 'zip',
    entries: entries.filter((entry) => entry !== undefined),
    leftOut,
    problems,
    extract: (to, options = {}) => extractTree(to, (tree) => writeAll(file, validated, tree, options)),
    close: () => file.close(),
  };
}

function refuseFolderContent({ name, packed }: ZipEntry): void {
  if (name.endsWith('/') && packed > EMPTY_DEFLATED_BYTES)
    throw refused('archive/extra-data', `the folder ${quoted(name)} has content`);
}

async function writeAll(
  file: ArchiveFile,
  validated: readonly ValidatedZipEntry[],
  tree: TreeWriter,
  { signal, onFile }: ExtractOptions,
): Promise<Omit<Extracted, 'type'>> {
  let files = 0;
  let bytes = 0;
  signal?.throwIfAborted();
  for (const { raw, entry, start } of validated) {
    if (entry?.type === 'folder') tree.folder(entry.path);
    if (raw.name.endsWith('/')) continue;
    // Entries that are not extracted are still validated, because an archive is accepted or refused as a whole.
    const writer = entry === undefined ? NOWHERE : tree.file(entry.path, entry.isExecutable);
    try {
      await unpackEntry(file, raw, start, writer, signal);
    } finally {
      writer.close();
    }
    if (entry === undefined) continue;
    files += 1;
    bytes += entry.bytes;
    onFile?.(entry.path);
    if (files % SLICE === 0) await pause(signal);
  }
  return { files, bytes };
}

/** Files up to this size are inflated in one call, which is many times faster for small files. */
const AT_ONCE = 1024 * 1024;
const PIECE = 256 * 1024;

/**
 * Inflates one entry to at most its declared size and compares the checksum. Throws a refusal; the file may be partly written by then.
 */
export async function unpackEntry(
  file: ArchiveFile,
  entry: ZipEntry,
  start: number,
  writer: FileWriter,
  signal?: AbortSignal,
): Promise<void> {
  let bytes = 0;
  let crc = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > entry.bytes) throw entryRefused('archive/bomb', entry.name, 'unpacks to more bytes than it declares');
    crc = crc32(piece, crc);
    writer.write(piece);
  };
  if (entry.method === 0) await copyStored(file, entry, start, take, signal);
  else if (entry.bytes <= AT_ONCE && entry.packed <= AT_ONCE)
    take(inflateAtOnce(entry, file.bytes(start, entry.packed)));
  else await inflateInPieces(file, entry, start, take, signal);
  if (bytes !== entry.bytes)
    throw entryRefused('archive/checksum', entry.name, 'unpacks to fewer bytes than it declares');
  if (crc !== entry.crc) throw entryRefused('archive/checksum', entry.name, 'does not match its checksum');
}

async function copyStored(
  file: ArchiveFile,
  entry: ZipEntry,
  start: number,
  take: (piece: Buffer) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let at = 0; at < entry.packed; at += PIECE) {
    if (at > 0) await pause(signal);
    take(file.bytes(start + at, Math.min(PIECE, entry.packed - at)));
  }
}

function inflateAtOnce(entry: ZipEntry, packed: Buffer): Buffer {
  try {
    // 0 would mean no limit.
    const result: unknown = inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.bytes), info: true });
    if (!isInflated(result)) throw new TypeError('zlib did not return its engine');
    refuseRest(entry, result.engine.bytesWritten);
    return result.buffer;
  } catch (error) {
    throw asRefused(error, entry);
  }
}

/** Result of zlib with `info: true`, which the types do not describe. `bytesWritten` is the number of input bytes. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;
}

async function inflateInPieces(
  file: ArchiveFile,
  entry: ZipEntry,
  start: number,
  take: (piece: Buffer) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const inflate = createInflateRaw({ chunkSize: PIECE, finishFlush: constants.Z_FINISH });
  const input = Readable.from(readPieces(file, start, entry.packed));
  input.on('error', (error) => inflate.destroy(error));
  input.pipe(inflate);
  try {
    for await (const piece of inflate) {
      signal?.throwIfAborted();
      // The stream has no encoding, so its chunks are buffers.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      take(piece as Buffer);
    }
    refuseRest(entry, inflate.bytesWritten);
  } catch (error) {
    throw asRefused(error, entry);
  } finally {
    input.destroy();
    inflate.destroy();
  }
}

function* readPieces(file: ArchiveFile, start: number, length: number): Generator<Buffer> {
  for (let at = 0; at < length; at += PIECE) yield file.bytes(start + at, Math.min(PIECE, length - at));
}

/** Refuses data after the end of the compressed stream, which other readers may interpret. */
function refuseRest(entry: ZipEntry, taken: number): void {
  if (taken !== entry.packed)
    throw entryRefused('archive/extra-data', entry.name, 'has data after the end of the compressed stream');
}

function asRefused(error: unknown, entry: ZipEntry): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  if (error.code === 'ERR_BUFFER_TOO_LARGE')
    return entryRefused('archive/bomb', entry.name, 'unpacks to more bytes than it declares');
  if (error.code.startsWith('Z_')) return entryRefused('archive/checksum', entry.name, 'cannot be decompressed');
  return error;
}
