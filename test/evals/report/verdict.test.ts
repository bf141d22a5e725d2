import { describe, expect, test } from 'vitest';

import { pageData } from '../../../src/evals/page/report-page.ts';
import { jsonReport, readReport } from '../../../src/evals/report/json.ts';
import { junitReport } from '../../../src/evals/report/junit.ts';
import { markdownReport } from '../../../src/evals/report/markdown.ts';
import { terminalReport } from '../../../src/evals/report/terminal.ts';
import { exitOf, findVerdict, verdictOf, withVerdict } from '../../../src/evals/report/verdict.ts';
import type { CaseResult, EvalReport } from '../../../src/evals/report/result.ts';
import { compareOutcomes, toOutcome } from '../../../src/evals/project/outcome.ts';
import { scratch } from '../../skills/registry/support.ts';
import { verifies } from '../../conformance/verifies.ts';
import { COMPARISON, TRIGGER, check, lookAt, report, result } from '../sample-report.ts';

const live = { model: { id: 'm', way: 'live' } } as const;
const passed = result('a', live);
const failed = result('b', { ...live, status: 'failed' });
const skipped = result('c', { ...live, status: 'skipped', reason: 'no sandbox' });
const broken = result('d', { ...live, status: 'error', reason: 'the network' });
const without = result('a', { ...live, arm: 'without', status: 'failed' });
const notKept = TRIGGER.controls.map((control) => ({ ...control, isKept: false }));

describe('the verdict', () => {
  test('of a worse skill is never passed, and lower thresholds that decide are named', () => {
    const harm = Array.from({ length: 12 }, (_, place) => {
      const own = { ...live, input: `work on ${'xyz'.repeat(place + 1)}` };
      const checks = [check('output[0]')];
      const wrong = checks.map((one) => ({ ...one, status: 'failed' as const }));
      return [
        result(String(place), { ...own, status: 'failed', checks: wrong }),
        result(String(place), { ...own, arm: 'without', checks }),
      ];
    }).flat();
    const low = { passRate: 0, errors: 99 };
    expect([exitOf(report(harm), low), findVerdict(withVerdict(report(harm), low, []))]).toMatchObject([
      1,
      { result: 'failed', effect: 'worse', reasons: ['results are worse with the skill'] },
    ]);
    expect(
      [report([passed, failed]), report([passed])].map((one) => withVerdict(one, low, []).verdict?.warnings),
    ).toEqual([['passed only by lower thresholds: pass rate 0, errors 99'], []]);
  });

  test('is given for each skill by its own cases, and shown where there are several', () => {
    const [one, two] = [{ skill: 'tables' }, { skill: 'letters' }];
    const whole = report([
      { ...passed, ...one },
      { ...failed, ...two },
      { ...broken, skill: 'maps' },
    ]);
    expect(findVerdict(whole).skills).toEqual([
      { skill: 'tables', title: 'valid, all passed', validity: 'valid', result: 'passed' },
      { skill: 'letters', title: 'valid, failed: 0 passed, 1 failed', validity: 'valid', result: 'failed' },
      { skill: 'maps', title: 'INVALID: there is no verdict', validity: 'invalid', result: 'none' },
    ]);
    expect(terminalReport(whole, lookAt()).slice(3, 6)).toEqual([
      'tables   valid, all passed',
      'letters  valid, failed: 0 passed, 1 failed',
      'maps     INVALID: there is no verdict',
    ]);
    expect(markdownReport(whole)).toContain('| letters | valid, failed&#58; 0 passed, 1 failed |  |\n');
    // A threshold holds for each of them, and a stored report keeps it.
    const lenient = withVerdict(whole, { passRate: 0 }, []);
    expect(findVerdict(lenient).skills?.[1]).toMatchObject({ skill: 'letters', result: 'passed' });
    const read = readReport(jsonReport(lenient));
    expect(read.type === 'report' ? findVerdict(read.report) : read).toEqual(findVerdict(lenient));
  });

  test.each([
    ['valid and passed', report([passed]), { validity: 'valid', result: 'passed', reasons: [], warnings: [] }],
    [
      'valid and failed',
      report([passed, failed]),
      { validity: 'valid', result: 'failed', reasons: ['the pass rate is 0.500; the minimum is 1'], warnings: [] },
    ],
    [
      'incomplete by skips',
      report([passed, skipped]),
      {
        validity: 'incomplete',
        result: 'passed',
        reasons: ['1 of 2 results were skipped'],
        warnings: [],
      },
    ],
    [
      'incomplete by an interruption',
      report([passed], { isPartial: true }),
      {
        validity: 'incomplete',
        result: 'failed',
        reasons: ['the evaluation was stopped before all cases ran'],
        warnings: [],
      },
    ],
    [
      'invalid by an error',
      report([passed, broken]),
      {
        validity: 'invalid',
        result: 'none',
        reasons: ['1 case ended with an error; the limit is 0'],
        warnings: [],
      },
    ],
  ])('is %s', (_, of, verdict) => {
    expect(findVerdict(of)).toEqual(verdict);
  });

  test('claims an effect with its interval, and none if the evaluation is invalid', () => {
    const compared = report([passed], { comparisons: [{ ...COMPARISON, p: 0.01 }] });
    expect(findVerdict(compared)).toMatchObject({ effect: 'better', interval: { mean: 0.3, low: 0.05, high: 0.55 } });
    const invalid = { ...compared, trigger: { ...TRIGGER, controls: notKept, isValid: false } };
    expect(findVerdict(invalid)).not.toHaveProperty('effect');
  });

  test('is kept with the report, with its thresholds and warnings', () => {
    const decided = withVerdict(report([passed, failed]), { passRate: 0.5 }, ['cases.yaml:1: weak']);
    const read = readReport(jsonReport(decided));
    expect(read.type === 'report' && findVerdict(read.report)).toEqual({
      validity: 'valid',
      result: 'passed',
      reasons: [],
      warnings: ['passed only by lower thresholds: pass rate 0.5', 'cases.yaml:1: weak'],
    });
  });
});

const FORMATS: Readonly<Record<string, (of: EvalReport) => string>> = {
  terminal: (of) => terminalReport(of, lookAt()).join('\n'),
  markdown: markdownReport,
  junit: junitReport,
  json: jsonReport,
};

/** The part of a format that a reader sees first. */
const start = (text: string): string => text.split('\n').slice(0, 12).join('\n');

describe('every format', () => {
  verifies(['EVAL-4', 'EVAL-14'], 'says first that an evaluation is invalid, and why', () => {
    for (const write of Object.values(FORMATS)) {
      const first = start(write(report([passed, broken])));
      expect(first).toMatch(/invalid/i);
      expect(first).toContain('1 case ended with an error');
    }
    expect(pageData(report([passed, broken])).verdict).toMatchObject({ validity: 'invalid' });
  });

  verifies('EVAL-14', 'says first that an evaluation is incomplete', () => {
    for (const write of Object.values(FORMATS)) expect(start(write(report([passed, skipped])))).toMatch(/incomplete/i);
  });

  test('names warnings of the suite', () => {
    const warned = withVerdict(report([passed]), {}, ['cases.yaml:3: the answer is in SKILL.md']);
    for (const write of Object.values(FORMATS)) expect(start(write(warned))).toContain('SKILL');
  });

  test('never says that all passed if something was skipped', () => {
    const some = report([passed, result('b', live), result('e', live), skipped]);
    expect(findVerdict(some).validity).toBe('valid');
    for (const write of Object.values(FORMATS)) expect(write(some)).not.toMatch(/all passed/);
    expect(markdownReport(report([passed]))).toMatch(/^### Evaluation: valid, all passed/);
  });

  verifies('EVAL-14', 'is incomplete if a check of a passed case did not run', () => {
    const reason = '1 of 2 results have checks that did not run: no judge model is configured';
    const checks = [...passed.checks, check('rubric[0]', { status: 'skipped', found: 'no judge model is configured' })];
    const some = report([passed, result('b', { ...live, checks })]);
    expect(findVerdict(some)).toEqual({
      validity: 'incomplete',
      result: 'passed',
      reasons: [reason],
      warnings: [],
    });
    expect([exitOf(some), verdictOf(some)]).toEqual([5, { type: 'incomplete', reasons: [reason] }]);
    for (const write of Object.values(FORMATS)) {
      expect(start(write(some))).toMatch(/incomplete/i);
      expect(write(some)).not.toMatch(/all passed/);
    }
  });

  verifies('EVAL-14', 'of a stored report is computed from its results', () => {
    const stored = (more: object, thresholds = {}): string =>
      jsonReport({ ...withVerdict(report([passed, failed]), thresholds, ['cases.yaml:3: a warning']), ...more });
    const read = readReport(stored({}, { passRate: 0.5 }));
    expect(read.type === 'report' && findVerdict(read.report)).toEqual({
      validity: 'valid',
      result: 'passed',
      reasons: [],
      warnings: ['passed only by lower thresholds: pass rate 0.5', 'cases.yaml:3: a warning'],
    });
    const claimed = { validity: 'valid', result: 'passed', reasons: [], warnings: [] };
    expect(readReport(stored({ verdict: claimed }))).toEqual({
      type: 'invalid',
      reason: 'its verdict is valid, passed, but its results give valid, failed',
    });
    // Another version may have decided by other rules: what this one computes counts.
    for (const other of [{ tool: 'skillwright 0.0.1' }, { thresholds: undefined }]) {
      const old = readReport(stored({ verdict: claimed, ...other }));
      expect(old.type === 'report' && findVerdict(old.report).result).toBe('failed');
    }
  });

  verifies('EVAL-14', 'of a report that was edited consistently is refused', () => {
    const text = jsonReport(report([passed, failed]));
    // The status, its check and the verdict say the same.
    const edited = text
      .replaceAll('"status": "failed"', '"status": "passed"')
      .replaceAll('"result": "failed"', '"result": "passed"');
    for (const [other, reason] of [
      [edited, 'its content does not match its digest'],
      [text.replace(/"answer": "[^"]*"/, '"answer": "another"'), 'its content does not match its digest'],
      [edited.replace(/,\s*"digest": "\w+"/, ''), 'it has no digest'],
    ] as const) {
      expect(other).not.toBe(text);
      expect(readReport(other)).toEqual({ type: 'invalid', reason: expect.stringContaining(reason) });
    }
  });

  test.each([
    [{ status: 'passed', checks: failed.checks }, 'is passed with the failed check "output[0]"'],
    [
      { status: 'passed', checks: [check('output[0]', { status: 'error' })] },
      'is passed with the error check "output[0]"',
    ],
    [{ status: 'passed', checks: [] }, 'is passed without a passed check'],
    [{ status: 'failed', checks: passed.checks }, 'is failed without a failed check'],
    [{ status: 'skipped', checks: failed.checks }, 'is skipped with the failed check "output[0]"'],
  ] as const)('of a report with the result %j is refused', (more, reason) => {
    expect(readReport(jsonReport(report([{ ...passed, ...more }])))).toEqual({
      type: 'invalid',
      reason: `the case "a" ${reason}`,
    });
  });
});

describe('JUnit', () => {
  test('counts the arm with the skill only', () => {
    const text = junitReport(report([passed, without], { comparisons: [COMPARISON] }));
    expect(/<testsuites [^>]*>/.exec(text)?.[0]).toContain('tests="2" failures="0" errors="0"');
    expect(text).not.toMatch(/<test(?:suite|case)[^>]*without/);
  });

  test.each([
    ['invalid', report([passed, broken]), /<testcase name="verdict"[^>]*>\s*<error [^>]*type="invalid"/],
    ['incomplete', report([passed, skipped]), /<testcase name="verdict"[^>]*>\s*<error [^>]*type="incomplete"/],
    ['failed', report([passed, failed]), /<testcase name="verdict"[^>]*>\s*<failure [^>]*type="failed"/],
  ])('is not green if the evaluation is %s', (_, of, pattern) => {
    expect(junitReport(of)).toMatch(pattern);
  });

  verifies(['EVAL-4', 'EVAL-14'], 'agrees with the verdict and the exit code', () => {
    const suites = [[passed], [passed, failed], [passed, skipped], [failed, skipped], [passed, broken], [skipped]];
    const found = [...suites.map((results) => report(results)), report([passed], { isPartial: true })].map((one) => {
      const type = /<testcase name="verdict"[^>]*>\s*<(?:error|failure) [^>]*type="(\w+)"/.exec(junitReport(one))?.[1];
      return { junit: type ?? 'passed', verdict: verdictOf(one).type, exit: exitOf(one) };
    });
    const one = (name: string, exit: number) => ({ junit: name, verdict: name, exit });
    const incomplete = one('incomplete', 5);
    expect(found).toEqual([
      one('passed', 0),
      one('failed', 1),
      incomplete,
      incomplete,
      one('invalid', 5),
      one('invalid', 5),
      incomplete,
    ]);
    expect(compareOutcomes(report([passed]), report([passed, skipped]), scratch()).verdict).toBe('incomplete');
  });
});

describe('a suite with a skill that', () => {
  const lax = { passRate: 0.5, errors: 5 };
  const suite = (last: Partial<CaseResult>): EvalReport => {
    const good = ['apple', 'bridge', 'candle', 'desert'].map((name) => result(name, { ...live, skill: 'tables' }));
    return withVerdict(report([...good, result('engine', { ...live, skill: 'letters', ...last })]), lax, []);
  };

  test('failed does not pass, though its pass rate is high enough', () => {
    const whole = suite({ status: 'failed' });
    const reasons = ['letters: the pass rate is 0.000; the minimum is 0.5'];
    expect([exitOf(whole, lax), verdictOf(whole, lax)]).toEqual([1, { type: 'failed', reasons }]);
    expect(findVerdict(whole)).toMatchObject({ validity: 'valid', result: 'failed', reasons });
    const xml = junitReport(whole);
    expect(xml).toContain('<testsuite name="verdict" tests="3" failures="2" errors="0"');
    expect(xml).toContain('<testcase name="tables" classname="verdict" time="0"/>');
    expect(xml).toMatch(/<testcase name="letters" classname="verdict" time="0">\s*<failure message="valid, failed: /);
    expect(markdownReport(whole)).toMatch(/^### Evaluation: valid, failed: 4 passed, 1 failed\n/);
  });

  test('has no verdict is incomplete', () => {
    const whole = suite({ status: 'skipped', reason: 'no model' });
    expect(findVerdict(whole)).toMatchObject({ validity: 'incomplete', reasons: ['no verdict on letters'] });
    expect(exitOf(whole, lax)).toBe(5);
    expect(junitReport(whole)).toMatch(/<testcase name="letters" classname="verdict" time="0">\s*<error /);
  });

  test('and without one, passes', () => {
    const whole = suite({});
    expect([exitOf(whole, lax), findVerdict(whole).validity]).toEqual([0, 'valid']);
  });
});

describe('a report that cannot be believed claims no effect', () => {
  const twelve = Array.from({ length: 12 }, (_, place) => {
    const own = { ...live, input: `work on ${'xyz'.repeat(place + 1)}` };
    const checks = [check('output[0]')];
    const wrong = checks.map((one) => ({ ...one, status: 'failed' as const }));
    return [
      result(String(place), { ...own, checks, skill: 'tables' }),
      result(String(place), { ...own, arm: 'without', status: 'failed', checks: wrong, skill: 'tables' }),
    ];
  }).flat();
  const flaky = { until: '2026-12-01', passed: 2, of: 5 };
  const worse = Array.from({ length: 4 }, (_, place) => [
    result(`flaky-${String(place)}`, { ...live, input: 'abc'.repeat(place + 1), status: 'failed', quarantine: flaky }),
    result(`flaky-${String(place)}`, { ...live, input: 'abc'.repeat(place + 1), arm: 'without', quarantine: flaky }),
  ]).flat();

  test.each([
    ['', twelve, {}, 'valid'],
    ['with an error above the limit', [...twelve, broken], {}, 'invalid'],
    ['with a warning about quarantine', [...twelve, ...worse, broken], {}, 'invalid'],
  ])('%s', async (_, results, thresholds, validity) => {
    const whole = withVerdict(report(results), thresholds, ['cases.yaml:1: SKILL.md contains the expected text']);
    expect(findVerdict(whole).validity).toBe(validity);
    const outcome = toOutcome(whole, scratch(), thresholds);
    const written = await Promise.all(
      (['html', 'json', 'markdown', 'junit', 'skill-creator'] as const).map((format) => outcome.render(format)),
    );
    const texts = [
      outcome.toText(lookAt()).join('\n'),
      JSON.stringify(outcome.json),
      ...written.map((one) => (one.type === 'text' ? one.text : (one.files[0]?.text ?? ''))),
    ].map((text) => text.replaceAll(/<script>[^]*?<\/script>/g, ''));
    // A count of cases, as in "0 better", is no claim.
    const claims = texts.map((text) => /(?<!\d )\b(?:better|worse)\b(?!\W*:\s*\d)/.test(text));
    expect(claims).toEqual(Array(7).fill(validity === 'valid'));
  });
});

test('a comparison with a report that cannot be believed is invalid in every format', async () => {
  const outcome = compareOutcomes(report([passed, broken]), report([passed]), scratch());
  const [html, junit, json] = await Promise.all(
    (['html', 'junit', 'json'] as const).map(async (format) => {
      const written = await outcome.render(format);
      return written.type === 'text' ? written.text : '';
    }),
  );
  expect(html).toContain('"verdict":{"validity":"invalid"');
  expect(junit).toMatch(/<testcase name="verdict"[^>]*>\s*<error [^>]*type="invalid"/);
  // The stored report is read again by other comparisons.
  expect(readReport(json ?? '')).toMatchObject({ type: 'report' });
});

test('stored runs of a part of the planned attempts have no verdict and no comparison', () => {
  const part = report([passed, without], { missing: ['b with', 'b without (attempt 2)'] });
  const read = readReport(jsonReport(withVerdict(part, {}, [])));
  for (const one of [part, ...(read.type === 'report' ? [read.report] : [])]) {
    expect(exitOf(one)).toBe(5);
    expect(findVerdict(one)).toMatchObject({ validity: 'incomplete', result: 'none' });
    expect(findVerdict(one).reasons).toContain('2 attempts without a record: b with, b without (attempt 2)');
    expect(one.comparisons).toEqual([]);
  }
});

test('an old version that was never loaded is named: the comparison is one with no skill', () => {
  const results = (loaded: readonly string[]): readonly CaseResult[] =>
    Array.from({ length: 12 }, (_, place) => {
      const checks = [check('output[0]')];
      const wrong = checks.map((one) => ({ ...one, status: 'failed' as const }));
      const own = { ...live, input: `work on ${'xyz'.repeat(place + 1)}` };
      const given = (digest: string) => ({ given: { 'skill tables': digest } });
      return [
        result(String(place), { ...own, ...given('new'), checks, loaded: ['tables'] }),
        result(String(place), { ...own, ...given('old'), arm: 'old', status: 'failed', checks: wrong, loaded }),
      ];
    }).flat();
  const doubts = (loaded: readonly string[]) => {
    const { effect, warnings } = findVerdict(report(results(loaded)));
    return [effect, warnings.filter((one) => one.includes('never loaded'))];
  };
  expect([doubts([]), doubts(['tables'])]).toEqual([
    ['better', [expect.stringMatching(/^the old version was never loaded/)]],
    ['better', []],
  ]);
});
