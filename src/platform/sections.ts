import { crc32 } from './checksum.ts';

/** Several byte strings in one file, with a line after them that says what they are and whether they are whole. */

const LINE = /^([a-z-]+) ([0-9a-z.-]+) ([0-9a-f]{8}) ((?:\d{1,12},)*\d{1,12})\n$/;
const LINE_ROOM = 512;

export interface SectionsLabel {
  readonly magic: string;
  /** Letters, digits, dots and hyphens: a file with another key is for somebody else. */
  readonly key: string;
}

export type Sections =
  | { readonly type: 'read'; readonly sections: readonly Buffer[] }
  | { readonly type: 'unusable'; readonly reason: string };

/** The bytes of the file, piece by piece: none needs to be held longer than it takes to write it. */
export function* writeSections(
  { magic, key }: SectionsLabel,
  sections: Iterable<Iterable<Uint8Array>>,
): Generator<Uint8Array, void> {
  const lengths: number[] = [];
  let sum = 0;
  for (const pieces of sections) {
    let length = 0;
    for (const piece of pieces) {
      // The sum over nothing would begin anew.
      if (piece.length === 0) continue;
      sum = crc32(piece, sum);
      length += piece.length;
      yield piece;
    }
    lengths.push(length);
  }
  yield Buffer.from(`\n${magic} ${key} ${sum.toString(16).padStart(8, '0')} ${lengths.join(',')}\n`, 'latin1');
}

/** Takes a file apart; a torn, edited or foreign one gives a reason. */
export function readSections(bytes: Buffer, { magic, key }: SectionsLabel): Sections {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - LINE_ROOM));
  const line = end.slice(end.lastIndexOf('\n', end.length - 2) + 1);
  const match = LINE.exec(line);
  if (match?.[1] !== magic) return { type: 'unusable', reason: 'it is not a whole cache file' };
  if (match[2] !== key) return { type: 'unusable', reason: 'it is of another version or other options' };
  const sections: Buffer[] = [];
  let at = 0;
  for (const length of (match[4] ?? '').split(',').map(Number)) {
    sections.push(bytes.subarray(at, at + length));
    at += length;
  }
  if (at + 1 + line.length !== bytes.length || bytes[at] !== 0x0a)
    return { type: 'unusable', reason: 'it is not whole' };
  if (crc32(bytes.subarray(0, at)) !== Number.parseInt(match[3] ?? '', 16)) {
    return { type: 'unusable', reason: 'its checksum is wrong' };
  }
  return { type: 'read', sections };
}
