import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  binomialAtLeast,
  mcNemar,
  computeMean,
  computeRate,
  computeShare,
  smallestVisible,
} from '../../../src/evals/statistics/statistics.ts';
import { runs } from '../../property-runs.ts';

/** The exact binomial coefficient. */
function choose(of: number, count: number): bigint {
  let ways = 1n;
  for (let place = 0; place < count; place += 1) ways = (ways * BigInt(of - place)) / BigInt(place + 1);
  return ways;
}

/** The two-sided p-value as the sum over all splits that are at least as uneven. */
function mcNemarByHand(better: number, worse: number): number {
  const all = better + worse;
  let uneven = 0n;
  for (let count = 0; count <= all; count += 1)
    if (Math.abs(2 * count - all) >= Math.abs(better - worse)) uneven += choose(all, count);
  return Number((uneven * 10n ** 15n) / 2n ** BigInt(all)) / 1e15;
}

const rounded = (value: number): number => Number(value.toFixed(6));

describe('a rate', () => {
  // Both ends of the Wilson interval solve (share - p)^2 = z^2 p (1 - p) / n.
  test('has the Wilson interval', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (of, some) => {
        const count = Math.min(some, of);
        const { low, high } = computeRate(count, of);
        const share = count / of;
        for (const end of [low, high].filter((one) => one > 0 && one < 1))
          expect(rounded(Math.abs(share - end) / Math.sqrt((end * (1 - end)) / of))).toBe(1.959964);
        expect(low <= share && share <= high).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  test('has known intervals', () => {
    const known = (count: number, of: number): readonly number[] => {
      const { low, high } = computeRate(count, of);
      return [rounded(low), rounded(high)];
    };
    expect(known(8, 10)).toEqual([0.490162, 0.943318]);
    expect(known(0, 10)).toEqual([0, 0.277533]);
    expect(known(10, 10)).toEqual([0.722467, 1]);
    expect(computeRate(0, 0)).toEqual({ count: 0, of: 0, low: 0, high: 1 });
    expect(computeShare(computeRate(0, 0))).toBe(0);
  });

  test.each([
    [Number.NaN, 1],
    [1, Number.POSITIVE_INFINITY],
    [-1, 2],
    [0.5, 2],
    [3, 2],
  ])('rejects %s of %s', (count, of) => {
    expect(() => computeRate(count, of)).toThrow(expect.objectContaining({ code: 'input/invalid' }));
  });
});

describe('the exact McNemar test', () => {
  test('is the sum over all splits that are at least as uneven', () => {
    for (let better = 0; better <= 14; better += 1)
      for (let worse = 0; worse <= 14; worse += 1)
        expect([better, worse, rounded(mcNemar(better, worse))]).toEqual([
          better,
          worse,
          rounded(mcNemarByHand(better, worse)),
        ]);
  });

  test('does not overflow', () => {
    expect(rounded(mcNemar(5_000, 5_000))).toBe(1);
    expect(mcNemar(10_000, 0)).toBeLessThan(1e-300);
    expect(rounded(mcNemar(110, 90))).toBe(rounded(mcNemarByHand(110, 90)));
  });
});

describe('the smallest detectable difference', () => {
  /** Enumerates every outcome of every pair: better, worse or equal. */
  function powerByHand(pairs: number, d: number, share: number): number {
    let power = 0;
    for (let better = 0; better <= pairs; better += 1)
      for (let worse = 0; worse + better <= pairs; worse += 1) {
        if (better <= worse || mcNemarByHand(better, worse) > 0.05) continue;
        const ways = Number(choose(pairs, better) * choose(pairs - better, worse));
        const [up, down] = [(share + d) / 2, (share - d) / 2];
        power += ways * up ** better * down ** worse * (1 - share) ** (pairs - better - worse);
      }
    return power;
  }

  test.each([
    [8, 0],
    [12, 3],
    [20, 0],
    [20, 8],
    [30, 15],
  ])('of %s pairs of which %s differ has a power of 80 %%', (pairs, differing) => {
    const d = smallestVisible(pairs, differing);
    const share = Math.max(differing / pairs, d);
    expect(powerByHand(pairs, d, share)).toBeGreaterThanOrEqual(0.8);
    const less = d - 0.002;
    expect(powerByHand(pairs, less, Math.max(differing / pairs, less))).toBeLessThan(0.8);
  });

  test('is 1 for five pairs and decreases with more pairs', () => {
    expect([0, 1, 5].map((pairs) => smallestVisible(pairs, 0))).toEqual([1, 1, 1]);
    const seen = [10, 30, 100, 300, 1_000].map((pairs) => smallestVisible(pairs, Math.round(pairs / 5)));
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  });

  test('agrees between the exact and the approximate computation', () => {
    expect(Math.abs(smallestVisible(1_000, 300) - smallestVisible(1_001, 300))).toBeLessThan(0.004);
  });
});

describe('values', () => {
  test('have a mean', () => {
    expect([computeMean([]), computeMean([2, 4, 9])]).toEqual([0, 5]);
    expect(() => computeMean([Number.POSITIVE_INFINITY])).toThrow(expect.objectContaining({ code: 'input/invalid' }));
  });

  test('binomial tails add up to one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.nat(200),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (of, some, share) => {
          const least = Math.min(some, of);
          const upper = binomialAtLeast(least, of, share);
          const lower = binomialAtLeast(of - least + 1, of, 1 - share);
          expect(Math.abs(upper + lower - 1)).toBeLessThan(1e-9);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
