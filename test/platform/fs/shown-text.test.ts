import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isPlainText } from '../../../src/platform/fs/shown-text.ts';

const isPlainByte = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a;

test('every byte counts, wherever it stands', () => {
  for (let byte = 0; byte < 256; byte += 1)
    for (let place = 0; place < 7; place += 1) {
      const bytes = new Uint8Array(7).fill(0x20);
      bytes[place] = byte;
      expect(isPlainText(bytes), `${byte} at ${place}`).toBe(isPlainByte(byte));
    }
});

test('any bytes, at any place of a larger buffer', () => {
  const plain = fc.integer({ min: 0x09, max: 0x80 });
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 40 }), fc.nat(5), (values, offset) => {
      const bytes = Uint8Array.from([...new Uint8Array(offset), ...values]).subarray(offset);
      expect(isPlainText(bytes)).toBe(values.every(isPlainByte));
    }),
  );
});
