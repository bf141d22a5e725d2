import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { withVerdict } from '../../../src/evals/report/verdict.ts';
import { junitReport } from '../../../src/evals/report/junit.ts';
import { jsonReport, readReport } from '../../../src/evals/report/json.ts';
import { markdownReport } from '../../../src/evals/report/markdown.ts';
import { verifies } from '../../conformance/verifies.ts';
import { HOSTILE, hostileReport } from '../hostile-report.ts';
import { TRIGGER, check, fullReport, manyResults, report, result } from '../sample-report.ts';
import { readXml } from '../xml-check.ts';

/** Random UTF-16 units, including lone surrogates and control characters. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));
const anyText = fc.oneof(fc.constantFrom(...HOSTILE), anyUnits);

describe('JUnit', () => {
  verifies('EVAL-4', 'JUnit has the verdict and one test per case and attempt with the skill', () => {
    const elements = readXml(junitReport(fullReport()));
    expect(
      elements.map(({ name, attributes }) => `${name} ${attributes['name'] ?? attributes['message'] ?? ''}`),
    ).toEqual([
      'testsuites skillwright eval',
      'testsuite verdict',
      'properties ',
      'property validity',
      'testcase verdict',
      'error 1 case ended with an error; the limit is 0',
      'system-out ',
      'properties ',
      'property cost.with-without.tokens',
      'property cost.with-without.money',
      'property cost.with-without.latency',
      'testsuite evals/cases.json',
      'testcase count',
      'testcase sum',
      'failure output[1]',
      'testcase slow',
      'error timed out after 20 s',
      'testcase judge',
      'skipped no judge model',
    ]);
    expect(elements[0]?.attributes).toEqual({
      name: 'skillwright eval',
      tests: '5',
      failures: '1',
      errors: '2',
      skipped: '1',
      time: '12.345',
    });
    expect(elements[14]?.text).toBe('output[1]: the answer contains "42"\n  found: the answer is "41"\n  events: 7, 9');
  });

  test('an invalid evaluation has errors', () => {
    const controls = TRIGGER.controls.map((control) => ({ ...control, isKept: false }));
    const elements = readXml(junitReport(report([result('a')], { trigger: { ...TRIGGER, controls, isValid: false } })));
    const error = elements.find(({ name }) => name === 'error');
    expect(error?.attributes).toMatchObject({
      type: 'invalid',
      message: expect.stringMatching(/^always-fire: .*never-fire: /),
    });
  });

  test('is well-formed for untrusted text, which round-trips', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        readXml(junitReport(hostileReport(text)));
      }),
    );
    const text = 'a\n"b" <c> & ]]>\td';
    const failed = report([result('x', { status: 'error', reason: text })]);
    expect(readXml(junitReport(failed)).at(-1)?.attributes['message']).toBe(text);
  });
});

describe('Markdown', () => {
  verifies('EVAL-4', 'Markdown has totals and collapsible failures, without passed cases', () => {
    const failed = report([
      result('good'),
      result('sum', {
        status: 'failed',
        checks: [check('output[0]', { status: 'failed', asked: 'has 42', found: '41' })],
      }),
    ]);
    expect(markdownReport(failed)).toBe(`### Evaluation: valid, failed: 1 passed, 1 failed

- the pass rate is 0&#46;500; the minimum is 1

| arm | results | pass rate | cost |
|---|---|---|---|
| with the skill | 2 results: 1 passed, 1 failed | 50 % (9 to 91 %), of 2 verdicts | 2,100 tokens, 2 tool calls, 3.0 s in runs |

| | |
|---|---|
| model | scripted |
| tested | 0 of 2 cases tested a model |
| time | 12.3 s |

<details><summary><b>failed</b> sum</summary>

evals/cases&#46;json:3

| check | expected | found | events |
|---|---|---|---|
| output&#91;0&#93; | has 42 | 41 |  |

</details>
`);
  });

  test('stays below its size limit and counts omitted results', () => {
    const text = markdownReport(report(manyResults(1000).map((one) => ({ ...one, status: 'failed' }))));
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    expect(text).toMatch(/\n\d+ more results with failures or errors: see the full report\.\n$/);
  });

  test('escapes untrusted text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = markdownReport(hostileReport(text)).split('\n');
        const own = /^(?:<details><summary><b>\w+<\/b> [^<]*<\/summary>|<\/details>|[^<]*)$/;
        expect(lines.filter((line) => !own.test(line))).toEqual([]);
        expect(lines.filter((line) => /[`@[\]!\\]|https?:|www\./.test(line))).toEqual([]);
        const widths = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|').length - 1);
        expect(widths.every((width) => [3, 4, 5, 8].includes(width))).toBe(true);
      }),
    );
  });
});

describe('JSON', () => {
  verifies('EVAL-4', 'a JSON report round-trips', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const given = hostileReport(text);
        const decided = withVerdict(given, {}, []);
        expect(readReport(jsonReport(given))).toEqual({ type: 'report', report: decided });
      }),
    );
  });

  test.each([
    ['{', 'not JSON'],
    ['[]', 'not an object'],
    ['{"schema":2}', 'its schema is 2; this version reads schema 1'],
    ['{}', 'its schema is missing; this version reads schema 1'],
    [JSON.stringify({ ...fullReport(), skills: {} }), 'skills must be an array'],
    [JSON.stringify({ ...fullReport(), results: [{}] }), 'results[0].case must be a string'],
    [
      JSON.stringify({ ...fullReport(), results: [{ ...result('a'), status: 'ok' }] }),
      'results[0].status must be one of passed, failed, error, skipped',
    ],
    [
      JSON.stringify({ ...fullReport(), results: [{ ...result('a'), checks: [null] }] }),
      'results[0].checks[0] must be an object',
    ],
    [
      JSON.stringify({ ...fullReport(), results: [{ ...result('a'), arm: 'other' }] }),
      'results[0].arm must be one of with, without, old',
    ],
    [JSON.stringify({ ...fullReport(), sequential: { rounds: Number.NaN } }), 'sequential.rounds must be a number'],
  ])('rejects other JSON: %#', (text, reason) => {
    expect(readReport(text)).toEqual({ type: 'invalid', reason });
  });
});
