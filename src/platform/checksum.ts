/** Bytes that are added up at a time. */
export const CHECKSUM_BLOCK = 16;

/**
 * A 32-bit sum of bytes, going on from the sum of those before them, which must have been whole blocks. It tells a torn or edited
 * file from a whole one, not a forged one. Each start adds up a file in code that the engine has not compiled yet, and Node's own
 * CRC-32 takes milliseconds to load: hence four numbers at a time, and nothing that goes byte by byte.
 *
 * Every step can be undone, so that a change in one number always changes the sum.
 */
export function checksum(bytes: Uint8Array, sum = 0): number {
  const blocks = Math.floor(bytes.length / CHECKSUM_BLOCK);
  const words = wordsOf(bytes, blocks * 4);
  let mixed = sum | 0;
  for (let at = 0; at < words.length; at += 4) {
    const rest =
      Math.imul(words[at + 1] ?? 0, 0x85eb_ca6b) ^
      Math.imul(words[at + 2] ?? 0, 0xc2b2_ae35) ^
      Math.imul(words[at + 3] ?? 0, 0x27d4_eb2f);
    mixed = Math.imul(mixed ^ (words[at] ?? 0) ^ rest, 0x9e37_79b1);
    mixed ^= mixed >>> 15;
  }
  for (let at = blocks * CHECKSUM_BLOCK; at < bytes.length; at += 1) {
    mixed = Math.imul(mixed ^ (bytes[at] ?? 0), 0x9e37_79b1);
    mixed ^= mixed >>> 15;
  }
  return mixed >>> 0;
}

/** The bytes as the numbers of this processor; copied where they do not lie as it wants them. */
function wordsOf(bytes: Uint8Array, count: number): Int32Array {
  const { buffer, byteOffset } = bytes.byteOffset % Int32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  return new Int32Array(buffer, byteOffset, count);
}
