import { describe, expect, test } from 'vitest';

import { buildTrend } from '../../../src/evals/report/trend.ts';
import { report, result } from '../sample-report.ts';

describe('the trend', () => {
  test('compares only the cases of the last report, with the skill, without harness checks', () => {
    const at = (day: number) => ({ startedAt: `2026-11-0${String(day)}T10:00:00.000Z` });
    const rows = buildTrend([
      report([result('gone')], at(1)),
      report([result('a', { status: 'failed' }), result('gone'), result('a', { arm: 'without' })], at(2)),
      report([result('a'), result('b', { isHarnessCheck: true }), result('c', { status: 'error' })], {
        ...at(3),
        skills: [{ name: 'tables', digest: 'other' }],
      }),
    ]);
    const rate = (count: number) => ({ count, of: 1, low: expect.any(Number), high: expect.any(Number) });
    expect(rows).toEqual([
      { ...at(2), models: 'scripted', cases: 1, passRate: rate(0), tokens: 1050, changed: [] },
      { ...at(3), models: 'scripted', cases: 1, passRate: rate(1), tokens: 1050, changed: ['tables'] },
    ]);
    expect(buildTrend([])).toEqual([]);
  });
});
