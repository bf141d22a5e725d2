/** Below this, the sum is made here: loading the compression library of Node takes longer than adding up so few bytes. */
const SMALL = 64 * 1024;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let entry = byte;
  for (let bit = 0; bit < 8; bit += 1) entry = entry & 1 ? (entry >>> 1) ^ 0xedb88320 : entry >>> 1;
  return entry;
});

/** CRC-32 of bytes, going on from the sum of those before them. It tells a torn file from a whole one, not a forged one. */
export function crc32(bytes: Uint8Array, sum = 0): number {
  if (bytes.length > SMALL) return process.getBuiltinModule('node:zlib').crc32(bytes, sum);
  let rest = ~sum;
  for (const byte of bytes) rest = (rest >>> 8) ^ (TABLE[(rest ^ byte) & 0xff] ?? 0);
  return ~rest >>> 0;
}
