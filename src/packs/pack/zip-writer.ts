/**
 * A zip whose bytes depend on nothing but its files: no clock, no time zone, no owner, no extra field, one order, one level.
 *
 * The headers are written here because the writers we know put the local time into them. The bytes are deflated by `fflate`, whose
 * version is pinned: the zlib in Node differs between machines and versions, and gives other bytes for the same file.
 */
import { crc32 } from 'node:zlib';

import { deflateSync } from 'fflate';

export interface ZipFile {
  /** `/` between parts; checked by whoever calls. */
  readonly name: string;
  readonly isExecutable: boolean;
}

/** Gives the bytes of a zip file by file. */
export interface ZipWriter {
  /** The bytes to be written for a file, in turn. */
  add(file: ZipFile, data: Uint8Array): readonly Uint8Array[];
  /** The directory at the end. */
  end(): readonly Uint8Array[];
  /** Bytes given so far. */
  readonly size: number;
}

/** Without the 64-bit forms, which no pack within the limits needs. */
export const MAX_ZIP_ENTRIES = 0xfffe;
export const MAX_ZIP_BYTES = 0xffff_fffe;

/** 1 January 1980, 00:00: the first moment that a zip can hold. */
const DATE = 0x0021;
const TIME = 0;
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const UNIX = 3;
const STORED = 0;
const DEFLATED = 8;
/**
 * `mem` is given since `fflate` would choose it with a logarithm, whose last digit is the machine's. 2^17 places suit files of every
 * size that skills have.
 */
const DEFLATE = { level: 9, mem: 5 } as const;
/** What shrinks more is stored: our own reader, and others, would take it for a bomb. */
const MAX_SHRINK = 100;

interface Entry {
  readonly name: Uint8Array;
  readonly isExecutable: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

export function openZip(): ZipWriter {
  const entries: Entry[] = [];
  let size = 0;
  const given = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    for (const part of parts) size += part.length;
    return parts;
  };
  return {
    add({ name, isExecutable }, data) {
      const { method, bytes } = packed(data);
      const entry: Entry = {
        name: Buffer.from(name, 'utf8'),
        isExecutable,
        method,
        crc: crc32(data),
        packed: bytes.length,
        size: data.length,
        offset: size,
      };
      entries.push(entry);
      return given([localHeader(entry), entry.name, bytes]);
    },
    end() {
      const start = size;
      const directory = Buffer.concat(entries.flatMap((entry) => [centralHeader(entry), entry.name]));
      return given([directory, endRecord(entries.length, directory.length, start)]);
    },
    get size() {
      return size;
    },
  };
}

function packed(data: Uint8Array): { readonly method: number; readonly bytes: Uint8Array } {
  const bytes = deflateSync(data, DEFLATE);
  const isWorthIt = bytes.length < data.length && data.length <= bytes.length * MAX_SHRINK;
  return isWorthIt ? { method: DEFLATED, bytes } : { method: STORED, bytes: data };
}

function localHeader(entry: Entry): Uint8Array {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x0403_4b50, 0);
  writeCommon(header, 4, entry);
  return header;
}

function centralHeader(entry: Entry): Uint8Array {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE((UNIX << 8) | VERSION, 4);
  writeCommon(header, 6, entry);
  header.writeUInt32LE(((entry.isExecutable ? 0o100755 : 0o100644) << 16) >>> 0, 38);
  header.writeUInt32LE(entry.offset, 42);
  return header;
}

/** What both tables say of a file, and must say alike. */
function writeCommon(header: Buffer, at: number, { method, crc, packed, size, name }: Entry): void {
  header.writeUInt16LE(VERSION, at);
  header.writeUInt16LE(FLAGS, at + 2);
  header.writeUInt16LE(method, at + 4);
  header.writeUInt16LE(TIME, at + 6);
  header.writeUInt16LE(DATE, at + 8);
  header.writeUInt32LE(crc, at + 10);
  header.writeUInt32LE(packed, at + 14);
  header.writeUInt32LE(size, at + 18);
  header.writeUInt16LE(name.length, at + 22);
}

function endRecord(count: number, length: number, offset: number): Uint8Array {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x0605_4b50, 0);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(length, 12);
  record.writeUInt32LE(offset, 16);
  return record;
}
