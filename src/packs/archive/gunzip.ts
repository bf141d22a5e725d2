import type { Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ArchiveFile } from './archive-file.ts';
import { ALWAYS_ALLOWED_BYTES } from './validate-entries.ts';
import { refused } from '../problems.ts';
import type { ArchiveLimits } from '../archive-limits.ts';

/** Sequential access to uncompressed bytes. */
export interface ByteSource {
  /** Returns exactly `length` bytes, or fewer at the end. */
  take(length: number): Promise<Buffer>;
  /** Returns at least one and at most `most` bytes, or none at the end. */
  some(most: number): Promise<Buffer>;
  /** SHA-256 of the compressed bytes, after all were read. */
  digest(): string;
  close(): void;
}

const PIECE = 64 * 1024;
/** Average size of the headers of an entry. */
const OVERHEAD_BYTES = 4096;

/**
 * Decompresses while reading and stops if the output grows far beyond the input. Throws a refusal. Concatenated gzip members are one
 * stream, as usual.
 */
export function openGunzip(file: ArchiveFile, limits: ArchiveLimits, signal: AbortSignal | undefined): ByteSource {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const pieces = unpack(file, limits, hash, signal);
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await pieces.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  const cut = (length: number): Buffer => {
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    return taken;
  };
  return {
    async take(length) {
      while (rest.length < length && (await more()));
      return cut(length);
    },
    async some(most) {
      if (rest.length === 0) await more();
      return cut(most);
    },
    digest: () => hash.digest('hex'),
    close() {
      pieces.return().catch(() => undefined);
    },
  };
}

async function* unpack(
  file: ArchiveFile,
  limits: ArchiveLimits,
  hash: Hash,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: PIECE });
  let fed = 0;
  let produced = 0;
  const input = Readable.from(
    (function* feed(): Generator<Buffer> {
      while (fed < file.size) {
        const piece = file.bytes(fed, Math.min(PIECE, file.size - fed));
        fed += piece.length;
        hash.update(piece);
        yield piece;
      }
    })(),
  );
  input.on('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  const most = limits.maxBytes + limits.maxEntries * OVERHEAD_BYTES;
  try {
    for await (const piece of gunzip) {
      signal?.throwIfAborted();
      // The stream has no encoding, so its chunks are buffers.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const bytes = piece as Buffer;
      produced += bytes.length;
      if (produced > ALWAYS_ALLOWED_BYTES + gunzip.bytesWritten * limits.maxRatio)
        throw refused(
          'archive/bomb',
          `the archive expands from ${String(gunzip.bytesWritten)} to ${String(produced)} bytes`,
        );
      if (produced > most) throw refused('archive/too-large', `the archive unpacks to more than ${String(most)} bytes`);
      yield bytes;
    }
    // zlib silently ignores zeros after the end, but no other data.
    if (gunzip.bytesWritten !== file.size)
      throw refused('archive/extra-data', 'there is data after the end of the archive');
  } catch (error) {
    throw asRefused(error);
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

/** Maps zlib errors, which differ only in their message. */
function asRefused(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  if (!error.code.startsWith('Z_')) return error;
  // The header of the first member is valid, so this is data after the last one.
  if (/header check/.test(error.message))
    return refused('archive/extra-data', 'there is data after the end of the archive');
  if (/(?:data|length) check/.test(error.message))
    return refused('archive/checksum', 'the checksum of the archive does not match');
  return refused('archive/unreadable', 'the archive cannot be decompressed');
}
