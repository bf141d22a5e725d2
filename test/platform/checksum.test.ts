import fc from 'fast-check';
import { expect, test } from 'vitest';
import zlib from 'node:zlib';

import { crc32 } from '../../src/platform/checksum.ts';

test('is the CRC-32 of the compression library, in one piece or in several', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
      expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(zlib.crc32(bytes));
    }),
  );
  const large = Buffer.alloc(200_000, 'abc');
  expect(crc32(large)).toBe(zlib.crc32(large));
  expect(crc32(large.subarray(60_000), crc32(large.subarray(0, 60_000)))).toBe(zlib.crc32(large));
});
