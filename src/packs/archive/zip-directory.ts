import type { Entry, ExtraField } from 'yauzl';

import { PackRefused } from '../problems.ts';
import type { PackProblem } from '../problems.ts';
import { pause } from '../../platform/fs/tree-digest.ts';
import { readsThroughWindow } from './held-file.ts';
import type { HeldFile } from './held-file.ts';
import type { ToldEntry } from './judge-entries.ts';
import { decodeName } from './decode-name.ts';
import { entryRefused, refused } from './refused.ts';
import type { ZipEnd } from './zip-end.ts';

/** An entry as the central directory tells of it. */
export interface ZipEntry extends ToldEntry {
  readonly rawName: Buffer;
  readonly flags: number;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  /** Of its local header. */
  readonly at: number;
}

export const FLAGS = { encrypted: 0x2041, descriptor: 0x08, patch: 0x20, utf8: 0x800 } as const;
const UNICODE_PATH = 0x7075;
export const ZIP64 = 0x0001;
const HEADER_BYTES = 46;
export const LOCAL_HEADER_BYTES = 30;
const WINDOW_BYTES = 64 * 1024;
/** Entries between two pauses. */
const SLICE = 512;

/** All entries in the order of the directory, which must be of exactly the told length. Throws `PackRefused`. */
export async function readZipDirectory(
  file: HeldFile,
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
      // More than there is: some bytes are claimed twice, whichever they are.
      if (claimed > end.start) throw refused('archive/overlap', 'files share bytes with each other');
      if (entries.length % SLICE === 0) await pause(signal);
    }
  } catch (error) {
    throw asRefused(error, signal);
  }
  // Some readers go by the count, others by the length.
  if (at !== end.end || entries.length !== end.count)
    throw refused('archive/mismatch', 'the length and the count of its table of contents disagree');
  return entries;
}

async function yauzlEntries(file: HeldFile): Promise<AsyncIterableIterator<Entry>> {
  const { RandomAccessReader, fromRandomAccessReaderPromise } = await import('yauzl');
  const near = readsThroughWindow(file, WINDOW_BYTES);
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
  // Names come as bytes: their meaning is judged here, by one rule.
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: false };
  const zip = await fromRandomAccessReaderPromise(new HeldReader(), file.size, options);
  return zip.eachEntry();
}

function toZipEntry(entry: Entry, end: ZipEnd): ZipEntry {
  const { fileNameRaw: rawName, generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  const name = decodeName(rawName);
  const refuse = (code: PackProblem, what: string): PackRefused => entryRefused(code, name, what);
  if ((flags & FLAGS.encrypted) !== 0) throw refuse('archive/encrypted', 'is encrypted');
  if ((method !== 0 && method !== 8) || (flags & FLAGS.patch) !== 0)
    throw refuse('archive/method', `is packed by method ${String(method)}`);
  if (hasOtherUnicodePath(entry.extraFields, rawName)) throw refuse('archive/mismatch', 'has a second name');
  const { compressedSize: packed, uncompressedSize: bytes, relativeOffsetOfLocalHeader: at } = entry;
  refuseSizes(entry, end, refuse);
  return { name, rawName, flags, method, crc: entry.crc32, packed, bytes, at, ...kindAndMode(entry) };
}

function refuseSizes(entry: Entry, end: ZipEnd, refuse: (code: PackProblem, what: string) => PackRefused): void {
  const { compressedSize: packed, uncompressedSize: bytes, relativeOffsetOfLocalHeader: at, extraFields } = entry;
  const wideFields = extraFields.filter(({ id }) => id === ZIP64).length;
  const isInside = at + packed <= end.start;
  if (wideFields > 1 || (wideFields === 1 && (!isInside || !Number.isSafeInteger(bytes))))
    throw refuse('archive/zip64', 'has 64-bit sizes that make no sense');
  if (!isInside) throw refuse('archive/overlap', 'reaches beyond the files of the archive');
  if (entry.compressionMethod === 0 && packed !== bytes)
    throw refuse('archive/mismatch', `is stored, but has ${String(packed)} bytes for ${String(bytes)}`);
}

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
const DOS_FOLDER = 0x10;
const DOS_VOLUME = 0x08;
/** A link of Windows. */
const DOS_REPARSE = 0x400;

/** Whatever system it says it was made on: not every reader asks. */
function kindAndMode({ externalFileAttributes: attributes }: Entry): Pick<ToldEntry, 'kind' | 'mode'> {
  const unix = attributes >>> 16;
  return { kind: kindOf(unix & FILE_TYPE, attributes & 0xffff), ...(unix === 0 ? {} : { mode: unix & 0o7777 }) };
}

function kindOf(type: number, dos: number): ToldEntry['kind'] {
  if (type === LINK || (dos & DOS_REPARSE) !== 0) return 'link';
  if ((type !== 0 && type !== REGULAR && type !== FOLDER) || (dos & DOS_VOLUME) !== 0) return 'special';
  if (type === FOLDER || (dos & DOS_FOLDER) !== 0) return type === REGULAR ? 'special' : 'folder';
  return type === REGULAR ? 'file' : 'unsaid';
}

/** A second spelling of the name, which some readers take and others do not. */
export function hasOtherUnicodePath(extraFields: readonly ExtraField[], rawName: Buffer): boolean {
  return extraFields.some(({ id, data }) => id === UNICODE_PATH && !data.subarray(5).equals(rawName));
}

/** The library says what is wrong in words only. */
function asRefused(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof PackRefused || !(error instanceof Error) || signal?.aborted === true) return error;
  if ('code' in error) return error;
  if (/encryption/.test(error.message)) return refused('archive/encrypted', 'the archive is encrypted');
  if (/zip64/.test(error.message)) return refused('archive/zip64', 'its 64-bit sizes are not all there');
  return refused('archive/unreadable', 'its table of contents cannot be read');
}
