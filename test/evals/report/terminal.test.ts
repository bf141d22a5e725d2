import { describe, expect, test } from 'vitest';

import { textWidth } from '../../../src/platform/text-width.ts';
import { terminalReport } from '../../../src/evals/report/terminal.ts';
import { withVerdict } from '../../../src/evals/report/verdict.ts';
import { HOSTILE, hostileReport } from '../hostile-report.ts';
import { TRIGGER, check, fullReport, lookAt, manyResults, report, result } from '../sample-report.ts';

const look = lookAt();
const shown = (...given: Parameters<typeof terminalReport>): string => terminalReport(...given).join('\n');

describe('a report at a terminal', () => {
  test('shows failures with details, then totals', () => {
    expect(shown(fullReport(), look)).toBe(`INVALID: there is no verdict
  1 case ended with an error; the limit is 0

FAILED  sum (with)
  evals/cases.json:3
  x output[1]: the answer contains "42"
      found: the answer is "41"  [events 7, 9]
ERROR   slow (with)
  evals/cases.json:3
  timed out after 20 s

with the skill
results    4 results: 1 passed, 1 failed, 1 error, 1 skipped
pass rate  50 % (9 to 91 %), of 2 verdicts, 1 result skipped
cost       4,200 tokens, 4 tool calls, 6.0 s in runs
without the skill
results    1 result: 0 passed, 1 failed
cost       1,050 tokens, 1 tool call, 1.5 s in runs

model      scripted
tested     0 of 4 cases tested a model
time       12.3 s
flaky      sum (with) passes 2 of 3

with the skill against without the skill, outcomes only
  +30 points (+5 to +55), p 0.070: no clear difference on these cases
  10 different cases: 7 better, 1 worse, 2 equal
  with 15, without 9 of 20 attempts passed
  the arms differ in: skill tables
  the skill was loaded in 18 of 20 attempts
  missing: with 1, without 0 of 20 (the interval holds whatever they would have been)
  near-identical, counted once: count + count-again
  not compared: 1 case (its answers are scripted), 12 trigger checks
  smallest detectable difference: 38 points
  tokens a run: 42,000 against 31,000: +11,000 (+8,000 to +14,000), known for 8 of 10 cases
  money a run: $0.0940 against $0.0720: +$0.0220 (+$0.0160 to +$0.0280), known for 8 of 10 cases
  latency a run: 1 min 4 s against 41.0 s: +23.0 s (+9.0 s to +37.0 s)
  1 check passed in both arms: count output[1]

trigger
  skill    precision               recall                  F1
  tables   90 % (70 to 97 %)       95 % (75 to 99 %)       0.92
  letters  64 % (39 to 84 %)       90 % (60 to 98 %)       0.75
  all: precision 79 % (63 to 90 %), recall 93 % (78 to 98 %), F1 0.86
  no skill loaded where none was expected: 90 % (60 to 98 %)
  with 10 other skills: recall 97 % (83 to 99 %), precision 93 % (79 to 98 %)
  with 100 other skills: recall 87 % (70 to 95 %), precision 83 % (66 to 93 %)
  with 1,000 other skills: recall 63 % (45 to 78 %), precision 57 % (39 to 73 %)
  letters loaded for 1 query for tables
  1 query for letters: no skill loaded
  letters loaded for 1 query without an expected skill`);
  });

  test('lists errors of a baseline, but not its failures, which are no failures of the skill', () => {
    const text = shown(
      report([
        result('sum'),
        result('sum', { arm: 'without', status: 'failed' }),
        result('count'),
        result('count', { arm: 'without', status: 'error', reason: 'connection lost', run: '/runs/7' }),
        result('count', { arm: 'old', status: 'failed' }),
      ]),
      look,
    );
    expect(text.split('\n').filter((line) => /^(?:FAILED|ERROR)/.test(line))).toEqual(['ERROR   count (without)']);
    expect(text).toContain('  connection lost\n  record: skillwright runs show /runs/7\n');
    expect(text).toContain('without the skill\nresults    2 results: 0 passed, 1 failed, 1 error');
  });

  test('shows INVALID and no score after a failed control', () => {
    const controls = TRIGGER.controls.map((control) => ({
      ...control,
      isKept: control.name !== 'always-fire',
      found: '0 %',
    }));
    const text = shown(report([result('a')], { trigger: { ...TRIGGER, controls, isValid: false } }), look);
    expect(text).toBe(`INVALID: a control of the evaluation failed; there is no score
  always-fire: expected 100 %, found 0 %

results    1 result: 1 passed
cost       1,050 tokens, 1 tool call, 1.5 s in runs
model      scripted
tested     0 of 1 case tested a model
time       12.3 s`);
  });

  test('shows INVALID and no score if no outcome was compared', () => {
    const live = { model: { id: 'm', way: 'live' } } as const;
    const trigger = (status: 'passed' | 'failed') => [check('trigger', { kind: 'trigger', status, asked: 'it fires' })];
    const text = shown(
      report([
        result('a', { ...live, checks: trigger('passed') }),
        result('a', { ...live, arm: 'without', status: 'failed', checks: trigger('failed'), run: '/runs/7' }),
      ]),
      look,
    );
    expect(text).toBe(`INVALID: no outcome was judged; there is no score
  with the skill against without the skill: no outcome was judged (1 case: no outcome is checked); not comparable by construction: 2 trigger

with the skill
results    1 result: 1 passed
cost       1,050 tokens, 1 tool call, 1.5 s in runs
tokens     1,050 a run, no interval: fewer than 6 cases
of which   in 1,000, cached unknown, out 50
money      unknown, no price for m (set evals.prices)
latency    1.5 s a run, no interval: fewer than 6 cases
without the skill
results    1 result: 0 passed, 1 failed
cost       1,050 tokens, 1 tool call, 1.5 s in runs
tokens     1,050 a run, no interval: fewer than 6 cases
of which   in 1,000, cached unknown, out 50
money      unknown, no price for m (set evals.prices)
latency    1.5 s a run, no interval: fewer than 6 cases

model      m (live)
time       12.3 s`);
  });

  test('counts omitted results', () => {
    const lines = terminalReport(report(manyResults(1000)), look);
    expect(lines).toContain('and 5 more results with failures or errors');
  });

  test.each(HOSTILE)('escapes untrusted text: %j', (text) => {
    for (const width of [40, 100]) {
      const lines = terminalReport(hostileReport(text), lookAt(width)).flatMap((line) => line.split('\n'));
      expect(lines.filter((line) => /[\p{Cc}\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/u.test(line))).toEqual([]);
      // The terminal itself breaks a word without spaces.
      const isWide = (line: string): boolean => textWidth(line) > width && /\S\s+\S+\s+\S/.test(line);
      expect(lines.filter((line) => !line.startsWith('INVALID') && isWide(line))).toEqual([]);
    }
  });

  test('wraps warnings, reasons and names of cases at a terminal, and cuts nothing of them in a pipe', () => {
    const reason = `the warning number ${'with many words '.repeat(12)}ends here`;
    const name = 'a-name-of-a-skill-that-is-longer-than-thirty-columns';
    const failed = result(`case-${'x'.repeat(90)}`, { status: 'failed', reason, skill: name });
    const whole = withVerdict(report([failed, result('b', { skill: 'b' })]), {}, [reason]);
    const [pipe, narrow] = [shown(whole, lookAt()), shown(whole, lookAt(60))];
    for (const text of [`warning: ${reason}`, `  ${reason}`, failed.case, name])
      expect(pipe.split('\n').join('\n')).toContain(text);
    expect(narrow).not.toContain(reason);
    expect(narrow.replaceAll(/\s+/g, ' ')).toContain(`warning: ${reason}`);
    expect(pipe).not.toContain('…');
    expect(
      narrow
        .split('\n')
        .filter((line) => textWidth(line) > 60)
        .map((line) => line.trim().split(/ +/).length > 2),
    ).toEqual([false]);
  });
});
