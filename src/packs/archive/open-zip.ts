import type { ExtraField } from 'yauzl';
import { Readable } from 'node:stream';
import { constants, crc32, createInflateRaw, inflateRawSync } from 'node:zlib';

import { quoted } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { pause } from '#platform';
import { windowedReads, type ArchiveFile } from './archive-file.ts';
import { entryRefused } from '../sources/portable-name.ts';
import type { ArchiveReader } from './validate-entries.ts';
import {
  FLAGS,
  LOCAL_HEADER_BYTES,
  ZIP64,
  findZipEnd,
  hasOtherUnicodePath,
  readZipDirectory,
  wide,
  type ZipEntry,
} from './zip-directory.ts';
import { refused } from '../problems.ts';

/** Some packers write an empty folder as two deflated bytes. */
const EMPTY_DEFLATED_BYTES = 2;

/** Returns undefined if the file is not a zip. Throws a refusal. */
export async function openZip(
  file: ArchiveFile,
  limits: ArchiveLimits,
  stop: AbortSignal | undefined,
): Promise<ArchiveReader | undefined> {
  const end = findZipEnd(file, limits);
  if (end === undefined) return undefined;
  const sorted = inFileOrder(await readZipDirectory(file, end, stop));
  /** Offsets of the data, known after the first time. */
  let starts: readonly number[] | undefined;
  return {
    format: 'zip',
    async *entries(signal) {
      for (const [place, raw] of sorted.entries()) {
        yield { raw, content: () => unpackEntry(file, raw, starts?.[place] ?? 0, signal) };
        if (raw.name.endsWith('/') && raw.packed > EMPTY_DEFLATED_BYTES)
          throw refused('archive/extra-data', `the folder ${quoted(raw.name)} has content`);
      }
      starts ??= await readLocalHeaders(file, sorted, end.start, signal);
    },
  };
}

/** Files up to this size are inflated in one call, which is many times faster for small files. */
const AT_ONCE = 1024 * 1024;
const PIECE = 256 * 1024;

/** Inflates one entry to at most its declared size and compares the checksum at the end. Throws a refusal. */
async function* unpackEntry(
  file: ArchiveFile,
  entry: ZipEntry,
  start: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  let crc = 0;
  for await (const piece of inflated(file, entry, start, signal)) {
    bytes += piece.length;
    if (bytes > entry.bytes) throw entryRefused('archive/bomb', entry.name, 'unpacks to more bytes than it declares');
    crc = crc32(piece, crc);
    yield piece;
  }
  if (bytes !== entry.bytes)
    throw entryRefused('archive/checksum', entry.name, 'unpacks to fewer bytes than it declares');
  if (crc !== entry.crc) throw entryRefused('archive/checksum', entry.name, 'does not match its checksum');
}

function inflated(
  file: ArchiveFile,
  entry: ZipEntry,
  start: number,
  signal: AbortSignal | undefined,
): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (entry.method !== 0 && entry.bytes <= AT_ONCE && entry.packed <= AT_ONCE)
    return [inflateAtOnce(entry, file.bytes(start, entry.packed))];
  const stored = readPieces(file, start, entry.packed, signal);
  return entry.method === 0 ? stored : inflateInPieces(stored, entry);
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

async function* inflateInPieces(packed: AsyncIterable<Buffer>, entry: ZipEntry): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw({ chunkSize: PIECE, finishFlush: constants.Z_FINISH });
  const input = Readable.from(packed);
  input.on('error', (error) => inflate.destroy(error));
  input.pipe(inflate);
  try {
    // The stream has no encoding, so its chunks are buffers.
    for await (const piece of inflate as AsyncIterable<Buffer>) yield piece;
    refuseRest(entry, inflate.bytesWritten);
  } catch (error) {
    throw asRefused(error, entry);
  } finally {
    input.destroy();
    inflate.destroy();
  }
}

async function* readPieces(
  file: ArchiveFile,
  start: number,
  length: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += PIECE) {
    if (at > 0) await pause(signal);
    yield file.bytes(start + at, Math.min(PIECE, length - at));
  }
}

/** Refuses data after the end of the compressed stream, which other readers may interpret. */
function refuseRest(entry: ZipEntry, length: number): void {
  if (length !== entry.packed)
    throw entryRefused('archive/extra-data', entry.name, 'has data after the end of the compressed stream');
}

function asRefused(error: unknown, entry: ZipEntry): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  if (error.code === 'ERR_BUFFER_TOO_LARGE')
    return entryRefused('archive/bomb', entry.name, 'unpacks to more bytes than it declares');
  if (error.code.startsWith('Z_')) return entryRefused('archive/checksum', entry.name, 'cannot be decompressed');
  return error;
}

/*
 * Every entry is described twice, and readers differ in which description they use. Both must be equal, and every byte of the file must
 * belong to exactly one structure.
 */

const SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
/** Flags that affect reading. The others describe the compression level. */
const TELLING_FLAGS = FLAGS.encrypted | FLAGS.descriptor | FLAGS.patch | FLAGS.utf8;
/** Holds a header with its name and, for small files, the following ones. */
const WINDOW_BYTES = 4096;
const SLICE = 512;

/** Sorts entries by offset. Throws a refusal if two overlap according to the central directory. */
function inFileOrder(entries: readonly ZipEntry[]): readonly ZipEntry[] {
  const sorted = entries.toSorted((one, other) => one.at - other.at);
  for (const [place, entry] of sorted.entries()) {
    const next = sorted[place + 1];
    if (next !== undefined && entry.at + LOCAL_HEADER_BYTES + entry.rawName.length + entry.packed > next.at)
      throw entryRefused('archive/overlap', next.name, `shares bytes with ${quoted(entry.name)}`);
  }
  return sorted;
}

/** Returns the data offsets of entries, which must be sorted by offset. `end` is the offset of the central directory. */
async function readLocalHeaders(
  file: ArchiveFile,
  sorted: readonly ZipEntry[],
  end: number,
  signal: AbortSignal | undefined,
): Promise<readonly number[]> {
  const starts: number[] = [];
  const near = windowedReads(file, WINDOW_BYTES);
  const first = sorted[0]?.at ?? end;
  if (first !== 0) throw refused('archive/extra-data', 'there is data before the first entry');
  for (const [place, entry] of sorted.entries()) {
    const start = readLocalHeader(near, entry);
    const next = sorted[place + 1]?.at ?? end;
    const gap = next - (start + entry.packed);
    if (gap < 0) throw entryRefused('archive/overlap', entry.name, 'shares bytes with the next entry');
    if ((entry.flags & FLAGS.descriptor) !== 0)
      refuseDescriptor(entry, near.bytes(start + entry.packed, Math.min(gap, 25)));
    else if (gap > 0) throw entryRefused('archive/extra-data', entry.name, 'is followed by unused bytes');
    starts.push(start);
    if (starts.length % SLICE === 0) await pause(signal);
  }
  return starts;
}

function readLocalHeader(file: Pick<ArchiveFile, 'bytes'>, entry: ZipEntry): number {
  const header = file.bytes(entry.at, LOCAL_HEADER_BYTES);
  if (header.readUInt32LE(0) !== SIGNATURE)
    throw entryRefused('archive/mismatch', entry.name, 'is not at its declared offset');
  const nameBytes = header.readUInt16LE(26);
  const extraBytes = header.readUInt16LE(28);
  const rest = file.bytes(entry.at + LOCAL_HEADER_BYTES, nameBytes + extraBytes);
  const extraFields = readExtraFields(rest.subarray(nameBytes), entry);
  const isSame =
    rest.subarray(0, nameBytes).equals(entry.rawName) &&
    !hasOtherUnicodePath(extraFields, entry.rawName) &&
    header.readUInt16LE(8) === entry.method &&
    ((header.readUInt16LE(6) ^ entry.flags) & TELLING_FLAGS) === 0;
  if (!isSame) throw entryRefused('archive/mismatch', entry.name, 'has a different name or type in its local header');
  refuseSizes(entry, header, extraFields);
  return entry.at + LOCAL_HEADER_BYTES + nameBytes + extraBytes;
}

function refuseSizes(entry: ZipEntry, header: Buffer, extraFields: readonly ExtraField[]): void {
  const zip64 = extraFields.find(({ id }) => id === ZIP64)?.data;
  const raw = { crc: header.readUInt32LE(14), packed: header.readUInt32LE(18), bytes: header.readUInt32LE(22) };
  const isWide = raw.packed === 0xffffffff || raw.bytes === 0xffffffff;
  // The local header must contain both sizes.
  if (isWide && (zip64 === undefined || zip64.length < 16))
    throw entryRefused('archive/zip64', entry.name, 'lacks the 64-bit sizes that it declares');
  const bytes = isWide && zip64 !== undefined ? wide(zip64, 0) : raw.bytes;
  const packed = isWide && zip64 !== undefined ? wide(zip64, 8) : raw.packed;
  // With a data descriptor, sizes are 0 here and follow the data.
  const isLater = (entry.flags & FLAGS.descriptor) !== 0;
  const isSame = (value: number, known: number): boolean => value === known || (isLater && value === 0);
  if (!isSame(raw.crc, entry.crc) || !isSame(packed, entry.packed) || !isSame(bytes, entry.bytes))
    throw entryRefused('archive/mismatch', entry.name, 'has a different size or checksum in its local header');
}

/** Validates the data descriptor after the data. Nothing else may follow. */
function refuseDescriptor(entry: ZipEntry, gap: Buffer): void {
  const body =
    gap.length >= 16 && gap.readUInt32LE(0) === DESCRIPTOR_SIGNATURE && gap.length % 8 === 0 ? gap.subarray(4) : gap;
  const isNarrow = body.length === 12;
  if (gap.length === 0)
    throw entryRefused('archive/mismatch', entry.name, 'lacks the data descriptor that it declares');
  if (!isNarrow && body.length !== 20)
    throw entryRefused('archive/extra-data', entry.name, 'is followed by unused bytes');
  const packed = isNarrow ? body.readUInt32LE(4) : wide(body, 4);
  const bytes = isNarrow ? body.readUInt32LE(8) : wide(body, 12);
  if (body.readUInt32LE(0) !== entry.crc || packed !== entry.packed || bytes !== entry.bytes)
    throw entryRefused('archive/mismatch', entry.name, 'has a different size or checksum in its data descriptor');
}

function readExtraFields(raw: Buffer, entry: ZipEntry): readonly ExtraField[] {
  const fields: ExtraField[] = [];
  let at = 0;
  // Aligning packers leave padding that is shorter than a field.
  while (at + 4 <= raw.length) {
    const end = at + 4 + raw.readUInt16LE(at + 2);
    if (end > raw.length) throw entryRefused('archive/mismatch', entry.name, 'has incomplete extra fields');
    fields.push({ id: raw.readUInt16LE(at), data: raw.subarray(at + 4, end) });
    at = end;
  }
  return fields;
}
