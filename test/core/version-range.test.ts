import { expect, test } from 'vitest';

import { isInRange, isRange } from '../../src/core/version-range.ts';

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
  ['1.0rc1', '>=1.0', true],
  ['anything', '>=3', true],
  ['3.11.2', 'whatever', true],
  ['3.11.2', '', true],
  ['3.11.2', '*', true],
])('%s in %j: %s', (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected);
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
  expect(isRange(range)).toBe(expected);
});
