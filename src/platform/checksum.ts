/** Below this, the sum is made here: loading the compression library of Node takes longer than adding up so few bytes. */
const SMALL = 64 * 1024;

/** CRC-32 of each half byte. The table of whole bytes would take longer to make than it saves. */
const TABLE = Int32Array.of(
  0x00000000,
  0x1db71064,
  0x3b6e20c8,
  0x26d930ac,
  0x76dc4190,
  0x6b6b51f4,
  0x4db26158,
  0x5005713c,
  0xedb88320,
  0xf00f9344,
  0xd6d6a3e8,
  0xcb61b38c,
  0x9b64c2b0,
  0x86d3d2d4,
  0xa00ae278,
  0xbdbdf21c,
);

/** CRC-32 of bytes, going on from the sum of those before them. It tells a torn file from a whole one, not a forged one. */
export function crc32(bytes: Uint8Array, sum = 0): number {
  if (bytes.length > SMALL) return process.getBuiltinModule('node:zlib').crc32(bytes, sum);
  let rest = ~sum;
  for (const byte of bytes) {
    rest ^= byte;
    rest = (rest >>> 4) ^ (TABLE[rest & 15] ?? 0);
    rest = (rest >>> 4) ^ (TABLE[rest & 15] ?? 0);
  }
  return ~rest >>> 0;
}
