import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { compareReports, isRegression } from '../../../src/evals/report/compare-reports.ts';
import { jsonReport, readReport } from '../../../src/evals/report/json.ts';
import { compareVerdicts } from '../../../src/evals/report/compare-verdict.ts';
import { CASE_STATUSES, type CaseResult, type EvalReport } from '../../../src/evals/report/result.ts';
import { check, rate, report, result } from '../sample-report.ts';

const COST = { calls: 0, inputTokens: 0, outputTokens: 0 };

describe('two reports', () => {
  test('name what changed besides the skill: nothing, or the model that answered', () => {
    const served = (name: string) =>
      report([result('a', { model: { id: 'm', way: 'live', served: { models: [name], fingerprints: [] } } })]);
    const [before, after] = [served('small'), served('large')];
    const warnings = (one: EvalReport, other: EvalReport) =>
      compareVerdicts(one, other, compareReports(one, other)).warnings;
    const same = 'the skills are identical in both reports: changes come from the model, the cases or chance';
    expect(warnings(before, after)).toEqual([same, 'different models answered: small to large']);
    const startedAt = '2026-11-02T00:00:00.000Z';
    const changed = { ...before, startedAt, skills: [{ name: 'tables', digest: 'sha256-tree:new' }] };
    expect(warnings(before, changed)).toEqual([]);
  });

  test('call no change of a baseline a regression', () => {
    const results = (status: 'passed' | 'failed') => report([result('a'), result('a', { arm: 'without', status })]);
    const compared = compareReports(results('passed'), results('failed'));
    expect(compared.counts).toEqual({ broken: 0, fixed: 0, unclear: 0, other: 1, added: 0, removed: 0 });
    expect(isRegression(compared)).toBe(false);
  });

  const quarantine = { until: '2026-12-31', passed: 3, of: 6 };
  const names = ['apple', 'bridge', 'candle'];
  const attempts = (id: string, more: Partial<CaseResult> = {}): readonly CaseResult[] =>
    Array.from({ length: 20 }, (_, place) => result(id, { attempt: place + 1, ...more }));
  /** A case that fell, scripted or live, beside three steady ones; `flaky` says in which report it is in quarantine. */
  const compareMoody = ([wasFlaky, isFlaky]: readonly [boolean, boolean], more: Partial<CaseResult> = {}) => {
    const [before, after] = [wasFlaky, isFlaky].map((isIn, place) =>
      report([
        ...names.flatMap((name) => attempts(name)),
        ...attempts('moody', {
          status: place === 0 ? 'passed' : 'failed',
          ...(isIn ? { quarantine } : {}),
          ...more,
        }),
      ]),
    ) as [EvalReport, EvalReport];
    const compared = compareReports(before, after);
    const { validity, result: outcome, reasons, warnings } = compareVerdicts(before, after, compared);
    const doubt = warnings.filter((warning) => warning.includes('quarantine'));
    return { broken: compared.counts.broken, same: compared.same, verdict: [validity, outcome], reasons, doubt };
  };

  test.each([{}, { model: { id: 'm', way: 'live' } } as const])(
    'leave out cases in quarantine, and say so and what they would change (%j)',
    (more) => {
      const expected = (reason: string) => ({
        broken: 0,
        same: 3,
        verdict: ['valid', 'passed'],
        reasons: [`not compared, because ${reason}: moody`],
        doubt: ['"no regression" only without 1 case in quarantine; with all cases it is "a regression"'],
      });
      expect(compareMoody([false, true], more)).toEqual(expected('it was put in quarantine'));
      expect(compareMoody([true, false], more)).toEqual(expected('its quarantine ended'));
      expect(compareMoody([true, true], more)).toEqual(expected('it is in quarantine'));
      expect(compareMoody([false, false], more)).toMatchObject({ broken: 1, verdict: ['valid', 'failed'], doubt: [] });
    },
  );

  test('are refused if a quarantine leaves out a part of the results of a case', () => {
    const part = [result('a'), result('a', { arm: 'without', status: 'failed', quarantine })];
    expect(readReport(jsonReport(report(part)))).toEqual({
      type: 'invalid',
      reason: 'the case "a" is in quarantine in some of its results only',
    });
  });

  test('list broken, fixed, added and removed cases with changed checks', () => {
    const before = report([
      result('kept'),
      result('broke', { checks: [check('a'), check('b')] }),
      result('fixed', { status: 'failed' }),
      result('other', { status: 'error', reason: 'down' }),
      result('gone'),
    ]);
    const after = report(
      [
        result('new'),
        result('other', { status: 'failed' }),
        result('fixed'),
        result('broke', {
          status: 'failed',
          checks: [
            check('a'),
            check('b', { status: 'failed', found: 'x' }),
            check('ended.turns', { status: 'failed' }),
          ],
        }),
        result('kept', { cost: { ...result('kept').cost, inputTokens: 2000 } }),
      ],
      { skills: [{ name: 'tables', digest: 'sha256-tree:new' }] },
    );
    const { changes, counts, same, skills, cost } = compareReports(before, after);
    const one = (status: 'passed' | 'failed' | 'error') => ({
      status,
      passed: status === 'passed' ? 1 : 0,
      judged: status === 'error' ? 0 : 1,
      attempts: 1,
    });
    expect(changes).toEqual([
      {
        change: 'broken',
        case: 'broke',
        name: 'broke',
        arm: 'with',
        before: one('passed'),
        after: one('failed'),
        checks: [
          { id: 'b', asked: 'the answer has b', before: 'passed', after: 'failed', found: 'x' },
          { id: 'ended.turns', asked: 'the answer has ended.turns', before: 'absent', after: 'failed', found: '' },
        ],
      },
      {
        change: 'fixed',
        case: 'fixed',
        name: 'fixed',
        arm: 'with',
        before: one('failed'),
        after: one('passed'),
        checks: [{ id: 'output[0]', asked: 'the answer has output[0]', before: 'failed', after: 'passed', found: '' }],
      },
      {
        change: 'other',
        case: 'other',
        name: 'other',
        arm: 'with',
        before: one('error'),
        after: one('failed'),
        checks: [{ id: 'output[0]', asked: 'the answer has output[0]', before: 'passed', after: 'failed', found: '' }],
      },
      { change: 'added', case: 'new', name: 'new', arm: 'with', after: one('passed'), checks: [] },
      { change: 'removed', case: 'gone', name: 'gone', arm: 'with', before: one('passed'), checks: [] },
    ]);
    expect({ counts, same }).toEqual({
      counts: { broken: 1, fixed: 1, unclear: 0, other: 1, added: 1, removed: 1 },
      same: 1,
    });
    expect(skills).toEqual([{ name: 'tables', before: `sha256-tree:${'ab'.repeat(32)}`, after: 'sha256-tree:new' }]);
    expect(cost).toEqual({
      tokens: { before: 4200, after: 5200 },
      toolCalls: { before: 4, after: 4 },
      wallMs: { before: 6000, after: 6000 },
    });
  });

  test('combine all attempts at a case by the worst status, per arm', () => {
    const before = report([result('a'), result('a', { attempt: 2 }), result('a', { arm: 'without' })]);
    const after = report([result('a'), result('a', { attempt: 2, status: 'failed' }), result('a', { arm: 'without' })]);
    expect(compareReports(before, after).changes).toMatchObject([
      { change: 'broken', arm: 'with', after: { status: 'failed', passed: 1, attempts: 2 } },
    ]);
  });

  const live = (id: string, passed: number, of: number): readonly CaseResult[] =>
    Array.from({ length: of }, (_, place) =>
      result(id, {
        attempt: place + 1,
        status: place < passed ? 'passed' : 'failed',
        model: { id: 'm', way: 'live' },
      }),
    );

  test('a single failure of a live model is no regression', () => {
    const compared = compareReports(
      report([...live('a', 1, 1), ...live('b', 1, 1)]),
      report([...live('a', 0, 1), ...live('b', 1, 1)]),
    );
    expect([compared.changes.map(({ change }) => change), isRegression(compared)]).toEqual([['unclear'], false]);
    expect(compared.live).toMatchObject({ cases: 2, p: 0.5 });
  });

  test('a fall of the pass rate by more than chance is one, in a case or over all cases', () => {
    const one = compareReports(report(live('a', 8, 8)), report(live('a', 1, 8)));
    expect([one.counts.broken, isRegression(one)]).toEqual([1, true]);
    // However often it runs, one case says nothing about all cases.
    expect(compareReports(report(live('a', 12, 12)), report(live('a', 0, 12))).live?.p).toBe(0.5);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const all = (passed: number) => report(ids.flatMap((id) => live(id, passed, 3)));
    const spread = compareReports(all(3), all(2));
    // Each case fell from 3 to 2 of 3, which is chance; together they did not.
    expect([spread.counts.unclear, spread.counts.broken, isRegression(spread)]).toEqual([5, 0, true]);
    expect(spread.live?.p).toBeCloseTo(0.5 ** 5, 9);
    expect(isRegression(compareReports(all(2), all(3)))).toBe(false);
    expect(compareReports(report(live('a', 1, 8)), report(live('a', 8, 8))).counts.fixed).toBe(1);
  });

  test('distinguish errors from failures', () => {
    const [passed, failed, error] = (['passed', 'failed', 'error'] as const).map((status) =>
      report([result('a', { status })]),
    );
    expect(compareReports(passed ?? report([]), error ?? report([])).counts.broken).toBe(1);
    expect(compareReports(failed ?? report([]), error ?? report([])).counts.other).toBe(1);
  });

  test('have no changes against themselves, and swap fixed and broken in reverse', () => {
    const reports = fc
      .array(fc.tuple(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.constantFrom(...CASE_STATUSES)), { maxLength: 8 })
      .map((all) => report(all.map(([id, status]) => result(id, { status }))));
    fc.assert(
      fc.property(reports, reports, (a, b) => {
        expect(compareReports(a, a).changes).toEqual([]);
        const [there, back] = [compareReports(a, b).counts, compareReports(b, a).counts];
        expect([there.broken, there.fixed, there.added, there.other]).toEqual([
          back.fixed,
          back.broken,
          back.removed,
          back.other,
        ]);
      }),
    );
  });
});

describe('cases that were edited between two reports', () => {
  const given = { inputs: 'i', expectations: 'e', budget: 'b', permissions: 'p', configuration: 'c' };
  const names = ['apple', 'bridge', 'candle', 'desert'];
  const compare = (change: Partial<CaseResult>, edited: number, more: Partial<EvalReport> = {}) => {
    const before = report(names.map((name) => result(name, { status: 'failed', given })));
    const after = report(
      names.map((name, place) => result(name, { given, ...(place < edited ? change : {}) })),
      more,
    );
    const compared = compareReports(before, after);
    const { validity, result: outcome, reasons } = compareVerdicts(before, after, compared);
    return { fixed: compared.counts.fixed, verdict: [validity, outcome], reasons };
  };

  test.each([
    ['checks', { given: { ...given, expectations: 'easier' } }],
    ['input files', { given: { ...given, inputs: 'other' } }],
    ['limits', { given: { ...given, budget: 'more' } }],
    ['permissions', { given: { ...given, permissions: 'more' } }],
    ['configuration', { given: { ...given, configuration: 'other' } }],
    ['request', { input: 'say yes' }],
    ['checks', { given: undefined, checks: [check('output[0]', { asked: 'the answer has e' })] }],
  ])('in their %s are left out, and too many of them leave no verdict', (what, change) => {
    const reason = (cases: string): string => `not compared, because the ${what} changed: ${cases}`;
    expect(compare(change, 1)).toEqual({ fixed: 3, verdict: ['valid', 'passed'], reasons: [reason('apple')] });
    expect(compare(change, 2)).toEqual({
      fixed: 2,
      verdict: ['invalid', 'none'],
      reasons: ['2 of 4 cases cannot be compared', reason('apple, bridge')],
    });
    expect(compare(change, 0)).toEqual({ fixed: 4, verdict: ['valid', 'passed'], reasons: [] });
  });

  test('by another judge, or by a judge that one report lacks, are left out', () => {
    const checks = [check('rubric[0]', { kind: 'judge' })];
    const judge = (id: string) => ({
      judge: { id, controls: [], agreement: rate(0, 0), controlCost: COST, cost: COST },
    });
    const [before, after] = ['a', 'b'].map((id) => report([result('x', { checks })], judge(id)));
    const compared = compareReports(before ?? report([]), after ?? report([]));
    expect(compared.edited).toEqual([{ case: 'x', arm: 'with', reason: 'the judge changed' }]);
    const skipped = report([result('x', { checks: [check('output[0]'), check('output[1]', { status: 'skipped' })] })]);
    const judged = report([result('x', { checks: [check('output[0]'), check('output[1]')] })]);
    expect(compareReports(skipped, judged).edited).toEqual([
      { case: 'x', arm: 'with', reason: 'not the same checks were judged' },
    ]);
  });

  test('leave no verdict if the reports have no case in common, and none if over a third is gone', () => {
    const verdict = (before: EvalReport, after: EvalReport) => {
      const { validity, reasons } = compareVerdicts(before, after, compareReports(before, after));
      return [validity, reasons];
    };
    expect(verdict(report([result('apple')]), report([result('bridge')]))).toEqual([
      'invalid',
      ['no case is in both reports'],
    ]);
    const all = report(names.map((name) => result(name)));
    expect(verdict(all, report([result('apple')]))).toEqual([
      'invalid',
      ['3 of 4 cases cannot be compared', 'missing in the second report: bridge, candle, desert'],
    ]);
  });

  test('that are removed together with edited ones leave no verdict, and a renamed one is compared', () => {
    const some = [...names, 'engine', 'forest', 'glacier', 'harbour'].map((name) => result(name));
    const edited = result('apple', { input: 'another request' });
    const after = report([edited, ...some.slice(3)]);
    const { validity, reasons } = compareVerdicts(report(some), after, compareReports(report(some), after));
    expect([validity, reasons]).toEqual([
      'invalid',
      [
        '3 of 8 cases cannot be compared',
        'missing in the second report: bridge, candle',
        expect.stringMatching(/^not compared, because .*: apple$/u),
      ],
    ]);
    const renamed = report([...some.slice(1), { ...result('apple', { status: 'failed' }), case: 'other' }]);
    expect(compareReports(report(some), renamed).changes.map(({ change, case: id }) => [change, id])).toEqual([
      ['broken', 'apple'],
    ]);
  });
});
