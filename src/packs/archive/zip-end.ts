/** The end of a zip: the record that says where the table of contents is. Readers differ in how they look for it; only one may be found. */
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import type { HeldFile } from './held-file.ts';
import { refused, tooMany } from './refused.ts';

/** Where the central directory lies, and how many entries it has. */
export interface ZipEnd {
  readonly count: number;
  readonly start: number;
  /** Just after its last byte. */
  readonly end: number;
}

const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
const LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64 = 0x06064b50;
const END64_BYTES = 56;
/** Of a central header without its name. */
const HEADER_BYTES = 46;

/** Nothing where the file has no such record, and is no zip. Throws `PackRefused` where it has one that cannot be trusted. */
export function findZipEnd(file: HeldFile, limits: ArchiveLimits): ZipEnd | undefined {
  const length = Math.min(file.size, END_BYTES + MAX_COMMENT);
  const tail = file.bytes(file.size - length, length);
  const places = placesOf(END_SIGNATURE, tail);
  if (places.length === 0) return undefined;
  const fitting = places.filter((place) => place + END_BYTES + commentBytes(tail, place) === length);
  const [place] = fitting;
  if (place === undefined) {
    const last = places.at(-1) ?? 0;
    const isCut = last + END_BYTES + commentBytes(tail, last) > length;
    throw isCut
      ? refused('archive/unreadable', 'the archive ends too early')
      : refused('archive/extra-data', 'data stands after the end of the archive');
  }
  // A stored zip within the zip has such a record too, but comes before ours and does not reach to the end.
  if (fitting.length > 1 || places.at(-1) !== place)
    throw refused('archive/mismatch', 'the archive has two ends, each with a table of contents of its own');
  return readEnd(file, tail.subarray(place, place + END_BYTES), file.size - length + place, limits);
}

function readEnd(file: HeldFile, record: Buffer, at: number, limits: ArchiveLimits): ZipEnd {
  const told: Told = {
    disks: [record.readUInt16LE(4), record.readUInt16LE(6)],
    countHere: record.readUInt16LE(8),
    count: record.readUInt16LE(10),
    bytes: record.readUInt32LE(12),
    start: record.readUInt32LE(16),
  };
  const end64 = readEnd64(file, at);
  if (end64 !== undefined) refuseContradiction(told, end64.told);
  const { disks, countHere, count, bytes, start } = end64?.told ?? told;
  const end = end64?.at ?? at;
  if (disks.some((disk) => disk !== 0) || countHere !== count)
    throw refused('archive/unreadable', 'the archive is one of several parts');
  if (count > limits.maxEntries) throw tooMany(limits);
  if (start + bytes > end)
    throw refused(
      end64 === undefined ? 'archive/unreadable' : 'archive/zip64',
      'its table of contents is not all there',
    );
  if (start + bytes < end)
    throw refused('archive/extra-data', 'data stands before the archive, or after its table of contents');
  if (count * HEADER_BYTES > bytes) throw refused('archive/mismatch', 'its table of contents is shorter than it says');
  return { count, start, end };
}

interface Told {
  readonly disks: readonly number[];
  readonly countHere: number;
  readonly count: number;
  readonly bytes: number;
  readonly start: number;
}

/** The 64-bit record, which stands straight before its locator, which stands straight before the end. */
function readEnd64(file: HeldFile, at: number): { readonly told: Told; readonly at: number } | undefined {
  const locatorAt = at - LOCATOR_BYTES;
  if (locatorAt < 0) return undefined;
  const locator = file.bytes(locatorAt, LOCATOR_BYTES);
  if (locator.readUInt32LE(0) !== LOCATOR) return undefined;
  const recordAt = wide(locator, 8);
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1 || recordAt + END64_BYTES > locatorAt)
    throw refused('archive/zip64', 'its 64-bit end record is not where it should be');
  const record = file.bytes(recordAt, END64_BYTES);
  if (record.readUInt32LE(0) !== END64 || recordAt + 12 + wide(record, 4) !== locatorAt)
    throw refused('archive/zip64', 'its 64-bit end record is not where it should be');
  return {
    told: {
      disks: [record.readUInt32LE(16), record.readUInt32LE(20)],
      countHere: wide(record, 24),
      count: wide(record, 32),
      bytes: wide(record, 40),
      start: wide(record, 48),
    },
    at: recordAt,
  };
}

/** The small record leaves a field to the large one by its highest value; where it says something, both must say the same. */
function refuseContradiction(small: Told, large: Told): void {
  const isSame = (value: number, highest: number, other: number): boolean => value === highest || value === other;
  const agrees =
    isSame(small.count, 0xffff, large.count) &&
    isSame(small.countHere, 0xffff, large.countHere) &&
    isSame(small.bytes, 0xffffffff, large.bytes) &&
    isSame(small.start, 0xffffffff, large.start);
  if (!agrees) throw refused('archive/zip64', 'its two end records disagree');
}

function placesOf(needle: Buffer, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1))
    if (at + END_BYTES <= bytes.length) places.push(at);
  return places;
}

function commentBytes(tail: Buffer, place: number): number {
  return tail.readUInt16LE(place + 20);
}

/** 64 bits; what a double cannot hold is far beyond every limit either way. */
export function wide(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 0x1_0000_0000 + bytes.readUInt32LE(at);
}
