import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a zip, with everything that a liar can say of it. */
export interface ZipPart {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Deflated where nothing is said, except for folders. */
  readonly isStored?: boolean;
  /** Unix mode with its type bits. */
  readonly mode?: number;
  /** Low half of the external attributes. */
  readonly dos?: number;
  readonly madeBy?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  /** As told, in both headers. */
  readonly bytes?: number;
  readonly packedBytes?: number;
  /** The packed bytes themselves. */
  readonly packed?: Buffer;
  readonly extra?: Buffer;
  readonly comment?: string;
  /** Sizes and checksum follow the bytes. */
  readonly descriptor?: 'plain' | 'signed' | 'wide' | 'wrong';
  /** Sizes stand in a 64-bit field. */
  readonly isWide?: boolean;
  /** What the local header says instead. */
  readonly local?: LocalLies;
  /** Another place of the local header. */
  readonly at?: number;
  /** Bytes after this entry that belong to nothing. */
  readonly gap?: Buffer;
}

interface LocalLies {
  readonly name?: string;
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  readonly bytes?: number;
  readonly extra?: Buffer;
  readonly signature?: number;
}

export interface ZipShape {
  readonly prefix?: Buffer;
  readonly suffix?: Buffer;
  /** Offsets count from the start of the file, with the prefix. */
  readonly areOffsetsMoved?: boolean;
  readonly comment?: Buffer;
  readonly count?: number;
  readonly disk?: number;
  /** Bytes between the table of contents and the end. */
  readonly beforeEnd?: Buffer;
  /** A 64-bit end record; its fields may lie. */
  readonly end64?: { readonly count?: number; readonly start?: number; readonly recordAt?: number };
}

export function makeZip(parts: readonly ZipPart[], shape: ZipShape = {}): Buffer {
  const { prefix = Buffer.alloc(0), suffix = Buffer.alloc(0), areOffsetsMoved = true } = shape;
  const pieces: Buffer[] = [];
  const central: Buffer[] = [];
  let at = areOffsetsMoved ? prefix.length : 0;
  for (const part of parts) {
    const made = makeEntry(part, at);
    pieces.push(made.local);
    central.push(made.central);
    at += made.local.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([prefix, ...pieces, directory, makeEnd(parts.length, at, directory.length, shape), suffix]);
}

/** Only the records of the end, for archives put together by hand. */
export function makeEnd(entries: number, start: number, length: number, shape: ZipShape = {}): Buffer {
  const { comment = Buffer.alloc(0), count = entries, disk = 0, beforeEnd = Buffer.alloc(0), end64 } = shape;
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(disk, 4);
  end.writeUInt16LE(disk, 6);
  end.writeUInt16LE(Math.min(count, 0xffff), 8);
  end.writeUInt16LE(Math.min(count, 0xffff), 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  end.writeUInt16LE(comment.length, 20);
  const wide = end64 === undefined ? Buffer.alloc(0) : makeEnd64(count, start, length, end64);
  return Buffer.concat([beforeEnd, wide, end, comment]);
}

function makeEnd64(count: number, start: number, length: number, lies: NonNullable<ZipShape['end64']>): Buffer {
  const record = Buffer.alloc(56);
  record.write('PK\x06\x06', 'latin1');
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(45, 12);
  record.writeUInt16LE(45, 14);
  record.writeBigUInt64LE(BigInt(lies.count ?? count), 24);
  record.writeBigUInt64LE(BigInt(lies.count ?? count), 32);
  record.writeBigUInt64LE(BigInt(length), 40);
  record.writeBigUInt64LE(BigInt(lies.start ?? start), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(BigInt(lies.recordAt ?? start + length), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator]);
}

interface Told {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly bytes: number;
  readonly extra: Buffer;
}

/** An entry by itself, its local header first, and its line in the table of contents. */
export function makeEntry(part: ZipPart, at: number): { readonly local: Buffer; readonly central: Buffer } {
  const name = Buffer.from(part.name);
  const content = Buffer.from(part.content ?? '');
  const isFolder = name.at(-1) === 0x2f;
  const method = part.method ?? (part.isStored === true || isFolder ? 0 : 8);
  const packed = part.packed ?? (method === 8 ? deflateRawSync(content) : content);
  const isAscii = /^[\x00-\x7f]*$/.test(name.toString('latin1'));
  const told: Told = {
    name,
    flags: (part.flags ?? (isAscii ? 0 : 0x800)) | (part.descriptor === undefined ? 0 : 0x08),
    method,
    crc: part.crc ?? crc32(content),
    packed: part.packedBytes ?? packed.length,
    bytes: part.bytes ?? content.length,
    extra: part.extra ?? Buffer.alloc(0),
  };
  const body = [packed, makeDescriptor(part, told), part.gap ?? Buffer.alloc(0)];
  return {
    local: Buffer.concat([makeLocal(part, told), ...body]),
    central: makeCentral(part, told, part.at ?? at),
  };
}

function makeLocal({ local = {}, descriptor, isWide = false }: ZipPart, told: Told): Buffer {
  const name = Buffer.from(local.name ?? told.name);
  const isLater = descriptor !== undefined;
  const bytes = local.bytes ?? told.bytes;
  const extra = Buffer.concat([...(isWide ? [wideField([bytes, told.packed])] : []), local.extra ?? told.extra]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(local.signature ?? 0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(local.flags ?? told.flags, 6);
  header.writeUInt16LE(local.method ?? told.method, 8);
  header.writeUInt16LE(0x21, 12);
  header.writeUInt32LE(isLater ? 0 : (local.crc ?? told.crc), 14);
  header.writeUInt32LE(isWide ? 0xffffffff : isLater ? 0 : told.packed, 18);
  header.writeUInt32LE(isWide ? 0xffffffff : isLater ? 0 : bytes, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function makeCentral(part: ZipPart, told: Told, at: number): Buffer {
  const comment = Buffer.from(part.comment ?? '');
  const isWide = part.isWide === true;
  const extra = Buffer.concat([...(isWide ? [wideField([told.bytes, told.packed])] : []), told.extra]);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(part.madeBy ?? (3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(told.flags, 8);
  header.writeUInt16LE(told.method, 10);
  header.writeUInt16LE(0x21, 14);
  header.writeUInt32LE(told.crc, 16);
  header.writeUInt32LE(isWide ? 0xffffffff : told.packed, 20);
  header.writeUInt32LE(isWide ? 0xffffffff : told.bytes, 24);
  header.writeUInt16LE(told.name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt16LE(comment.length, 32);
  header.writeUInt32LE((((part.mode ?? 0) << 16) | (part.dos ?? 0)) >>> 0, 38);
  header.writeUInt32LE(at, 42);
  return Buffer.concat([header, told.name, extra, comment]);
}

function makeDescriptor({ descriptor }: ZipPart, told: Told): Buffer {
  if (descriptor === undefined) return Buffer.alloc(0);
  const isWide = descriptor === 'wide';
  const record = Buffer.alloc(isWide ? 24 : 16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(told.crc, 4);
  if (isWide) {
    record.writeBigUInt64LE(BigInt(told.packed), 8);
    record.writeBigUInt64LE(BigInt(told.bytes), 16);
  } else {
    record.writeUInt32LE(told.packed, 8);
    record.writeUInt32LE(told.bytes + (descriptor === 'wrong' ? 1 : 0), 12);
  }
  return descriptor === 'plain' ? record.subarray(4) : record;
}

/** The 64-bit field of sizes. */
export function wideField(values: readonly number[]): Buffer {
  const data = Buffer.alloc(values.length * 8);
  for (const [place, value] of values.entries()) data.writeBigUInt64LE(BigInt(value), place * 8);
  return extraField(0x0001, data);
}

export function extraField(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

/** A second name of an entry, in UTF-8. */
export function unicodePath(name: string, other: string): Buffer {
  const data = Buffer.alloc(5);
  data.writeUInt8(1, 0);
  data.writeUInt32LE(crc32(name), 1);
  return extraField(0x7075, Buffer.concat([data, Buffer.from(other)]));
}
