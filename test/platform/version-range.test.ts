import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compareVersions } from '../../src/packs/compare-versions.ts';
import { readRange } from '../../src/platform/version-range.ts';

test.each([
  ['3.11.2', '>=3.11', true],
  ['3.11.2', '>=3.12', false],
  ['3.9.1', '>=3.10', false],
  ['3.11.2', '>=3.8,<4', true],
  ['3.11.2', '>=3.8, <3.11', false],
  ['3.11.2', '==3.11.*', true],
  ['3.11.2', '==3.11', true],
  ['3.11.2', '==3.10.*', false],
  ['3.11.2', '!=3.11.2', false],
  ['2.31.0', '~=2.1', true],
  ['3.0.0', '~=2.1', false],
  ['2.1.9', '~=2.1.4', true],
  ['2.2.0', '~=2.1.4', false],
  ['20.20.1', '>=18', true],
  ['20.20.1', '^18 || ^20', true],
  ['20.20.1', '^18 || ^22', false],
  ['20.20.1', '>= 18.17 < 21', true],
  ['20.20.1', '>= 18.17 < 20', false],
  ['20.20.1', '20.x', true],
  ['20.20.1', '~20.19', false],
  ['v20.20.1', '>20.20.0', true],
  ['0.2.9', '^0.2.1', true],
  ['0.3.0', '^0.2.1', false],
  ['0.0.4', '^0.0.3', false],
  ['1.9.0', '^1.2', true],
  ['2.0.0', '^1.2', false],
  ['1.0', '<=1', true],
  ['1.0rc1', '>=1.0', false],
  ['1.0rc1', '>=0.9', true],
  ['1.0.post1', '>=1.0', true],
  ['2.0.0-rc.1', '>=2.0.0', false],
  ['2.0.0-rc.1', '>=2', false],
  ['2.0.0-rc.1', '^2', false],
  ['2.0.0-rc.1', '>=2.0.0-rc.1', true],
  ['2.0.0-rc.1', '<2.0.0', false],
  ['2.0.0-rc.1', '<2', false],
  ['2.1.0-rc.1', '>=2.0.0', true],
  ['1.2.3', '!=1.2.*', false],
  ['1.3.0', '!=1.2.*', true],
  ['1.2.3', '!=1.2', true],
  ['1.2.0', '!=1.2', false],
  ['1.2.3', '>=1,!=1.2.*,<2', false],
  ['2.1', '>2', true],
  ['1.5', '<=1', false],
  ['2024.01.05', '>=2024.1', true],
  ['anything', '>=3', true],
  ['3.11.2', 'whatever', true],
  ['3.11.2', '', true],
  ['3.11.2', '*', true],
])('%s in %j: %s', (version, range, expected) => {
  expect(readRange(range).includes(version)).toBe(expected);
});

test.each([
  ['>=1.2, <2', true],
  ['^1 || ~2.1', true],
  ['1.x', true],
  ['*', true],
  ['>= 18.17 < 21', true],
  ['', false],
  ['latest', false],
  ['>=', false],
  ['>=1 whatever', false],
])('%j is a range: %s', (range, expected) => {
  expect(readRange(range).isUnderstood).toBe(expected);
});

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
])('%s compared with %s', (a, b, order) => {
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

test('pre-releases sort before their release', () => {
  const alphas = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta'];
  const sorted = ['v0.9', ...alphas, '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.0.1', '1.10', '2'];
  const shuffled = [...sorted].reverse();
  expect(shuffled.toSorted((a, b) => compareVersions(a, b) ?? Number.NaN)).toEqual(sorted);
});

test('equal texts are equal versions', () => {
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
