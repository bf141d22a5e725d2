import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { hasLongRun } from '../../src/scan/match.ts';

describe('hasLongRun', () => {
  test('agrees with a regular expression', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b'), maxLength: 60 }),
        fc.integer({ min: 1, max: 12 }),
        (text, length) => {
          const isThere = new RegExp(`a{${String(length)}}`).test(text);
          expect(hasLongRun(text, length, (code) => code === 0x61)).toBe(isThere);
        },
      ),
    );
  });
});
