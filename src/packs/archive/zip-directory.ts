import type { Entry, ExtraField } from 'yauzl';

import { pause } from '#platform';
import type { SkillError } from '#core';
import type { ArchiveLimits } from '../archive-limits.ts';
import { findRefusal, refused, type PackProblem } from '../problems.ts';
import { windowedReads, type ArchiveFile } from './archive-file.ts';
import { entryRefused, tooMany } from '../sources/portable-name.ts';
import { decodeName, type RawEntry } from './validate-entries.ts';

/** An entry of the central directory. */
export interface ZipEntry extends RawEntry {
  readonly rawName: Buffer;
  readonly flags: number;
  /** 0: stored, 8: deflated. */
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  /** Offset of the local header. */
  readonly at: number;
}

export const FLAGS = { encrypted: 0x2041, descriptor: 0x08, patch: 0x20, utf8: 0x800 } as const;
const UNICODE_PATH = 0x7075;
export const ZIP64 = 0x0001;
const HEADER_BYTES = 46;
export const LOCAL_HEADER_BYTES = 30;
const WINDOW_BYTES = 64 * 1024;
/** Entries to read before yielding to the event loop. */
const SLICE = 512;

/** Reads all entries in directory order. The directory must have exactly the declared length. Throws a refusal. */
export async function readZipDirectory(
  file: ArchiveFile,
  end: ZipEnd,
  signal: AbortSignal | undefined,
): Promise<readonly ZipEntry[]> {
  const entries: ZipEntry[] = [];
  let at = end.start;
  let claimed = 0;
  try {
    for await (const entry of await yauzlEntries(file)) {
      at += HEADER_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      entries.push(toZipEntry(entry, end));
      claimed += LOCAL_HEADER_BYTES + entry.compressedSize;
      // Entries claim more bytes than there are, so some bytes are claimed twice.
      if (claimed > end.start) throw refused('archive/overlap', 'entries share bytes');
      if (entries.length % SLICE === 0) await pause(signal);
    }
  } catch (error) {
    throw asRefused(error, signal);
  }
  // Some readers rely on the count, others on the length.
  if (at !== end.end || entries.length !== end.count)
    throw refused('archive/mismatch', 'the length and the count of the central directory contradict each other');
  return entries;
}

async function yauzlEntries(file: ArchiveFile): Promise<AsyncIterableIterator<Entry>> {
  const { RandomAccessReader, fromRandomAccessReaderPromise } = await import('yauzl');
  const near = windowedReads(file, WINDOW_BYTES);
  class HeldReader extends RandomAccessReader {
    override read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      callback: (error: Error | null, bytesRead?: number) => void,
    ): void {
      callback(null, near.fill(buffer.subarray(offset, offset + length), position));
    }
  }
  // Names stay bytes, because `decodeName` decides how to decode them.
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: false };
  const zip = await fromRandomAccessReaderPromise(new HeldReader(), file.size, options);
  return zip.eachEntry();
}

function toZipEntry(entry: Entry, end: ZipEnd): ZipEntry {
  const { fileNameRaw: rawName, generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  const name = decodeName(rawName);
  const refuse = (code: PackProblem, what: string): SkillError => entryRefused(code, name, what);
  if ((flags & FLAGS.encrypted) !== 0) throw refuse('archive/encrypted', 'is encrypted');
  if ((method !== 0 && method !== 8) || (flags & FLAGS.patch) !== 0)
    throw refuse('archive/method', `uses compression method ${String(method)}`);
  if (hasOtherUnicodePath(entry.extraFields, rawName)) throw refuse('archive/mismatch', 'has a second name');
  const { compressedSize: packed, uncompressedSize: bytes, relativeOffsetOfLocalHeader: at } = entry;
  refuseSizes(entry, end, refuse);
  return { name, rawName, flags, method, crc: entry.crc32, packed, bytes, at, ...kindAndMode(entry) };
}

function refuseSizes(entry: Entry, end: ZipEnd, refuse: (code: PackProblem, what: string) => SkillError): void {
  const { compressedSize: packed, uncompressedSize: bytes, relativeOffsetOfLocalHeader: at, extraFields } = entry;
  const wideFields = extraFields.filter(({ id }) => id === ZIP64).length;
  const isInside = at + packed <= end.start;
  if (wideFields > 1 || (wideFields === 1 && (!isInside || !Number.isSafeInteger(bytes))))
    throw refuse('archive/zip64', 'has invalid 64-bit sizes');
  if (!isInside) throw refuse('archive/overlap', 'extends beyond the data of the archive');
  if (entry.compressionMethod === 0 && packed !== bytes)
    throw refuse(
      'archive/mismatch',
      `is stored uncompressed, but its sizes are ${String(packed)} and ${String(bytes)} bytes`,
    );
}

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
const DOS_FOLDER = 0x10;
const DOS_VOLUME = 0x08;
/** A link on Windows. */
const DOS_REPARSE = 0x400;

/** Ignores the declared operating system, because not every reader checks it. */
function kindAndMode({ externalFileAttributes: attributes }: Entry): Pick<RawEntry, 'kind' | 'mode'> {
  const unix = attributes >>> 16;
  return { kind: classifyEntry(unix & FILE_TYPE, attributes & 0xffff), ...(unix === 0 ? {} : { mode: unix & 0o7777 }) };
}

function classifyEntry(type: number, dos: number): RawEntry['kind'] {
  if (type === LINK || (dos & DOS_REPARSE) !== 0) return 'link';
  if ((type !== 0 && type !== REGULAR && type !== FOLDER) || (dos & DOS_VOLUME) !== 0) return 'special';
  if (type === FOLDER || (dos & DOS_FOLDER) !== 0) return type === REGULAR ? 'special' : 'folder';
  return type === REGULAR ? 'file' : 'unsaid';
}

/** A second name in the Unicode path field, which only some readers use. */
export function hasOtherUnicodePath(extraFields: readonly ExtraField[], rawName: Buffer): boolean {
  return extraFields.some(({ id, data }) => id === UNICODE_PATH && !data.subarray(5).equals(rawName));
}

/** Maps errors of yauzl, which differ only in their message. */
function asRefused(error: unknown, signal: AbortSignal | undefined): unknown {
  if (findRefusal(error) !== undefined || !(error instanceof Error) || signal?.aborted === true) return error;
  if ('code' in error) return error;
  if (/encryption/.test(error.message)) return refused('archive/encrypted', 'the archive is encrypted');
  if (/zip64/.test(error.message)) return refused('archive/zip64', 'its 64-bit sizes are incomplete');
  return refused('archive/unreadable', 'the central directory cannot be read');
}

export interface ZipEnd {
  readonly count: number;
  readonly start: number;
  /** Offset after its last byte. */
  readonly end: number;
}

const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
const LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64 = 0x06064b50;
const END64_BYTES = 56;

/**
 * Finds the end record. Readers search for it differently, so there must be exactly one candidate. Returns undefined if the file is not a
 * zip; throws a refusal if the record is not trustworthy.
 */
export function findZipEnd(file: ArchiveFile, limits: ArchiveLimits): ZipEnd | undefined {
  const length = Math.min(file.size, END_BYTES + MAX_COMMENT);
  const tail = file.bytes(file.size - length, length);
  const places = findOffsets(END_SIGNATURE, tail);
  if (places.length === 0) return undefined;
  const fitting = places.filter((place) => place + END_BYTES + commentBytes(tail, place) === length);
  const [place] = fitting;
  if (place === undefined) {
    const last = places.at(-1) ?? 0;
    const isCut = last + END_BYTES + commentBytes(tail, last) > length;
    throw isCut
      ? refused('archive/unreadable', 'the archive ends too early')
      : refused('archive/extra-data', 'there is data after the end of the archive');
  }
  // A zip stored inside the zip also has an end record, but before ours and not at the end of the file.
  if (fitting.length > 1 || places.at(-1) !== place)
    throw refused('archive/mismatch', 'the archive has two end records with different central directories');
  return readEnd(file, tail.subarray(place, place + END_BYTES), file.size - length + place, limits);
}

function readEnd(file: ArchiveFile, record: Buffer, at: number, limits: ArchiveLimits): ZipEnd {
  const raw: DeclaredEnd = {
    disks: [record.readUInt16LE(4), record.readUInt16LE(6)],
    countHere: record.readUInt16LE(8),
    count: record.readUInt16LE(10),
    bytes: record.readUInt32LE(12),
    start: record.readUInt32LE(16),
  };
  const end64 = readEnd64(file, at);
  if (end64 !== undefined) refuseContradiction(raw, end64.raw);
  const { disks, countHere, count, bytes, start } = end64?.raw ?? raw;
  const end = end64?.at ?? at;
  if (disks.some((disk) => disk !== 0) || countHere !== count)
    throw refused('archive/unreadable', 'multi-part archives are not supported');
  if (count > limits.maxEntries) throw tooMany(limits);
  if (start + bytes > end)
    throw refused(end64 === undefined ? 'archive/unreadable' : 'archive/zip64', 'the central directory is incomplete');
  if (start + bytes < end)
    throw refused('archive/extra-data', 'there is data before the archive or after the central directory');
  if (count * HEADER_BYTES > bytes)
    throw refused('archive/mismatch', 'the central directory is shorter than it declares');
  return { count, start, end };
}

interface DeclaredEnd {
  readonly disks: readonly number[];
  readonly countHere: number;
  readonly count: number;
  readonly bytes: number;
  readonly start: number;
}

/** The Zip64 record directly precedes its locator, which directly precedes the end record. */
function readEnd64(file: ArchiveFile, at: number): { readonly raw: DeclaredEnd; readonly at: number } | undefined {
  const locatorAt = at - LOCATOR_BYTES;
  if (locatorAt < 0) return undefined;
  const locator = file.bytes(locatorAt, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR) return undefined;
  const recordAt = wide(locator, 8);
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1 || recordAt + END64_BYTES > locatorAt)
    throw refused('archive/zip64', 'the 64-bit end record is not at its declared offset');
  const record = file.bytes(recordAt, END64_BYTES);
  if (record.readUInt32LE(0) !== END64 || recordAt + 12 + wide(record, 4) !== locatorAt)
    throw refused('archive/zip64', 'the 64-bit end record is not at its declared offset');
  return {
    raw: {
      disks: [record.readUInt32LE(16), record.readUInt32LE(20)],
      countHere: wide(record, 24),
      count: wide(record, 32),
      bytes: wide(record, 40),
      start: wide(record, 48),
    },
    at: recordAt,
  };
}

/** The maximum value in the small record defers to the large one; any other value must be equal. */
function refuseContradiction(small: DeclaredEnd, large: DeclaredEnd): void {
  const isSame = (value: number, highest: number, other: number): boolean => value === highest || value === other;
  const agrees =
    isSame(small.count, 0xffff, large.count) &&
    isSame(small.countHere, 0xffff, large.countHere) &&
    isSame(small.bytes, 0xffffffff, large.bytes) &&
    isSame(small.start, 0xffffffff, large.start);
  if (!agrees) throw refused('archive/zip64', 'the two end records contradict each other');
}

function findOffsets(needle: Buffer, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1))
    if (at + END_BYTES <= bytes.length) places.push(at);
  return places;
}

function commentBytes(tail: Buffer, place: number): number {
  return tail.readUInt16LE(place + 20);
}

/** Reads 64 bits. Values beyond the precision of a double exceed every limit anyway. */
export function wide(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 0x1_0000_0000 + bytes.readUInt32LE(at);
}
