import { expect, test } from 'vitest';

import { checkSeal, sealRun } from '../../src/journal/seal.ts';

const RUN = { run: 'a', events: { count: 3, head: 'ff' } };

test('a seal is good for one run, one text and one key', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const seal = sealRun(key, RUN, 'text');
  const [id = '', code = ''] = seal.split(':');
  expect(checkSeal(seal, key, RUN, 'text')).toBe('good');
  expect(checkSeal(seal, key, RUN, 'texT')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, run: 'b' }, 'text')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, events: { count: 4, head: 'ff' } }, 'text')).toBe('bad');
  expect(checkSeal(seal, key, { ...RUN, events: { count: 3, head: 'fe' } }, 'text')).toBe('bad');
  expect(checkSeal(`${'0'.repeat(16)}:${code}`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(`${id}:${'0'.repeat(64)}`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(`${seal}:`, key, RUN, 'text')).toBe('bad');
  expect(checkSeal(seal, other, RUN, 'text')).toBe('no-key');
  expect(checkSeal(seal, undefined, RUN, 'text')).toBe('no-key');
  expect(checkSeal(undefined, key, RUN, 'text')).toBe('absent');
});
