import { describe, expect, test } from 'vitest';

import { exitOf, makeReport, verdictOf } from '../../../src/evals/report/report.ts';
import type { CaseResult, EvalReport, TriggerReport } from '../../../src/evals/report/result.ts';
import { makeTriggerReport } from '../../../src/evals/trigger/trigger-score.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseResult } from '../case-results.ts';

function report(
  results: readonly CaseResult[],
  more: { readonly trigger?: TriggerReport; readonly isPartial?: boolean } = {},
): EvalReport {
  return makeReport({
    tool: 'skillwright 0.1.0',
    startedAt: '2026-01-01T00:00:00.000Z',
    wallMs: 12,
    skills: [{ name: 'report', digest: 'sha256:00' }],
    isPartial: false,
    results,
    ...more,
  });
}

describe('a report', () => {
  test('counts errors as neither passed nor failed', () => {
    const results = [
      caseResult('a'),
      caseResult('b', { status: 'failed' }),
      caseResult('c', { status: 'error', reason: 'a timeout' }),
      caseResult('d', { status: 'skipped', reason: 'no judge' }),
      caseResult('a', { attempt: 2, status: 'failed' }),
      caseResult('b', { attempt: 2, status: 'error' }),
      caseResult('b', { arm: 'without', status: 'passed', model: { id: 'x', way: 'cassette' } }),
    ];
    expect(report(results)).toEqual({
      schema: 1,
      tool: 'skillwright 0.1.0',
      startedAt: '2026-01-01T00:00:00.000Z',
      wallMs: 12,
      skills: [{ name: 'report', digest: 'sha256:00' }],
      models: [
        { id: 'scripted', way: 'scripted' },
        { id: 'x', way: 'cassette' },
      ],
      results,
      totals: { passed: 1, failed: 2, error: 2, skipped: 1 },
      passRate: { count: 1, of: 3, low: expect.closeTo(0.0615, 3), high: expect.closeTo(0.7923, 3) },
      comparisons: [],
      flaky: ['a'],
      isPartial: false,
    });
  });

  verifies('EVAL-4', 'gives an exit code for CI', () => {
    const good = caseResult('a');
    const bad = caseResult('b', { status: 'failed' });
    const broken = caseResult('c', { status: 'error' });
    expect(exitOf(report([good]))).toBe(0);
    expect(exitOf(report([good, bad]))).toBe(1);
    expect(exitOf(report([good, bad]), { passRate: 0.5 })).toBe(0);
    expect(exitOf(report([good, broken]))).toBe(5);
    expect(exitOf(report([good, broken]), { errors: 1 })).toBe(0);
    expect(exitOf(report([good], { isPartial: true }))).toBe(1);
    expect(exitOf(report([good]), { difference: 0.1 })).toBe(1);
    // A threshold of NaN is never met.
    expect(exitOf(report([good]), { passRate: Number.NaN })).toBe(1);
  });

  test('without verdicts does not pass', () => {
    expect(verdictOf(report([]))).toEqual({ type: 'invalid', reasons: ['no case has a verdict'] });
    expect(exitOf(report([caseResult('a', { status: 'skipped' })]))).toBe(5);
  });

  test('with a failed control is invalid and has no score', () => {
    const trigger = makeTriggerReport({
      trials: [{ case: 'a', label: { all: ['report'], any: [], none: [] }, loaded: ['report'] }],
      controls: [
        { name: 'always-fire', asked: 'it fires', found: '0 of 5', isKept: false },
        { name: 'never-fire', asked: 'it is quiet', found: '0 of 5', isKept: true },
        { name: 'shuffled-labels', asked: 'chance', found: 'chance', isKept: true },
      ],
    });
    const invalid = report([caseResult('a')], { trigger });
    expect(verdictOf(invalid, { passRate: 0 })).toEqual({
      type: 'invalid',
      reasons: ['the control always-fire failed: expected it fires, found 0 of 5'],
    });
    expect([exitOf(invalid), trigger.scores, trigger.confusion]).toEqual([5, [], []]);
  });
});
