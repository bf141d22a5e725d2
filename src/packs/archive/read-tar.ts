import type { Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { quoted, type SkillError } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { refused } from '../problems.ts';
import {
  ALWAYS_ALLOWED_BYTES,
  archiveChanged,
  decodeName,
  type ArchiveReader,
  type RawEntry,
  type ReadEntry,
} from './validate-entries.ts';
import { tooMany } from '../sources/portable-name.ts';
import type { ArchiveFile } from './archive-file.ts';

/** Decompresses the archive each time it is read, and refuses it if its bytes differ from those of the first time. */
export function openTar(file: ArchiveFile, limits: ArchiveLimits): ArchiveReader {
  let digest: string | undefined;
  return {
    format: 'tar.gz',
    async *entries(signal) {
      const source = openGunzip(file, limits, signal);
      try {
        yield* readTar(source, limits);
        const now = source.digest();
        digest ??= now;
        if (now !== digest) throw archiveChanged();
      } finally {
        source.close();
      }
    },
  };
}

/** Limit for long names and extended headers. */
const MAX_EXTENSION_BYTES = 64 * 1024;

/** Reads all entries. Only zeros may follow the end. Throws a refusal. */
async function* readTar(source: ByteSource, limits: ArchiveLimits): AsyncGenerator<ReadEntry, void, undefined> {
  let extensions: Extensions = {};
  for (let blocks = 0; ; blocks += 1) {
    const block = await takeWhole(source, BLOCK_BYTES);
    if (isZero(block)) break;
    // Extended headers count as well; packers need at most two per entry.
    if (blocks >= limits.maxEntries * 3) throw tooMany(limits);
    const header = readTarHeader(block);
    const changes = await readExtension(source, header);
    if (changes !== undefined) {
      extensions = merge(extensions, changes);
      continue;
    }
    const raw = tell(header, extensions);
    extensions = {};
    let left = raw.bytes;
    async function* content(): AsyncGenerator<Buffer, void, undefined> {
      while (left > 0) {
        const piece = await source.some(left);
        if (piece.length === 0) throw endsEarly();
        left -= piece.length;
        yield piece;
      }
    }
    // Not the packed folder itself.
    if (raw.name !== './' || raw.kind !== 'folder' || raw.bytes !== 0) yield { raw, content };
    // Skips data that the caller did not read.
    if (left > 0) for await (const piece of content()) void piece;
    await takePadding(source, raw.bytes);
  }
  if (extensions.path !== undefined || extensions.bytes !== undefined)
    throw refused('archive/unreadable', 'an extended header has no entry');
  await takeEnd(source);
}

/** Returns undefined for the header of an entry. */
async function readExtension(source: ByteSource, header: TarHeader): Promise<Extensions | undefined> {
  if (!'xgLK'.includes(header.type)) return undefined;
  if (header.bytes > MAX_EXTENSION_BYTES)
    throw refused('archive/name', `an extended header has more than ${String(MAX_EXTENSION_BYTES)} bytes`);
  const data = await takeWhole(source, header.bytes);
  await takePadding(source, header.bytes);
  if (header.type === 'x') return readPax(data);
  if (header.type === 'g') {
    const { path, bytes } = readPax(data);
    if (path !== undefined || bytes !== undefined)
      throw refused('archive/mismatch', 'a global header sets the name or size of all entries');
    return {};
  }
  // A long link target. The link itself is refused.
  if (header.type === 'K') return {};
  return { path: decodeName(data.at(-1) === 0 ? data.subarray(0, -1) : data) };
}

function merge(before: Extensions, more: Extensions): Extensions {
  const isTwice = (key: keyof Extensions): boolean => before[key] !== undefined && more[key] !== undefined;
  if (isTwice('path') || isTwice('bytes')) throw refused('archive/mismatch', 'an entry has a duplicate property');
  return { path: more.path ?? before.path, bytes: more.bytes ?? before.bytes };
}

function tell(header: TarHeader, extensions: Extensions): RawEntry {
  const written = extensions.path ?? header.name;
  // Packers that pack the current folder prefix every name with `./`.
  const bare = written.startsWith('./') && written !== './' ? written.slice(2) : written;
  const kind = classifyEntry(header.type, bare);
  // A reader without support for the extension would find the next header at another offset.
  if (extensions.bytes !== undefined && extensions.bytes !== header.bytes)
    throw refused('archive/mismatch', `${quoted(bare)} has two different sizes`);
  const name = kind === 'folder' && !bare.endsWith('/') ? `${bare}/` : bare;
  return { name, kind, mode: header.mode, bytes: header.bytes };
}

const KINDS: Readonly<Record<string, RawEntry['kind']>> = { 0: 'file', 7: 'file', 1: 'link', 2: 'link', 5: 'folder' };

/** Old archives have no types and mark folders by a slash. */
function classifyEntry(type: string, name: string): RawEntry['kind'] {
  return type === '\0' ? (name.endsWith('/') ? 'folder' : 'file') : (KINDS[type] ?? 'special');
}

async function takeWhole(source: ByteSource, length: number): Promise<Buffer> {
  const bytes = await source.take(length);
  if (bytes.length < length) throw endsEarly();
  return bytes;
}

async function takePadding(source: ByteSource, bytes: number): Promise<void> {
  if (bytes % BLOCK_BYTES !== 0) await takeWhole(source, BLOCK_BYTES - (bytes % BLOCK_BYTES));
}

/** The first of the two zero blocks was already read. */
async function takeEnd(source: ByteSource): Promise<void> {
  let rest = await takeWhole(source, BLOCK_BYTES);
  for (; rest.length > 0; rest = await source.some(BLOCK_BYTES * 128))
    if (!isZero(rest)) throw refused('archive/extra-data', 'there is data after the end of the archive');
}

function endsEarly(): SkillError {
  return refused('archive/unreadable', 'the archive ends too early');
}

const BLOCK_BYTES = 512;

/** One header block. Only its checksum is verified. */
interface TarHeader {
  readonly name: string;
  readonly type: string;
  readonly mode: number;
  /** Size of the data after the header. */
  readonly bytes: number;
}

/** Throws a refusal. */
function readTarHeader(block: Buffer): TarHeader {
  if (number(block, 148, 8) !== checksum(block))
    throw refused('archive/unreadable', 'the checksum of a header does not match');
  const isPosix = block.subarray(257, 265).equals(POSIX_MAGIC);
  const [prefix, name] = [isPosix ? text(block, 345, 155) : '', text(block, 0, 100)];
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(block[156] ?? 0),
    mode: number(block, 100, 8) & 0o7777,
    bytes: number(block, 124, 12),
  };
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

const ZEROS = Buffer.alloc(64 * 1024);
const POSIX_MAGIC = Buffer.from('ustar\x0000', 'latin1');
/** Marks a number in base 256. */
const BASE_256 = 0x80;
const OCTAL = /^ *([0-7]*)[ \0]*$/;

/** Parses octal digits, or base 256 for large numbers. */
function number(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  if (field[0] === BASE_256) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (Number.isSafeInteger(value)) return value;
    throw refused('archive/unreadable', 'a header has an invalid number');
  }
  const digits = OCTAL.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw refused('archive/unreadable', 'a header has an invalid number');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

/** The checksum field counts as spaces. An index loop, because this dominates the time for archives with many small files. */
function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK_BYTES; at += 1) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

/** A name ends at the first NUL. Other bytes after it are refused, because some readers would include them. */
function text(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  if (end === -1) return decodeName(field);
  if (!isZero(field.subarray(end))) throw refused('archive/name', 'a name has data after its end');
  return decodeName(field.subarray(0, end));
}

/** Properties that earlier headers set for the next entry. Other records of a pax header are ignored. */
interface Extensions {
  readonly path?: string;
  readonly bytes?: number;
}

const SPACE = 0x20;
const LINE_END = 0x0a;
const SIZE = /^[0-9]{1,15}$/;

/** Reads `<length> <key>=<value>\n` records. Throws a refusal. */
function readPax(data: Buffer): Extensions {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < data.length;) {
    const { key, value, end } = readRecord(data, at);
    if (key.startsWith('GNU.sparse')) throw refused('archive/special-file', 'sparse files are not supported');
    // Readers disagree about which of two duplicate records counts.
    if (records.has(key)) throw refused('archive/mismatch', 'an entry has a duplicate property');
    records.set(key, value);
    at = end;
  }
  const path = records.get('path');
  const size = records.get('size');
  return {
    path: path === undefined ? undefined : decodeName(path),
    bytes: size === undefined ? undefined : readSize(size.toString('latin1')),
  };
}

function readRecord(data: Buffer, at: number): { readonly key: string; readonly value: Buffer; readonly end: number } {
  const space = data.indexOf(SPACE, at);
  const digits = space === -1 ? '' : data.toString('latin1', at, Math.min(space, at + 10));
  const end = at + Number.parseInt(digits, 10);
  const equals = data.indexOf('=', space);
  const isRecord = /^[1-9][0-9]*$/.test(digits) && end <= data.length && equals > space && equals < end;
  if (!isRecord || data[end - 1] !== LINE_END) throw refused('archive/unreadable', 'an extended header cannot be read');
  return { key: data.toString('latin1', space + 1, equals), value: data.subarray(equals + 1, end - 1), end };
}

function readSize(text: string): number {
  if (SIZE.test(text)) return Number(text);
  throw refused('archive/unreadable', 'an extended header has an invalid size');
}

/** Sequential access to uncompressed bytes. */
interface ByteSource {
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
function openGunzip(file: ArchiveFile, limits: ArchiveLimits, signal: AbortSignal | undefined): ByteSource {
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
    const part = rest.subarray(0, length);
    rest = rest.subarray(length);
    return part;
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
    // The stream has no encoding, so its chunks are buffers.
    for await (const bytes of gunzip as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
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
