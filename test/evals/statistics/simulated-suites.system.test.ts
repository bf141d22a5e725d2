import { describe, expect, test } from 'vitest';

import { EFFECT_SUITES, NULL_SUITES, simulateSuites } from '../../../bench/eval-verdicts.ts';
import { openRandom } from '../../../src/core/seeded-random.ts';
import { compareCases, countLooks, isLook } from '../../../src/evals/statistics/case-differences.ts';
import { verifies } from '../../conformance/verifies.ts';

describe('simulated suites', () => {
  verifies('EVAL-12', 'without an effect end as better or worse at most in 5 %', () => {
    const { better, worse, contradictions } = simulateSuites(NULL_SUITES);
    expect([(better + worse) / NULL_SUITES.suites <= 0.05, contradictions]).toEqual([true, 0]);
  });

  verifies('EVAL-12', 'without an effect and with a broken network end as better or worse at most in 5 %', () => {
    const { better, worse, contradictions } = simulateSuites({ ...NULL_SUITES, suites: 300, broken: 0.1 });
    expect([(better + worse) / 300 <= 0.05, contradictions]).toEqual([true, 0]);
  });

  verifies('EVAL-12', 'that say that they can detect 30 points find them in at least 80 %', () => {
    const { able, found, worse } = simulateSuites(EFFECT_SUITES);
    expect([able > 100, found / able >= 0.8, worse]).toEqual([true, true, 0]);
  });

  test('that may stop after each look end as better or worse at most in 5 % without an effect', () => {
    let wrong = 0;
    const [suites, most] = [300, 8];
    for (let suite = 1; suite <= suites; suite += 1) {
      const random = openRandom(suite);
      const seen = Array.from({ length: 8 + (suite % 20) }, () => ({ rate: random.below(1001), of: 0, against: 0 }));
      for (let round = 1; round <= most; round += 1) {
        for (const one of seen) {
          if (random.below(1000) < one.rate) one.of += 1;
          if (random.below(1000) < one.rate) one.against += 1;
        }
        if (!isLook(round, most)) continue;
        const { p } = compareCases(
          seen.map(({ of, against }) => ({ seen: (of - against) / round })),
          countLooks(most),
        );
        if (p >= 0.05) continue;
        wrong += 1;
        break;
      }
    }
    expect(wrong / suites).toBeLessThanOrEqual(0.05);
  });
});
