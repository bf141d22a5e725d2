import { expect, test } from 'vitest';

import { errorOutcome } from '../../src/core/error-outcomes.ts';

test.each([
  ['input/invalid', 1, 400],
  ['skill/unknown', 1, 404],
  ['io/failed', 1, 500],
  ['policy/refused', 3, 403],
  ['executor/unavailable', 4, 503],
  ['run/resumed', 4, 400],
  ['archive/link', 1, 400],
  ['constructor', 1, 400],
])('%s exits with %i and answers with %i', (code, exit, status) => {
  expect(errorOutcome(code)).toEqual({ exit, status });
});
