import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  binomialAtLeast,
  casesNeeded,
  correlation,
  declineP,
  holm,
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

describe('the smallest detectable difference', () => {
  test.each([
    [8, 0],
    [12, 0.25],
    [20, 0],
    [20, 0.4],
    [30, 0.5],
  ])('of %s cases with a variance of %s has a power of 80 %%', (cases, variance) => {
    const d = smallestVisible(cases, { variance, size: 1 });
    const share = (part: number): number => Math.min(1, Math.max(part, variance + part * part));
    expect(powerByHand(cases, d, share(d))).toBeGreaterThanOrEqual(0.8);
    const less = d - 0.002;
    expect(powerByHand(cases, less, share(less))).toBeLessThan(0.8);
    // Differences of half the size are found at half the size.
    expect(smallestVisible(cases, { variance: variance / 4, size: 0.5 })).toBeCloseTo(d / 2, 3);
  });

  test('is 1 for five cases and decreases with more cases', () => {
    expect([0, 1, 5].map((cases) => smallestVisible(cases, { variance: 0, size: 1 }))).toEqual([1, 1, 1]);
    const seen = [10, 30, 100, 300, 1_000].map((cases) => smallestVisible(cases, { variance: 0.2, size: 1 }));
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  });

  test('agrees between the exact and the approximate computation', () => {
    const [exact = 0, about = 0] = [1_000, 1_001].map((cases) => smallestVisible(cases, { variance: 0.3, size: 1 }));
    expect(Math.abs(exact - about)).toBeLessThan(0.004);
  });
});

describe('the number of different cases', () => {
  test('that a difference needs gives the exact test a power of 80 %', () => {
    const needed = casesNeeded(0.3);
    expect(powerByHand(needed, 0.3, (1 + 0.09) / 2)).toBeGreaterThanOrEqual(0.8);
    expect(powerByHand(needed - 3, 0.3, (1 + 0.09) / 2)).toBeLessThan(0.8);
    expect(casesNeeded(1)).toBe(6);
    expect(casesNeeded(0.1)).toBeGreaterThan(3 * casesNeeded(0.2));
  });
});

describe('a correlation', () => {
  test('is that of Pearson, and unknown where nothing varies', () => {
    expect(
      correlation([
        [1, 2],
        [2, 4],
        [3, 6],
      ]),
    ).toBeCloseTo(1, 12);
    expect(
      correlation([
        [1, 1],
        [2, 0],
        [3, 1],
        [4, 0],
      ]),
    ).toBeCloseTo(-0.4472, 4);
    expect([
      correlation([
        [1, 1],
        [2, 2],
      ]),
      correlation([
        [1, 1],
        [2, 1],
        [3, 1],
      ]),
    ]).toEqual([undefined, undefined]);
  });
});

describe('a fall of pass rates', () => {
  test('is tested exactly, case by case and together', () => {
    const fell = { before: { passed: 3, of: 3 }, after: { passed: 0, of: 3 } };
    expect(declineP([fell])).toBeCloseTo(1 / 20, 12);
    expect(declineP([fell, fell])).toBeCloseTo(1 / 400, 12);
    expect(declineP([{ before: { passed: 1, of: 1 }, after: { passed: 0, of: 1 } }])).toBeCloseTo(0.5, 12);
    expect(declineP([{ before: fell.after, after: fell.before }])).toBeCloseTo(1, 12);
    expect(declineP([])).toBe(1);
    const large = Array.from({ length: 300 }, () => ({ before: { passed: 5, of: 10 }, after: { passed: 5, of: 10 } }));
    expect(declineP(large)).toBeGreaterThan(0.4);
  });

  test('of several cases is corrected for their number', () => {
    expect(holm([0.01, 0.04, 0.03])).toEqual([true, false, false]);
    expect(holm([0.01, 0.02, 0.03])).toEqual([true, true, true]);
    expect(holm([])).toEqual([]);
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
