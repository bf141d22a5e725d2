import { describe, expect, test } from 'vitest';

import { compareArms, isComparison } from '../../../src/evals/report/compare-arms.ts';
import { ARMS } from '../../../src/evals/report/result.ts';
import type { Arm, CaseResult, Comparison } from '../../../src/evals/report/result.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseResult, checkResult } from '../case-results.ts';

function compared(results: readonly CaseResult[], of: Arm, against: Arm): Comparison {
  const comparison = compareArms(results, { of, against });
  return isComparison(comparison) ? comparison : expect.fail(comparison.reason);
}

function arms(of: Arm, against: Arm, count: number): readonly CaseResult[] {
  return Array.from({ length: count }, (_, place) => `case-${String(place)}`).flatMap((id) => [
    caseResult(id, { arm: of, status: 'passed' }),
    caseResult(id, { arm: against, status: 'failed' }),
  ]);
}

describe('two arms', () => {
  verifies('EVAL-3', 'are compared pair by pair', () => {
    const checks = [checkResult('output[0]', 'passed'), checkResult('output[1]', 'failed')];
    const results = [
      caseResult('a', {
        arm: 'with',
        checks: [checkResult('output[0]', 'passed'), checkResult('output[1]', 'passed')],
      }),
      caseResult('a', { arm: 'without', status: 'failed', checks }),
      caseResult('b', { arm: 'with', status: 'failed' }),
      caseResult('b', { arm: 'without' }),
      caseResult('c', { arm: 'with' }),
      caseResult('c', { arm: 'without' }),
      // Cases without a verdict in both arms are not compared.
      caseResult('d', { arm: 'with' }),
      caseResult('d', { arm: 'without', status: 'error', reason: 'it broke' }),
      caseResult('e', { arm: 'with' }),
    ];
    expect(compared(results, 'with', 'without')).toEqual({
      of: 'with',
      against: 'without',
      pairs: 3,
      better: 1,
      worse: 1,
      difference: { mean: 0, low: expect.any(Number), high: expect.any(Number) },
      p: 1,
      smallestVisible: 1,
      sayNothing: [{ case: 'a', check: 'output[0]' }],
      tokens: { of: 110, against: 110 },
      wallMs: { of: 5, against: 5 },
    });
  });

  test('have the right sign, independent of their names', () => {
    for (const of of ARMS)
      for (const against of ARMS.filter((arm) => arm !== of)) {
        const results = arms(of, against, 12);
        expect([of, against, compared(results, of, against).difference.mean]).toEqual([of, against, 1]);
        expect(compared(results.toReversed(), of, against).difference).toEqual({ mean: 1, low: 1, high: 1 });
        expect(compared(results, against, of).difference).toEqual({ mean: -1, low: -1, high: -1 });
        expect(compared(results, of, against).p).toBeCloseTo(2 * 0.5 ** 12, 12);
      }
  });

  test('count tokens as tokens', () => {
    const cost = { ...caseResult('a').cost, inputTokens: 4_000, outputTokens: 1_000 };
    const results = [caseResult('a', { cost, answer: 'x'.repeat(999) }), caseResult('a', { arm: 'old' })];
    expect(compared(results, 'with', 'old').tokens).toEqual({ of: 5_000, against: 110 });
  });

  test('without verdicts have no comparison', () => {
    expect(compareArms([], { of: 'with', against: 'old' })).toEqual({
      type: 'no-comparison',
      reason: 'no case has a verdict in both arms (with: 0 of 0 runs with a verdict; old: 0 of 0 runs with a verdict)',
    });
    const broken = [caseResult('a', { status: 'error' }), caseResult('a', { arm: 'old', status: 'skipped' })];
    expect(compareArms(broken, { of: 'with', against: 'old' })).toMatchObject({ type: 'no-comparison' });
    expect(compareArms(broken, { of: 'old', against: 'old' })).toEqual({
      type: 'no-comparison',
      reason: 'cannot compare old with itself',
    });
  });

  test('weigh each case once, also with repetitions', () => {
    const results = [
      ...[1, 2, 3, 4].map((attempt) => caseResult('a', { attempt, status: attempt === 4 ? 'failed' : 'passed' })),
      caseResult('a', { arm: 'old', status: 'failed' }),
      caseResult('b', { status: 'failed' }),
      caseResult('b', { arm: 'old', status: 'failed' }),
    ];
    const { pairs, better, worse, difference } = compared(results, 'with', 'old');
    expect([pairs, better, worse, difference.mean]).toEqual([2, 1, 0, 0.375]);
  });
});
