import { sha256 } from '#platform';

const WORDS = 16 * 1024;
/** From here on, loading `node:crypto` takes less time than the loop. */
const MANY_BYTES = 1024 * 1024;

/**
 * At least sixty-four bits that detect damaged and edited files; not collision-resistant. A listing runs the loop once, before it is
 * compiled to machine code, so it takes two words per turn and calls little.
 */
export function checksum(bytes: Uint8Array): string {
  if (bytes.length > MANY_BYTES) return sha256(bytes);
  const { imul } = Math;
  // Words need their place in memory, and a copy of everything could be large.
  const words = new Int32Array(Math.min(WORDS, 2 * Math.ceil(bytes.length / 8)));
  const piece = new Uint8Array(words.buffer);
  let low = 0x811c9dc5 ^ bytes.length;
  let high = 0x9dc5811c;
  for (let from = 0; from < bytes.length; from += piece.length) {
    const part = bytes.subarray(from, from + piece.length);
    piece.set(part);
    piece.fill(0, part.length);
    for (let at = 0; at < words.length; at += 2) {
      low = imul(low ^ (words[at] ?? 0), 0x01000193);
      high = imul(high ^ (words[at + 1] ?? 0) ^ (low >>> 15), 0x9e3779b1);
    }
  }
  const hex = (part: number): string => (part >>> 0).toString(16).padStart(8, '0');
  return hex(low) + hex(high);
}
