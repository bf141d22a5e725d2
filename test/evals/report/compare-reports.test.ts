import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { compareReports } from '../../../src/evals/report/compare-reports.ts';
import { CASE_STATUSES } from '../../../src/evals/report/result.ts';
import { check, report, result } from '../sample-report.ts';

describe('two reports', () => {
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
          checks: [check('a'), check('b', { status: 'failed', found: 'x' }), check('c')],
        }),
        result('kept', { cost: { ...result('kept').cost, inputTokens: 2000 } }),
      ],
      { skills: [{ name: 'tables', digest: 'sha256-tree:new' }] },
    );
    const { changes, counts, same, skills, cost } = compareReports(before, after);
    const one = (status: 'passed' | 'failed' | 'error') => ({
      status,
      passed: status === 'passed' ? 1 : 0,
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
          { id: 'c', asked: 'the answer has c', before: 'absent', after: 'passed', found: '' },
        ],
      },
      {
        change: 'fixed',
        case: 'fixed',
        name: 'fixed',
        arm: 'with',
        before: one('failed'),
        after: one('passed'),
        checks: [],
      },
      {
        change: 'other',
        case: 'other',
        name: 'other',
        arm: 'with',
        before: one('error'),
        after: one('failed'),
        checks: [],
      },
      { change: 'added', case: 'new', name: 'new', arm: 'with', after: one('passed'), checks: [] },
      { change: 'removed', case: 'gone', name: 'gone', arm: 'with', before: one('passed'), checks: [] },
    ]);
    expect({ counts, same }).toEqual({ counts: { broken: 1, fixed: 1, other: 1, added: 1, removed: 1 }, same: 1 });
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
