import fc from 'fast-check';
import { expect, test } from 'vitest';

import { nearest } from '../../src/core/nearest.ts';

const words = ['list', 'search', 'inspect', 'catalog', 'check', 'validate', 'refresh'];

test.each([
  ['serach', ['search']],
  ['LIST', ['list']],
  ['lst', ['list']],
  ['valid', ['validate']],
  ['checks', ['check']],
  ['zzzzzz', []],
  ['', []],
])('%j is probably %j', (wanted, expected) => {
  expect(nearest(wanted, words, 1)).toEqual(expected);
});

test('looks at no more than a name’s worth of a long word, and never throws', () => {
  expect(nearest('x'.repeat(10_000_000), words)).toEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (word, all) => nearest(word, all, 2).length <= 2),
  );
});
