import type { Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import type { ArchiveLimits } from '../../core/archive-limits.ts';
import type { ArchiveFile } from './archive-file.ts';
import { ALWAYS_ALLOWED_BYTES } from './validate-entries.ts';
import { refused } from '../problems.ts';

/** Unpacked bytes, taken one after another. */
export interface ByteSource {
  /** Exactly so many; fewer only at the end of everything. */
  take(length: number): Promise<Buffer>;
  /** At least one byte and at most so many; none at the end. */
  some(most: number): Promise<Buffer>;
  /** Of the packed bytes, once all were taken. */
  digest(): string;
  close(): void;
}

const PIECE = 64 * 1024;
/** What the headers of one entry may take beside its bytes, on average. */
const OVERHEAD_BYTES = 4096;

/**
 * Unpacks as it is read, and stops as soon as it becomes far more than was read. Throws `PackRefused`. Several members after each
 * other are one stream, as everywhere.
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
      void pieces.return();
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
      // A stream of bytes gives bytes.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const bytes = piece as Buffer;
      produced += bytes.length;
      if (produced > ALWAYS_ALLOWED_BYTES + gunzip.bytesWritten * limits.maxRatio)
        throw refused(
          'archive/bomb',
          `the archive has become ${String(produced)} bytes from ${String(gunzip.bytesWritten)}`,
        );
      if (produced > most) throw refused('archive/too-large', `the archive unpacks to more than ${String(most)} bytes`);
      yield bytes;
    }
    // Zeros after the end are passed over by the library, unlike anything else.
    if (gunzip.bytesWritten !== file.size)
      throw refused('archive/extra-data', 'data stands after the end of the archive');
  } catch (error) {
    throw asRefused(error);
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}

/** The library says what is wrong in words only. */
function asRefused(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  if (!error.code.startsWith('Z_')) return error;
  // The first header was seen before: this is what follows the last member.
  if (/header check/.test(error.message))
    return refused('archive/extra-data', 'data stands after the end of the archive');
  if (/(?:data|length) check/.test(error.message))
    return refused('archive/checksum', 'the archive does not have the checksum it says');
  return refused('archive/unreadable', 'the archive cannot be unpacked');
}
