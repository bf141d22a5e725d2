import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { refused } from '../problems.ts';
import type { PackRefused } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import type { ByteSource } from './gunzip.ts';
import type { RawEntry } from './validate-entries.ts';
import { decodeName, tooMany } from './entry-name.ts';

/** An entry and its bytes, which are to be read before the next entry is asked for, or not at all. */
export interface TarEntry {
  readonly raw: RawEntry;
  readonly content: () => AsyncGenerator<Buffer, void, undefined>;
}

/** Of a long name or an extended header: names are limited to less, and nothing else in them counts. */
const MAX_EXTENSION_BYTES = 64 * 1024;

/** What headers before an entry say of it. */
interface Extensions extends PaxChanges {
  readonly longName?: string;
}

/** Every entry up to the end, after which nothing but zeros may stand. Throws `PackRefused`. */
export async function* readTar(source: ByteSource, limits: ArchiveLimits): AsyncGenerator<TarEntry, void, undefined> {
  let extensions: Extensions = {};
  for (let blocks = 0; ; blocks += 1) {
    const block = await takeWhole(source, BLOCK_BYTES);
    if (isZero(block)) break;
    // Extensions count too; two for each entry is what packers need at most.
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
    if (!isTop(raw)) yield { raw, content };
    // What nobody asked for is passed over.
    if (left > 0) for await (const piece of content()) void piece;
    await takePadding(source, raw.bytes);
  }
  if (Object.keys(extensions).length > 0) throw refused('archive/unreadable', 'an extended header belongs to nothing');
  await takeEnd(source);
}

/** Nothing where the header is that of an entry. */
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
      throw refused('archive/mismatch', 'one name or size is given to all entries');
    return {};
  }
  // The target of a link: the entry after it is refused for what it is.
  if (header.type === 'K') return {};
  return { longName: decodeName(data.at(-1) === 0 ? data.subarray(0, -1) : data) };
}

function merge(before: Extensions, more: Extensions): Extensions {
  const repeated = Object.keys(more).some((key) => key in before);
  const isNamedTwice = (more.path !== undefined || more.longName !== undefined) && nameOf(before) !== undefined;
  if (repeated || isNamedTwice) throw refused('archive/mismatch', 'an entry is given the same property twice');
  return { ...before, ...more };
}

function nameOf({ path, longName }: Extensions): string | undefined {
  return path ?? longName;
}

function tell(header: TarHeader, extensions: Extensions): RawEntry {
  const written = nameOf(extensions) ?? header.name;
  // Programs that pack the folder they are in put `./` before every name.
  const bare = written.startsWith('./') && written !== './' ? written.slice(2) : written;
  const kind = kindOf(header.type, bare);
  // A reader that does not know the extension would find the next header elsewhere.
  if (extensions.bytes !== undefined && extensions.bytes !== header.bytes)
    throw refused('archive/mismatch', `${quoted(bare)} is given two sizes`);
  const name = kind === 'folder' && !bare.endsWith('/') ? `${bare}/` : bare;
  return { name, kind, mode: header.mode, bytes: header.bytes };
}

/** The folder that was packed, under no name of its own. */
function isTop({ name, kind, bytes }: RawEntry): boolean {
  return name === './' && kind === 'folder' && bytes === 0;
}

function kindOf(type: string, name: string): RawEntry['kind'] {
  switch (type) {
    case '\0':
      // Before there were types, a slash said it.
      return name.endsWith('/') ? 'folder' : 'file';
    case '0':
    case '7':
      return 'file';
    case '1':
    case '2':
      return 'link';
    case '5':
      return 'folder';
    default:
      return 'special';
  }
}

async function takeWhole(source: ByteSource, length: number): Promise<Buffer> {
  const bytes = await source.take(length);
  if (bytes.length < length) throw endsEarly();
  return bytes;
}

async function takePadding(source: ByteSource, bytes: number): Promise<void> {
  if (bytes % BLOCK_BYTES !== 0) await takeWhole(source, BLOCK_BYTES - (bytes % BLOCK_BYTES));
}

/** The first of two zero blocks was taken. */
async function takeEnd(source: ByteSource): Promise<void> {
  let rest = await takeWhole(source, BLOCK_BYTES);
  for (; rest.length > 0; rest = await source.some(BLOCK_BYTES * 128))
    if (!isZero(rest)) throw refused('archive/extra-data', 'data stands after the end of the archive');
}

function endsEarly(): PackRefused {
  return refused('archive/unreadable', 'the archive ends too early');
}

export const BLOCK_BYTES = 512;

/** One header block, nothing in it believed but its checksum. */
export interface TarHeader {
  readonly name: string;
  readonly type: string;
  readonly mode: number;
  /** Of what follows the block. */
  readonly bytes: number;
}

/** Throws `PackRefused`. */
export function readTarHeader(block: Buffer): TarHeader {
  if (number(block, 148, 8) !== checksum(block))
    throw refused('archive/unreadable', 'a header does not have the checksum it says');
  const isPosix = block.subarray(257, 265).equals(POSIX_MAGIC);
  const [prefix, name] = [isPosix ? text(block, 345, 155) : '', text(block, 0, 100)];
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(block[156] ?? 0),
    mode: number(block, 100, 8) & 0o7777,
    bytes: number(block, 124, 12),
  };
}

export function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

const ZEROS = Buffer.alloc(64 * 1024);
const POSIX_MAGIC = Buffer.from('ustar\x0000', 'latin1');
/** The first byte of a number that is not in octal. */
const BASE_256 = 0x80;
const OCTAL = /^ *([0-7]*)[ \0]*$/;

/** Octal digits, or the bytes of the number itself where it is too large for them. */
function number(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length);
  if (field[0] === BASE_256) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (Number.isSafeInteger(value)) return value;
    throw refused('archive/unreadable', 'a header has a number that makes no sense');
  }
  const digits = OCTAL.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw refused('archive/unreadable', 'a header has a number that makes no sense');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

/** The field of the sum itself counts as spaces. By index: this is most of the work on an archive of many small files. */
function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK_BYTES; at += 1) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

/** Ends at the first NUL, after which nothing else may stand: some readers would go on. */
function text(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  if (end === -1) return decodeName(field);
  if (!isZero(field.subarray(end))) throw refused('archive/name', 'a name has bytes after its end');
  return decodeName(field.subarray(0, end));
}

/** What the records of a pax header change of the entry after them; all else in them is of no interest here. */
export interface PaxChanges {
  readonly path?: string;
  readonly bytes?: number;
}

const SPACE = 0x20;
const LINE_END = 0x0a;
const SIZE = /^[0-9]{1,15}$/;

/** Reads `<length> <key>=<value>\n` records. Throws `PackRefused`. */
export function readPax(data: Buffer): PaxChanges {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < data.length;) {
    const { key, value, end } = readRecord(data, at);
    if (key.startsWith('GNU.sparse')) throw refused('archive/special-file', 'a file is stored with holes');
    // Which of two counts is not the same everywhere.
    if (records.has(key)) throw refused('archive/mismatch', 'an entry is given the same property twice');
    records.set(key, value);
    at = end;
  }
  const path = records.get('path');
  const size = records.get('size');
  return {
    ...(path === undefined ? {} : { path: decodeName(path) }),
    ...(size === undefined ? {} : { bytes: readSize(size.toString('latin1')) }),
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
  throw refused('archive/unreadable', 'an extended header has a size that makes no sense');
}
