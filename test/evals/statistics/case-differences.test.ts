import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openRandom } from '../../../src/core/seeded-random.ts';
import { compareCases, countLooks, isLook, meanInterval } from '../../../src/evals/statistics/case-differences.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';

const cases = (...seen: readonly number[]) => seen.map((one) => ({ seen: one }));
const times = (count: number, seen: number): readonly number[] => Array.from({ length: count }, () => seen);

/** The chance of a sum that is at least as great, over all signs. */
function tailByHand(numbers: readonly number[], sign: 1 | -1): number {
  const sizes = numbers.map((one) => Math.abs(one));
  const reached = numbers.reduce((sum, one) => sum + one * sign, 0);
  let count = 0;
  for (let signs = 0; signs < 2 ** sizes.length; signs += 1) {
    const sum = sizes.reduce((total, size, place) => total + (signs & (1 << place) ? size : -size), 0);
    if (sum >= reached - 1e-9) count += 1;
  }
  return count / 2 ** sizes.length;
}

const difference = fc.integer({ min: -4, max: 4 }).map((quarters) => quarters / 4);

describe('the test over cases', () => {
  test('adds up all signs', () => {
    fc.assert(
      fc.property(fc.array(difference, { minLength: 1, maxLength: 10 }), (numbers) => {
        const byHand = Math.min(1, 2 * Math.min(tailByHand(numbers, 1), tailByHand(numbers, -1)));
        expect(compareCases(cases(...numbers)).p).toBeCloseTo(byHand, 9);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('is the exact McNemar test for one attempt per case', () => {
    expect(compareCases(cases(...times(8, 1))).p).toBeCloseTo(2 / 256, 12);
    expect(compareCases(cases(...times(9, 1), -1, ...times(5, 0))).p).toBeCloseTo((2 * 11) / 1024, 12);
    expect(compareCases(cases(...times(5, 1))).p).toBeCloseTo(2 / 32, 12);
  });

  verifies('EVAL-12', 'and its interval never contradict each other, and the interval contains the mean', () => {
    const bounded = fc.tuple(difference, fc.double({ min: 0, max: 0.5, noNaN: true })).map(([seen, margin]) => ({
      seen,
      low: Math.max(-1, seen - margin),
      high: Math.min(1, seen + margin),
    }));
    fc.assert(
      fc.property(fc.array(bounded, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (some, looks) => {
        const { p, difference: interval } = compareCases(some, looks);
        expect([p < 0.05, interval.low <= interval.mean, interval.mean <= interval.high]).toEqual([
          interval.low > 0 || interval.high < 0,
          true,
          true,
        ]);
        expect([interval.low >= -1, interval.high <= 1]).toEqual([true, true]);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('has an interval with a width if all cases are equal, and none knows nothing', () => {
    expect(compareCases([])).toEqual({ difference: { mean: 0, low: -1, high: 1 }, p: 1, smallestVisible: 1 });
    const { low, high } = compareCases(cases(...times(8, 0))).difference;
    expect([low < -0.2, high > 0.2]).toEqual([true, true]);
    const widths = [2, 8, 32].map((count) => {
      const { difference: of } = compareCases(cases(...times(3 * count, 1), ...times(count, -1), ...times(count, 0)));
      return of.high - of.low;
    });
    expect(widths).toEqual(widths.toSorted((a, b) => b - a));
  });

  test('takes a thousand cases of any size', () => {
    const random = openRandom(3);
    const many = Array.from({ length: 1000 }, () => ({ seen: (random.below(201) - 90) / 100 }));
    expect(compareCases(many).p).toBeLessThan(0.05);
  });

  test('looks after 1, 2, 4, 8 attempts and after the last one', () => {
    const looks = (most: number) => Array.from({ length: most }, (_, at) => at + 1).filter((at) => isLook(at, most));
    expect([looks(1), looks(3), looks(8), looks(12)]).toEqual([[1], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 12]]);
    for (let most = 1; most <= 64; most += 1) expect(looks(most)).toHaveLength(countLooks(most));
  });
});

describe('the interval of a mean', () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 6, maxLength: 10 });

  test('holds what the sum over all signs does not reject', () => {
    fc.assert(
      fc.property(amounts, (values) => {
        const { mean, low = mean, high = mean } = meanInterval(values);
        const spread = Math.max(...values) - Math.min(...values);
        // Sizes are rounded to a sixtieth of the longest.
        const step = spread / 15;
        const pAt = (assumed: number): number => {
          const distances = values.map((one) => one - assumed);
          return 2 * Math.min(tailByHand(distances, 1), tailByHand(distances, -1));
        };
        expect(low <= mean && mean <= high).toBe(true);
        if (spread === 0) return;
        expect(pAt(low + step) >= 0.05 || low + step > mean).toBe(true);
        expect(pAt(high - step) >= 0.05 || high - step < mean).toBe(true);
        expect([pAt(low - step) < 0.05, pAt(high + step) < 0.05]).toEqual([true, true]);
      }),
      { numRuns: runs(100) },
    );
  });

  test('moves and grows with the values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 6, maxLength: 40 }), (values) => {
        const { mean, low = mean, high = mean } = meanInterval(values);
        const moved = meanInterval(values.map((one) => 1000 - one / 8));
        const near = (amount: number) => expect.closeTo(amount, 3);
        expect(moved).toEqual({ mean: near(1000 - mean / 8), low: near(1000 - high / 8), high: near(1000 - low / 8) });
      }),
      { numRuns: runs(100) },
    );
  });

  test('needs six cases, and is a point if all are equal', () => {
    expect(meanInterval([1, 2, 3, 4, 5])).toEqual({ mean: 3 });
    expect(meanInterval([7, 7, 7, 7, 7, 7])).toEqual({ mean: 7, low: 7, high: 7 });
    expect(meanInterval([1, 2, 3, 4, 5, 6])).toEqual({ mean: 3.5, low: 1, high: 6 });
    expect(meanInterval(times(1000, 0))).toEqual({ mean: 0, low: 0, high: 0 });
  });

  test('excludes 0 exactly if the test over cases does', () => {
    fc.assert(
      fc.property(fc.array(difference, { minLength: 6, maxLength: 16 }), (numbers) => {
        const { low = 0, high = 0 } = meanInterval(numbers);
        expect(low > 1e-6 || high < -1e-6).toBe(compareCases(cases(...numbers)).p < 0.05);
      }),
      { numRuns: runs(200) },
    );
  });
});
