import { Readable } from 'node:stream';
import { constants, crc32, createInflateRaw, inflateRawSync } from 'node:zlib';

import { quoted } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { pause } from '#platform';
import type { ArchiveFile } from './archive-file.ts';
import { entryRefused } from '../sources/portable-name.ts';
import type { ArchiveReader } from './validate-entries.ts';
import { readZipDirectory, findZipEnd, type ZipEntry } from './zip-directory.ts';
import { inFileOrder, readLocalHeaders } from './zip-local.ts';
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
