import { CHECKSUM_BLOCK, checksum } from '../checksum.ts';

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
  let rest = new Uint8Array();
  for (const pieces of sections) {
    let length = 0;
    for (const piece of pieces) {
      length += piece.length;
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      // Sums go on from whole blocks only: what is left over waits for the next piece.
      const whole = bytes.length - (bytes.length % CHECKSUM_BLOCK);
      rest = new Uint8Array(bytes.subarray(whole));
      if (whole === 0) continue;
      const blocks = bytes.subarray(0, whole);
      sum = checksum(blocks, sum);
      yield blocks;
    }
    lengths.push(length);
  }
  sum = checksum(rest, sum);
  yield rest;
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
  if (checksum(bytes.subarray(0, at)) !== Number.parseInt(match[3] ?? '', 16)) {
    return { type: 'unusable', reason: 'its checksum is wrong' };
  }
  return { type: 'read', sections };
}
