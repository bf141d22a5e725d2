import { expect, test } from 'vitest';

import { compareDescriptions } from '../../../src/evals/tune/tune.ts';
import { caseResult } from '../case-results.ts';

const IDS = 'abcdefgh'.split('').map((letter) => letter.repeat(4));
const all = (status: 'passed' | 'failed' | 'error') => IDS.map((id) => caseResult(id, { status }));

test('a description that passes where the current one fails is an improvement', () => {
  expect(compareDescriptions(all('passed'), all('failed'))).toMatchObject({
    validation: { count: 8, of: 8 },
    currentValidation: { count: 0, of: 8 },
    missing: 0,
    isImprovement: true,
  });
});

test('cases without a verdict are no reason for an improvement', () => {
  const broken = all('failed').map((result, place) => (place < 4 ? { ...result, status: 'error' as const } : result));
  expect(compareDescriptions(all('passed'), broken)).toMatchObject({ missing: 4, isImprovement: false });
  expect(compareDescriptions(broken, all('failed'))).toMatchObject({ missing: 4, isImprovement: false });
  expect(compareDescriptions(all('error'), all('failed'))).toMatchObject({ missing: 8, isImprovement: false });
});

test('near-identical requests count once', () => {
  const same = (status: 'passed' | 'failed') => all(status).map((result) => ({ ...result, input: 'Sum a.csv' }));
  expect(compareDescriptions(same('passed'), same('failed'))).toMatchObject({ isImprovement: false });
});
