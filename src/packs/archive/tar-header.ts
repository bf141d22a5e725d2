import { decodeName } from './decode-name.ts';
import { refused } from './refused.ts';

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
