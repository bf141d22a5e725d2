import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ClockText, thousandths } from '../../src/journal/clock-text.ts';

test('thousandths are written as the number itself is written', () => {
  const counts = [0, 1, 10, 100, 120, 999, 1000, 1001, 1230, 2000, 86_400_000_000];
  expect(counts.map(thousandths)).toEqual(counts.map((count) => JSON.stringify(count / 1000)));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (count) => {
      expect(thousandths(count)).toBe(JSON.stringify(count / 1000));
    }),
  );
});

test('a clock is written as it goes, forwards, backwards and not at all', () => {
  const clock = new ClockText();
  const moments = [0, 0, 1, 1_767_323_045_678, 1_767_323_045_678, 1_767_323_045_679, 5, 5].map((at) => new Date(at));
  expect(moments.map((moment) => clock.text(moment))).toEqual(moments.map((moment) => moment.toISOString()));
});
