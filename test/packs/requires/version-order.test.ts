import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareVersions } from '../../../src/packs/requires/version-order.ts';

test.each([
  ['1.0.0', '1.0.1', -1],
  ['1.9', '1.10', -1],
  ['1.0', '1.0.0', 0],
  ['v1.2', '1.2', 0],
  ['2.0.0-rc.1', '2.0.0', -1],
  ['2.0.0-alpha', '2.0.0-beta', -1],
  ['2.0.0-rc.2', '2.0.0-rc.10', -1],
  ['2.0.0-1', '2.0.0-rc', -1],
  ['2.0.0-rc', '2.0.0-rc.1', -1],
  ['1.0.0+linux', '1.0.0+mac', 0],
  ['01.2', '1.2', 0],
  ['20260101123456789012', '20260101123456789013', -1],
  ['99999999999999999999', '100000000000000000000', -1],
])('%s to %s', (a, b, order) => {
  expect(Math.sign(compareVersions(a, b) ?? Number.NaN)).toBe(order);
  expect(Math.sign(-(compareVersions(b, a) ?? Number.NaN)) + 0).toBe(order);
});

test.each([
  ['latest', '1.0.0'],
  ['1.0.0', ''],
  ['1.0.0', '1.0.0 || true'],
  [`1.${'0.'.repeat(300)}1`, '1.0'],
])('%j and %j cannot be ordered', (a, b) => {
  expect(compareVersions(a, b)).toBeUndefined();
});

test('pre-releases come before what they lead to, each in its place', () => {
  const alphas = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta'];
  const sorted = ['v0.9', ...alphas, '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.0.1', '1.10', '2'];
  const shuffled = [...sorted].reverse();
  expect(shuffled.toSorted((a, b) => compareVersions(a, b) ?? Number.NaN)).toEqual(sorted);
});

test('words that are the same are the same', () => {
  expect(compareVersions('latest', 'latest')).toBe(0);
});

test('the order is a total one', () => {
  const part = fc.nat({ max: 30 });
  const version = fc
    .tuple(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.option(fc.stringMatching(/^(?:[a-c1-3]{1,2})(?:\.[a-c1-3]){0,2}$/)),
    )
    .map(([numbers, before]) => numbers.join('.') + (before === null ? '' : `-${before}`));
  const order = (a: string, b: string): number => Math.sign(compareVersions(a, b) ?? Number.NaN);
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(order(a, b) + order(b, a)).toBe(0);
      if (order(a, b) <= 0 && order(b, c) <= 0) expect(order(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
