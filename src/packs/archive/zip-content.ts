import { Readable } from 'node:stream';
import { constants, crc32, createInflateRaw, inflateRawSync } from 'node:zlib';

import type { FileWriter } from '../../platform/fs/atomic-replace.ts';
import { pause } from '../../platform/fs/tree-digest.ts';
import type { HeldFile } from './held-file.ts';
import { entryRefused } from './refused.ts';
import type { ZipEntry } from './zip-directory.ts';

/** Up to here a file is unpacked at once, which is many times faster for small ones. */
const AT_ONCE = 1024 * 1024;
const PIECE = 256 * 1024;

/** Unpacks one entry, no byte more than it said, and compares its checksum. Throws `PackRefused`; a part may be written by then. */
export async function unpackEntry(
  file: HeldFile,
  entry: ZipEntry,
  start: number,
  writer: FileWriter,
  signal?: AbortSignal,
): Promise<void> {
  let bytes = 0;
  let crc = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > entry.bytes) throw entryRefused('archive/bomb', entry.name, 'unpacks to more than it says');
    crc = crc32(piece, crc);
    writer.write(piece);
  };
  if (entry.method === 0) await copyStored(file, entry, start, take, signal);
  else if (entry.bytes <= AT_ONCE && entry.packed <= AT_ONCE)
    take(inflateAtOnce(entry, file.bytes(start, entry.packed)));
  else await inflateInPieces(file, entry, start, take, signal);
  if (bytes !== entry.bytes) throw entryRefused('archive/checksum', entry.name, 'unpacks to fewer bytes than it says');
  if (crc !== entry.crc) throw entryRefused('archive/checksum', entry.name, 'does not have the checksum it says');
}

async function copyStored(
  file: HeldFile,
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
    // At least 1, or there is no limit at all.
    const result: unknown = inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.bytes), info: true });
    if (!isInflated(result)) throw new TypeError('zlib gives the engine where it is asked for');
    refuseRest(entry, result.engine.bytesWritten);
    return result.buffer;
  } catch (error) {
    throw asRefused(error, entry);
  }
}

/** What `info` makes of the result; the types do not know it. `bytesWritten` is what was taken of the input. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;
}

async function inflateInPieces(
  file: HeldFile,
  entry: ZipEntry,
  start: number,
  take: (piece: Buffer) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const inflate = createInflateRaw({ chunkSize: PIECE, finishFlush: constants.Z_FINISH });
  const input = Readable.from(piecesOf(file, start, entry.packed));
  input.on('error', (error) => inflate.destroy(error));
  input.pipe(inflate);
  try {
    for await (const piece of inflate) {
      signal?.throwIfAborted();
      // A stream of bytes gives bytes.
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

function* piecesOf(file: HeldFile, start: number, length: number): Generator<Buffer> {
  for (let at = 0; at < length; at += PIECE) yield file.bytes(start + at, Math.min(PIECE, length - at));
}

/** Bytes behind the end of what is packed: another reader may make something of them. */
function refuseRest(entry: ZipEntry, taken: number): void {
  if (taken !== entry.packed)
    throw entryRefused('archive/extra-data', entry.name, 'has bytes after the end of what is packed');
}

function asRefused(error: unknown, entry: ZipEntry): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  if (error.code === 'ERR_BUFFER_TOO_LARGE')
    return entryRefused('archive/bomb', entry.name, 'unpacks to more than it says');
  if (error.code.startsWith('Z_')) return entryRefused('archive/checksum', entry.name, 'cannot be unpacked');
  return error;
}
