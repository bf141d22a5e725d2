import { describe, expect, test } from 'vitest';

import { openRandom } from '../../../src/core/seeded-random.ts';
import {
  declineP,
  holm,
  bettingInterval,
  bettingWealth,
  mcNemar,
  pairedInterval,
  pairsNeeded,
  type PairCounts,
} from '../../../src/evals/statistics/statistics.ts';
import { verifies } from '../../conformance/verifies.ts';

const counts = (better: number, worse: number, both = 0, neither = 0): PairCounts => ({ better, worse, both, neither });

/** The pass rates of a case with and without the skill. */
type CaseRates = readonly [of: number, against: number];

const meanDifference = (cases: readonly CaseRates[]): number =>
  cases.reduce((sum, [of, against]) => sum + of - against, 0) / cases.length;

interface Simulated {
  readonly isFalse: boolean;
  readonly isCovered: boolean;
  readonly rounds: number;
}

/** Runs rounds over all cases until the interval excludes 0, as `--stop-when decided` does, and looks after every round. */
function simulate(cases: readonly CaseRates[], most: number, seed: number): Simulated {
  const random = openRandom(seed);
  const truth = meanDifference(cases);
  const seen = { better: 0, worse: 0, both: 0, neither: 0 };
  let isCovered = true;
  for (let round = 1; round <= most; round += 1) {
    for (const [of, against] of cases) {
      const [mine, theirs] = [random.below(1e6) < of * 1e6, random.below(1e6) < against * 1e6];
      seen[mine ? (theirs ? 'both' : 'better') : theirs ? 'worse' : 'neither'] += 1;
    }
    isCovered &&= bettingWealth(seen, truth) < 20;
    if (bettingWealth(seen, 0) >= 20) return { isFalse: truth === 0, isCovered, rounds: round };
  }
  return { isFalse: false, isCovered, rounds: most };
}

const EQUAL: readonly CaseRates[] = Array.from({ length: 10 }, () => [0.5, 0.5]);
/** No difference in the mean, but cases that get better and worse. */
const MIXED: readonly CaseRates[] = Array.from({ length: 10 }, (_, place) =>
  place % 2 === 0 ? [0.9, 0.1] : [0.1, 0.9],
);
const BETTER: readonly CaseRates[] = Array.from({ length: 10 }, (_, place) => (place < 5 ? [0.9, 0.3] : [0.5, 0.3]));

describe('an interval that is valid at every stop', () => {
  const TRIALS = 200;
  // Two standard deviations above 5 %.
  const MOST = TRIALS * 0.05 + 2 * Math.sqrt(TRIALS * 0.05 * 0.95);
  const many = (cases: readonly CaseRates[]): readonly Simulated[] =>
    Array.from({ length: TRIALS }, (_, place) => simulate(cases, 12, place + 1));

  verifies('EVAL-12', 'is wrong at most 5 % of the time, however often an evaluation looks at it', () => {
    for (const cases of [EQUAL, MIXED, BETTER]) {
      const all = many(cases);
      expect(all.filter(({ isFalse }) => isFalse).length).toBeLessThanOrEqual(MOST);
      expect(all.filter(({ isCovered }) => !isCovered).length).toBeLessThanOrEqual(MOST);
      const rounds = all.reduce((sum, one) => sum + one.rounds, 0) / TRIALS;
      // A large difference is decided early.
      expect(rounds < 5).toBe(cases === BETTER);
    }
  });

  test('contains the mean, narrows with more pairs, and is everything without any', () => {
    expect(bettingInterval(counts(0, 0))).toEqual({ mean: 0, low: -1, high: 1 });
    const widths = [1, 4, 16, 64].map((times) => {
      const { low, mean, high } = bettingInterval(counts(3 * times, times, 3 * times, 3 * times));
      expect([low <= mean, mean <= high, mean]).toEqual([true, true, 0.2]);
      return high - low;
    });
    expect(widths).toEqual(widths.toSorted((a, b) => b - a));
    const { low, high } = bettingInterval(counts(5000, 4000, 500, 500));
    expect([low > 0.05, high < 0.15]).toEqual([true, true]);
    const mirrored = bettingInterval(counts(2, 9, 4, 1));
    const { low: other } = bettingInterval(counts(9, 2, 4, 1));
    expect(mirrored.high).toBeCloseTo(-other, 6);
  });

  test('at 0 is the mixture form of the McNemar test', () => {
    // The integral over all chances of 2^n c^better (1 - c)^worse.
    expect(bettingWealth(counts(8, 0, 3, 4), 0)).toBeCloseTo(2 ** 8 / 9, 4);
    expect(bettingWealth(counts(2, 1, 5, 0), 0)).toBeCloseTo((8 * 2) / 24, 6);
  });
});

describe('the paired interval', () => {
  test('has the published values of Newcombe', () => {
    // Newcombe (1998), table III: 36/50 against 43/50 in pairs, method 10.
    const { mean, low, high } = pairedInterval({ both: 36, better: 12, worse: 2, neither: 0 });
    expect([mean, low, high].map((value) => Number(value.toFixed(4)))).toEqual([0.2, 0.0569, 0.3404]);
  });

  test('has a width if all pairs are equal', () => {
    const { low, high } = pairedInterval(counts(0, 0, 3, 1));
    expect([low < -0.2, high > 0.2]).toEqual([true, true]);
    expect(pairedInterval(counts(0, 0))).toEqual({ mean: 0, low: -1, high: 1 });
  });
});

describe('the number of pairs', () => {
  test('that a difference needs gives the exact test a power of 80 %', () => {
    const random = openRandom(5);
    const needed = pairsNeeded(0.3);
    let found = 0;
    for (let trial = 0; trial < 500; trial += 1) {
      let [better, worse] = [0, 0];
      for (let pair = 0; pair < needed; pair += 1) {
        const [mine, theirs] = [random.below(1000) < 650, random.below(1000) < 350];
        if (mine && !theirs) better += 1;
        if (theirs && !mine) worse += 1;
      }
      if (better > worse && mcNemar(better, worse) < 0.05) found += 1;
    }
    expect(found / 500).toBeGreaterThan(0.76);
    expect([pairsNeeded(1), pairsNeeded(0.2), pairsNeeded(0.1)]).toEqual([6, expect.any(Number), expect.any(Number)]);
    expect(pairsNeeded(0.1)).toBeGreaterThan(3 * pairsNeeded(0.2));
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
