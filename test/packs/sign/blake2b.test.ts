import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { blake2b } from '../../../src/packs/sign/blake2b.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('64 bytes are what Node gives, for inputs of every length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
      expect(hex(blake2b(data, 64))).toBe(createHash('blake2b512').update(data).digest('hex'));
    }),
    {
      numRuns: 60,
      examples: [[new Uint8Array()], [new Uint8Array(128)], [new Uint8Array(129)], [new Uint8Array(256)]],
    },
  );
});

// Known answers of `b2sum -l 256`.
test.each([
  ['', '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8'],
  ['abc', 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'],
])('32 bytes of %j are a sum of their own', (text, expected) => {
  expect(hex(blake2b(Buffer.from(text), 32))).toBe(expected);
});
