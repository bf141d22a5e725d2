import fc from 'fast-check';
import { expect, test } from 'vitest';

import { CHECKSUM_BLOCK, checksum } from '../../src/platform/checksum.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });

test('the sum goes on from whole blocks, wherever in memory the bytes lie', () => {
  fc.assert(
    fc.property(bytes, fc.nat(18), fc.nat(7), (given, blocks, shift) => {
      const cut = blocks * CHECKSUM_BLOCK;
      const moved = Buffer.concat([Buffer.alloc(shift), given]).subarray(shift);
      const whole = cut <= given.length ? cut : 0;
      expect(checksum(moved.subarray(whole), checksum(moved.subarray(0, whole)))).toBe(checksum(given));
    }),
  );
});

test('a change of one byte, or of two, changes the sum', () => {
  const byte = fc.integer({ min: 1, max: 255 });
  fc.assert(
    fc.property(bytes, fc.nat(), fc.nat(), byte, byte, (given, first, second, one, other) => {
      const edited = Uint8Array.from(given);
      const places = [first % given.length, second % given.length] as const;
      edited[places[0]] = (edited[places[0]] ?? 0) ^ one;
      expect(checksum(edited)).not.toBe(checksum(given));
      if (places[0] === places[1]) return;
      edited[places[1]] = (edited[places[1]] ?? 0) ^ other;
      expect(checksum(edited)).not.toBe(checksum(given));
    }),
    { numRuns: 2000 },
  );
});

test('the same bytes in another order, and the same halves, give other sums', () => {
  const block = Buffer.from('0123456789abcdef');
  const other = Buffer.from('fedcba9876543210');
  expect(checksum(Buffer.concat([block, other]))).not.toBe(checksum(Buffer.concat([other, block])));
  expect(checksum(Buffer.concat([block, block]))).not.toBe(checksum(block));
});
