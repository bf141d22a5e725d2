import { describe, expect, test } from 'vitest';

import { proposeQuarantine } from '../../../src/evals/cases/quarantine.ts';
import { quarantineText } from '../../../src/evals/report/report-text.ts';
import { readIn, shown } from './support.ts';

const DAY_MS = 86_400_000;
const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const read = (quarantine: unknown) =>
  readIn({ cases: [{ id: 'a', input: 'Do it', expect: { trigger: true }, quarantine }] }, 'cases.json');

describe('quarantine of a case', () => {
  test.each([0, 1, 30, 89])('holds today and until a day %i days ahead', (days) => {
    const written = { until: day(days), passed: 3, of: 10 };
    const { cases, problems } = read(written);
    expect([cases.map(({ quarantine }) => quarantine), problems]).toEqual([[written], []]);
  });

  test('ends after its day, and says that the case counts again', () => {
    const found = read({ until: day(-1), passed: 3, of: 10 });
    expect(found.cases.map(({ quarantine }) => quarantine)).toEqual([undefined]);
    expect(shown(found).problems).toEqual([
      `cases.json:9 warning: the quarantine ended on ${day(-1)}: the case counts again`,
    ]);
  });

  test.each([
    [{ until: day(200), passed: 3, of: 10 }, 'a quarantine lasts at most 90 days'],
    [{ until: '2026-02-31', passed: 3, of: 10 }, 'quarantine.until is not a date'],
    [{ until: 'tomorrow', passed: 3, of: 10 }, 'quarantine.until is not a date'],
    [{ until: '+999999-12-31', passed: 3, of: 10 }, 'quarantine.until is not a date'],
    [
      { until: day(3), passed: 10, of: 10 },
      'only a case that sometimes passes and sometimes fails can be in quarantine',
    ],
    [{ until: day(3), passed: 0, of: 10 }, '"quarantine.passed" must be a whole number from 1 to 1000000000'],
    [{ until: day(3), of: 10 }, '"quarantine.passed" must be a whole number from 1 to 1000000000'],
    [{ until: day(3), passed: 3, of: 10, reason: 'x' }, 'unknown key "quarantine.reason"'],
    [true, '"quarantine" must be an object'],
  ])('is refused: %j', (written, message) => {
    const { cases, problems } = shown(read(written));
    expect([cases, problems.map((problem) => problem.replace(/^.*? error: /, ''))]).toEqual([[], [message]]);
  });

  test('is proposed for 30 days if a fifth of at least five attempts differs', () => {
    const propose = (passed: number, of: number) => proposeQuarantine(passed, of, '2026-11-18T08:00:00.000Z');
    expect([propose(0, 5), propose(5, 5), propose(1, 4), propose(1, 10), propose(9, 10)]).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(propose(4, 5)).toEqual({ until: '2026-12-18', passed: 4, of: 5 });
    expect(propose(3, 10)).toEqual({ until: '2026-12-18', passed: 3, of: 10 });
    expect(proposeQuarantine(3, 10, 'no date')).toBeUndefined();
    expect(quarantineText({ until: '2026-12-18', passed: 3, of: 10 })).toBe(
      'quarantine: { until: 2026-12-18, passed: 3, of: 10 }',
    );
  });
});
