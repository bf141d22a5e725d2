import { describe, expect, test } from 'vitest';

import { compareArms, isComparison } from '../../../src/evals/report/compare-arms.ts';
import { verdictOfDifference } from '../../../src/evals/report/report-text.ts';
import { makeReport } from '../../../src/evals/report/report.ts';
import { exitOf, verdictOf } from '../../../src/evals/report/verdict.ts';
import {
  ARMS,
  type Arm,
  type CaseResult,
  type CheckKind,
  type CheckResult,
  type Comparison,
  type EvalReport,
} from '../../../src/evals/report/result.ts';
import { verifies } from '../../conformance/verifies.ts';
import { caseResult, checkResult } from '../case-results.ts';

const LIVE = { id: 'm', way: 'live' } as const;

function outcome(id: string, isPassed: boolean, more: Partial<CaseResult> = {}): CaseResult {
  const status = isPassed ? 'passed' : 'failed';
  return caseResult(id, { status, checks: [checkResult('output[0]', status)], model: LIVE, ...more });
}

function compared(results: readonly CaseResult[], of: Arm, against: Arm, looks = 1): Comparison {
  const comparison = compareArms(results, { of, against, looks });
  return isComparison(comparison) ? comparison : expect.fail(comparison.reason);
}

function arms(of: Arm, against: Arm, count: number): readonly CaseResult[] {
  return Array.from({ length: count }, (_, place) => `case-${String(place)}`).flatMap((id) => [
    outcome(id, true, { arm: of }),
    outcome(id, false, { arm: against }),
  ]);
}

describe('two arms', () => {
  test.each(['with', 'without'] as const)('are not compared if no attempt of %s is known', (arm) => {
    const results = arms('with', 'without', 8).map((one) =>
      one.arm === arm ? caseResult(one.case, { arm, status: 'error', reason: 'HTTP 429', model: LIVE }) : one,
    );
    expect(compareArms(results, { of: 'with', against: 'without' })).toMatchObject({
      reason: `no outcome was judged (8 cases: every attempt of the arm ${arm} is missing, such as: HTTP 429)`,
    });
    expect(verdictOf(reportOf(results)).type).toBe('invalid');
  });

  test('meet a threshold of the difference only if chance does not explain it', () => {
    const some = (better: number): EvalReport =>
      reportOf(
        arms('with', 'without', 10).map((one) =>
          one.arm === 'without' && Number(one.case.slice(5)) >= better
            ? outcome(one.case, true, { arm: 'without' })
            : one,
        ),
      );
    expect(verdictOf(some(5), { difference: 0.5 })).toEqual({
      type: 'failed',
      reasons: ['the difference is not proven: no clear difference (p 0.063)'],
    });
    expect(verdictOf(some(6), { difference: 0.5 })).toEqual({ type: 'passed' });
    // That nothing got worse needs no effect.
    expect(verdictOf(some(0), { difference: 0 })).toEqual({ type: 'passed' });
  });

  verifies('EVAL-3', 'are compared pair by pair', () => {
    const checks = [checkResult('output[0]', 'passed'), checkResult('output[1]', 'failed')];
    const results = [
      outcome('a', true, { checks: [checkResult('output[0]', 'passed'), checkResult('output[1]', 'passed')] }),
      outcome('a', false, { arm: 'without', checks }),
      outcome('b', false),
      outcome('b', true, { arm: 'without' }),
      outcome('c', true),
      outcome('c', true, { arm: 'without' }),
      // Attempts that broke or did not run are missing.
      outcome('d', true),
      caseResult('d', { arm: 'without', status: 'error', reason: 'it broke', model: LIVE }),
      outcome('e', true),
    ];
    expect(compared(results, 'with', 'without')).toEqual({
      of: 'with',
      against: 'without',
      cases: 5,
      pairs: 5,
      passed: { of: 4, against: 2 },
      missing: { of: 0, against: 2 },
      endedEarly: { of: 0, against: 0, by: [] },
      better: 1,
      worse: 1,
      difference: { mean: 0.2, low: expect.any(Number), high: expect.any(Number) },
      method: 'fixed',
      p: 1,
      smallestVisible: 1,
      differing: [],
      used: undefined,
      merged: [],
      excluded: { checks: [], cases: [] },
      sayNothing: [
        { case: 'a', check: 'output[0]' },
        { case: 'c', check: 'output[0]' },
      ],
      costs: {
        tokens: { of: 110, against: 110, difference: { mean: 0, cases: 3, of: 5 } },
        inputTokens: { of: 100, against: 100, difference: { mean: 0, cases: 3, of: 5 } },
        cachedTokens: { difference: { cases: 0, of: 5 } },
        outputTokens: { of: 10, against: 10, difference: { mean: 0, cases: 3, of: 5 } },
        usd: { difference: { cases: 0, of: 5 } },
        wallMs: { of: 5, against: 5, difference: { mean: 0, cases: 3, of: 5 } },
      },
    });
  });

  test('have the right sign, independent of their names', () => {
    for (const of of ARMS)
      for (const against of ARMS.filter((arm) => arm !== of)) {
        const results = arms(of, against, 12);
        const { difference, p } = compared(results, of, against);
        expect([of, against, difference.mean, difference.low > 0]).toEqual([of, against, 1, true]);
        expect(compared(results.toReversed(), of, against).difference).toEqual(difference);
        expect(compared(results, against, of).difference.mean).toBe(-1);
        expect(p).toBeCloseTo(2 * 0.5 ** 12, 12);
      }
  });

  test('count tokens as tokens', () => {
    const cost = { ...caseResult('a').cost, inputTokens: 4_000, outputTokens: 1_000 };
    const results = [outcome('a', true, { cost, answer: 'x'.repeat(999) }), outcome('a', true, { arm: 'old' })];
    expect(compared(results, 'with', 'old').costs.tokens).toEqual({
      of: 5_000,
      against: 110,
      difference: { mean: 4_890, cases: 1, of: 1 },
    });
  });

  verifies('EVAL-14', 'count a case once, however often it is repeated', () => {
    const repeated = (arm: Arm, passed: readonly boolean[], way: 'live' | 'rules' = 'live') =>
      passed.map((one, place) => outcome('a', one, { arm, attempt: place + 1, model: { id: way, way } }));
    const { cases, pairs, better, worse, missing, difference } = compared(
      [...repeated('with', [true, true, true, false]), ...repeated('without', [false, true, false])],
      'with',
      'without',
    );
    expect([cases, pairs, better, worse, missing]).toEqual([1, 4, 1, 0, { of: 0, against: 1 }]);
    expect(difference.mean).toBeCloseTo(3 / 4 - 1 / 3, 12);
    const fixed = [...repeated('with', [true, true], 'rules'), ...repeated('without', [false, false], 'rules')];
    expect(compared(fixed, 'with', 'without')).toMatchObject({ cases: 1, pairs: 2, better: 1, p: 1 });
  });

  verifies('EVAL-14', 'have a verdict only if it holds whatever the missing attempts would have been', () => {
    const ten = arms('with', 'without', 10);
    const withMissing = (count: number, arm: Arm) =>
      ten.map((result, place) =>
        result.arm === arm && place < 2 * count
          ? caseResult(result.case, { arm, status: 'error', reason: 'reset', model: LIVE })
          : result,
      );
    const verdict = (results: readonly CaseResult[]) => verdictOfDifference(compared(results, 'with', 'without'));
    expect([0, 4, 5].map((count) => verdict(withMissing(count, 'with')))).toEqual([
      'better',
      'better',
      'no clear difference',
    ]);
    expect([4, 5].map((count) => verdict(withMissing(count, 'without')))).toEqual(['better', 'no clear difference']);
  });

  test('are failures if a limit or a crash ended the run, whatever the answer says', () => {
    const ended: CheckResult = { ...checkResult('ended.turns', 'failed'), kind: 'outcome' };
    const results = arms('with', 'without', 8).map((result) =>
      result.arm === 'with' ? { ...result, checks: [...result.checks, ended] } : result,
    );
    expect(compared(results, 'with', 'without')).toMatchObject({ better: 0, passed: { of: 0, against: 0 } });
  });

  verifies('EVAL-14', 'are compared only if they were given the same, except the skill', () => {
    const given = (arm: Arm) => ({ request: 'a', budget: 'b', ...(arm === 'with' ? { 'skill tables': 'c' } : {}) });
    const results = arms('with', 'without', 8).map((result) => ({ ...result, given: given(result.arm) }));
    expect(verdictOfDifference(compared(results, 'with', 'without'))).toBe('not used: no effect can be claimed');
    const used = results.map((result) => (result.arm === 'with' ? { ...result, loaded: ['tables'] } : result));
    expect(compared(used, 'with', 'without')).toMatchObject({
      differing: ['skill tables'],
      used: { count: 8, of: 8 },
      p: expect.closeTo(2 / 256, 12),
    });
    for (const key of ['budget', 'request', 'tool run_command', 'skills'])
      expect(
        compareArms(
          used.map((result, place) => (place === 3 ? { ...result, given: { ...result.given, [key]: 'x' } } : result)),
          { of: 'with', against: 'without' },
        ),
      ).toMatchObject({ reason: `the arms differ in more than the skill: ${key}` });
  });

  verifies('EVAL-14', 'give no credit to a skill in cases that did not load it', () => {
    const results = arms('with', 'without', 12).map((result, place) => ({
      ...result,
      given: Object.fromEntries(result.arm === 'with' ? [['skill tables', 'a']] : []),
      loaded: result.arm === 'with' && place < 10 ? ['tables'] : [],
    }));
    const { difference, p, used } = compared(results, 'with', 'without');
    expect([difference.mean, difference.low <= 0, p >= 0.05, used]).toEqual([1, true, true, { count: 5, of: 12 }]);
  });

  test.each([
    ['identical', ['Count the lines of the file', 'Count the lines of the file'], ['a', 'b'], [['c0', 'c1']]],
    ['different in case, space and punctuation', ['Count the lines!', ' count  the LINES'], ['a', 'b'], [['c0', 'c1']]],
    ['different in a number', ['Say hello (1)', 'Say hello (2)'], ['a', 'a'], [['c0', 'c1']]],
    ['different in a number and its answer', ['What is 2 and 3?', 'What is 4 and 5?'], ['a', 'b'], []],
    [
      'different in one word of many',
      [
        'Please count all the lines of the file and then tell me the number of them',
        'Please count all the lines of the file and then tell me the number of these',
      ],
      ['a', 'a'],
      [['c0', 'c1']],
    ],
    ['different', ['Count the lines', 'Count the words'], ['a', 'a'], []],
    ['identical in Chinese', ['统计这个文件的行数，谢谢', '统计这个文件的行数。谢谢'], ['a', 'a'], [['c0', 'c1']]],
    ['without words', ['???', '!!!'], ['a', 'a'], []],
  ])('merge requests that are %s', (_name, inputs, expectations, merged) => {
    const results = inputs.flatMap((input, place) =>
      (['with', 'without'] as const).map((arm) =>
        outcome(`c${String(place)}`, true, {
          arm,
          input,
          given: { expectations: expectations[place] ?? '', 'skill tables': arm === 'with' ? 'a' : 'b' },
        }),
      ),
    );
    const comparison = compared(results, 'with', 'without');
    expect([comparison.merged, comparison.cases]).toEqual([merged, 2 - merged.length]);
    // Other files make other cases.
    const apart = results.map((one) => ({ ...one, given: { ...one.given, workspace: one.case } }));
    expect(compared(apart, 'with', 'without').merged).toEqual([]);
  });

  test('after early stopping have a p-value and an interval that agree', () => {
    for (const count of [3, 7, 8, 12]) {
      const { p, difference, method } = compared(arms('with', 'without', count), 'with', 'without', 4);
      expect([method, count, p < 0.05, difference.low > 0]).toEqual(['sequential', count, count >= 8, count >= 8]);
    }
  });
});

/** A run with the skill and one without it, whose answers do not depend on the skill. */
function bothArms(id: string, make: (arm: 'with' | 'without') => Partial<CaseResult>): readonly CaseResult[] {
  return (['with', 'without'] as const).map((arm) => caseResult(id, { arm, model: LIVE, ...make(arm) }));
}

const one = (kind: CheckKind, status: CheckResult['status'], id: string = kind): CheckResult => ({
  ...checkResult(id, status),
  kind,
});

function reportOf(results: readonly CaseResult[]): EvalReport {
  return makeReport({ tool: 't', startedAt: '', wallMs: 0, skills: [], isPartial: false, results });
}

const TEN = Array.from({ length: 10 }, (_, place) => `case-${String(place)}`);
const fires = (arm: 'with' | 'without') => (arm === 'with' ? 'passed' : 'failed');

/** Each of these once scored "+50 points" or more for a model that ignores the skill. */
const FALSE_SUCCESS: Readonly<Record<string, (id: string) => readonly CaseResult[]>> = {
  'the trigger check alone, with outcomes skipped for want of a judge': (id) =>
    bothArms(id, (arm) => ({ status: fires(arm), checks: [one('trigger', fires(arm)), one('judge', 'skipped')] })),
  'loading the skill as a sequence': (id) =>
    bothArms(id, (arm) => ({ status: fires(arm), checks: [one('sequence', fires(arm), 'actions.before[0]')] })),
  'resources and denials of the skill': (id) =>
    bothArms(id, (arm) => ({
      status: fires(arm),
      checks: [one('disclosure', fires(arm)), one('security', fires(arm))],
    })),
  'an outcome that only the arm with the skill was judged on': (id) =>
    bothArms(id, (arm) =>
      arm === 'with'
        ? { status: 'passed', checks: [one('output', 'passed')] }
        : { status: 'failed', checks: [one('trigger', 'failed'), one('output', 'skipped')] },
    ),
  'scripted answers that are the same in both arms': (id) =>
    bothArms(id, (arm) => ({
      status: fires(arm),
      checks: [one('output', fires(arm))],
      model: { id: 'scripted', way: 'scripted', answers: 'abc' },
    })),
  'recorded answers that are the same in both arms': (id) =>
    bothArms(id, (arm) => ({
      status: fires(arm),
      checks: [one('output', fires(arm))],
      model: { id: 'm', way: 'cassette', answers: 'abc' },
    })),
};

describe('a model whose answers ignore the skill', () => {
  for (const [name, make] of Object.entries(FALSE_SUCCESS))
    verifies('EVAL-12', `has no score for ${name}`, () => {
      const report = reportOf(TEN.flatMap(make));
      expect([report.comparisons, exitOf(report, { passRate: 0 })]).toEqual([[], 5]);
      expect(verdictOf(report, { passRate: 0 })).toEqual({
        type: 'invalid',
        reasons: [expect.stringMatching(/^with against without: no outcome was judged \(10 cases: /)],
      });
    });

  verifies('EVAL-12', 'differs by 0 points if outcomes are judged beside the trigger check', () => {
    const results = TEN.flatMap((id) =>
      bothArms(id, (arm) => ({
        status: fires(arm),
        checks: [one('trigger', fires(arm)), one('output', id < 'case-5' ? 'passed' : 'failed')],
      })),
    );
    const [comparison = expect.fail('no comparison')] = reportOf(results).comparisons;
    expect(comparison).toMatchObject({ pairs: 10, better: 0, worse: 0, p: 1, passed: { of: 5, against: 5 } });
    expect(comparison.difference).toMatchObject({ mean: 0 });
    expect(comparison.difference.low).toBeLessThan(0);
    expect(comparison.excluded.checks).toEqual([{ kind: 'trigger', count: 20 }]);
  });

  test('may trigger another version less often, which is compared', () => {
    const results = TEN.flatMap((id) => [
      caseResult(id, { model: LIVE, checks: [one('trigger', 'passed')] }),
      caseResult(id, { arm: 'old', status: 'failed', model: LIVE, checks: [one('trigger', 'failed')] }),
    ]);
    expect(reportOf(results).comparisons).toMatchObject([{ against: 'old', pairs: 10, better: 10 }]);
  });
});
