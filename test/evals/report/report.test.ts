import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { makeReport } from '../../../src/evals/report/report.ts';
import { exitOf, verdictOf } from '../../../src/evals/report/verdict.ts';
import { incompleteText, listFacts } from '../../../src/evals/report/report-text.ts';
import {
  ARMS,
  CASE_STATUSES,
  type CaseResult,
  type EvalReport,
  type TriggerReport,
} from '../../../src/evals/report/result.ts';
import { makeTriggerReport } from '../../../src/evals/trigger/trigger-score.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';
import { measureCosts } from '../../../src/evals/report/costs.ts';
import { caseResult, checkResult } from '../case-results.ts';

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

const NONE = { passed: 0, failed: 0, error: 0, skipped: 0 };
const harness = (id: string, status: CaseResult['status'] = 'passed') =>
  caseResult(id, { status, isHarnessCheck: true });

describe('a report', () => {
  verifies('EVAL-12', 'counts every result once, in its arm, whatever the results are', () => {
    const anyResult = fc
      .record({
        id: fc.constantFrom('a', 'b', 'c', 'd'),
        arm: fc.constantFrom(...ARMS),
        attempt: fc.integer({ min: 1, max: 4 }),
        status: fc.constantFrom(...CASE_STATUSES),
        way: fc.constantFrom('live', 'scripted', 'cassette', 'rules'),
        isHarness: fc.boolean(),
        quarantine: fc.constantFrom(undefined, { until: '2026-12-31', passed: 1, of: 4 }),
        kinds: fc.array(
          fc.tuple(fc.constantFrom('trigger', 'output', 'judge', 'sequence'), fc.constantFrom(...CASE_STATUSES)),
        ),
      })
      .map(({ id, isHarness, way, kinds, ...rest }) =>
        caseResult(id, {
          ...rest,
          model: { id: way, way },
          checks: kinds.map(([kind, status], place) => ({ ...checkResult(`${kind}[${String(place)}]`, status), kind })),
          ...(isHarness && way === 'scripted' ? { isHarnessCheck: true as const } : {}),
        }),
      );
    const sum = (counts: EvalReport['arms'][number]['totals']): number =>
      Object.values(counts).reduce((a, b) => a + b, 0);
    fc.assert(
      fc.property(fc.array(anyResult, { maxLength: 40 }), (results) => {
        const { arms, comparisons, uncompared } = report(results);
        const counted = arms.map(({ arm, totals, harness: checks, quarantined }) => [
          arm,
          sum(totals) + sum(checks) + sum(quarantined),
        ]);
        expect(counted).toEqual(
          ARMS.map((arm) => [arm, results.filter((result) => result.arm === arm).length]).filter(
            ([, count]) => count !== 0,
          ),
        );
        for (const { totals, passRate, cost, arm } of arms) {
          expect([passRate.count, passRate.of]).toEqual([totals.passed, totals.passed + totals.failed]);
          expect(cost.inputTokens).toBe(100 * results.filter((result) => result.arm === arm).length);
        }
        for (const { cases, pairs, passed, missing, better, worse, difference, p } of comparisons) {
          expect([better + worse <= cases, passed.of + missing.of <= pairs]).toEqual([true, true]);
          expect(difference.low <= difference.mean && difference.mean <= difference.high).toBe(true);
          expect(p < 0.05).toBe(difference.low > 0 || difference.high < 0);
        }
        const baselines = arms.filter(({ arm }) => arm !== 'with' && arms[0]?.arm === 'with').length;
        expect(comparisons.length + uncompared.length).toBe(baselines);
      }),
      { numRuns: runs(200) },
    );
  });

  test('never counts a harness check in the pass rate', () => {
    const { arms } = report([
      harness('a'),
      harness('b', 'failed'),
      caseResult('c', { status: 'failed', model: { id: 'm', way: 'live' } }),
    ]);
    expect(arms[0]).toMatchObject({
      totals: { ...NONE, failed: 1 },
      harness: { ...NONE, passed: 1, failed: 1 },
      passRate: { count: 0, of: 1 },
      cases: 3,
      modelCases: 1,
    });
    expect(verdictOf(report([harness('a')]))).toEqual({
      type: 'invalid',
      reasons: ['no case tested a model: harness checks have generated answers; pass --model NAME'],
    });
    expect(verdictOf(report([harness('a', 'failed'), caseResult('b')]))).toEqual({
      type: 'failed',
      reasons: ['1 harness check failed'],
    });
  });

  test('is incomplete if more than a third of its results were skipped, with the exit code 5', () => {
    const skipped = (count: number): readonly CaseResult[] =>
      Array.from({ length: count }, (_, place) =>
        caseResult(`s${String(place)}`, { status: 'skipped', reason: 'no judge' }),
      );
    const third = report([caseResult('a'), caseResult('b'), ...skipped(1)]);
    const half = report([caseResult('a'), caseResult('b'), ...skipped(2)]);
    expect([incompleteText(third), incompleteText(half)]).toEqual([undefined, '2 of 4 results were skipped']);
    expect([exitOf(third), exitOf(half)]).toEqual([0, 5]);
    expect(listFacts(half, String)).toContainEqual({
      label: 'tested',
      text: '0 of 4 cases tested a model',
      isOdd: false,
    });
  });

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
      prices: [],
      results,
      arms: [
        {
          arm: 'with',
          totals: { passed: 1, failed: 2, error: 2, skipped: 1 },
          harness: NONE,
          quarantined: NONE,
          passRate: { count: 1, of: 3, low: expect.closeTo(0.0416, 3), high: expect.closeTo(0.852, 3) },
          skippedChecks: 0,
          cases: 4,
          modelCases: 0,
          cost: { ...caseResult('a').cost, turns: 6, inputTokens: 600, outputTokens: 60, wallMs: 30 },
          perRun: measureCosts([]),
        },
        {
          arm: 'without',
          totals: { ...NONE, passed: 1 },
          harness: NONE,
          quarantined: NONE,
          passRate: { count: 1, of: 1, low: expect.any(Number), high: 1 },
          skippedChecks: 0,
          cases: 1,
          modelCases: 1,
          cost: caseResult('a').cost,
          perRun: {
            tokens: { mean: 110, cases: 1, of: 1 },
            inputTokens: { mean: 100, cases: 1, of: 1 },
            cachedTokens: { cases: 0, of: 1 },
            outputTokens: { mean: 10, cases: 1, of: 1 },
            usd: { cases: 0, of: 1 },
            wallMs: { cases: 0, of: 0 },
          },
        },
      ],
      comparisons: [],
      uncompared: [
        {
          of: 'with',
          against: 'without',
          reason: 'no outcome was judged (4 cases: its answers are scripted)',
          excluded: {
            checks: [],
            cases: ['a', 'b', 'c', 'd'].map((id) => ({ case: id, reason: 'its answers are scripted' })),
          },
        },
      ],
      flaky: [{ case: 'a', arm: 'with', rate: { count: 1, of: 2, low: expect.any(Number), high: expect.any(Number) } }],
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
    expect(exitOf(report([good], { isPartial: true }))).toBe(5);
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
