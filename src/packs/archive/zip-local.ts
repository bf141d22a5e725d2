/**
 * Validates the local headers of a zip. Every entry is described twice, and readers differ in which description they use. Both must be
 * equal, and every byte of the file must belong to exactly one structure.
 */
import type { ExtraField } from 'yauzl';

import { quoted } from '#core';
import { pause } from '#platform';
import { windowedReads, type ArchiveFile } from './archive-file.ts';
import { entryRefused } from '../sources/portable-name.ts';
import { FLAGS, LOCAL_HEADER_BYTES, ZIP64, hasOtherUnicodePath, wide, type ZipEntry } from './zip-directory.ts';
import { refused } from '../problems.ts';

const SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
/** Flags that affect reading. The others describe the compression level. */
const TELLING_FLAGS = FLAGS.encrypted | FLAGS.descriptor | FLAGS.patch | FLAGS.utf8;
/** Holds a header with its name and, for small files, the following ones. */
const WINDOW_BYTES = 4096;
const SLICE = 512;

/** Sorts entries by offset. Throws a refusal if two overlap according to the central directory. */
export function inFileOrder(entries: readonly ZipEntry[]): readonly ZipEntry[] {
  const sorted = entries.toSorted((one, other) => one.at - other.at);
  for (const [place, entry] of sorted.entries()) {
    const next = sorted[place + 1];
    if (next !== undefined && entry.at + LOCAL_HEADER_BYTES + entry.rawName.length + entry.packed > next.at)
      throw entryRefused('archive/overlap', next.name, `shares bytes with ${quoted(entry.name)}`);
  }
  return sorted;
}

/** Returns the data offsets of entries, which must be sorted by offset. `end` is the offset of the central directory. */
export async function readLocalHeaders(
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
