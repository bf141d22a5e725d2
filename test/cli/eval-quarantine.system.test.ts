import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { EvalReport } from '../../src/evals/report/result.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A skill with steady cases and one that passes every second time. */
async function project(flaky: object, steady = 3) {
  let asked = 0;
  const server = await serve((response, _turn, { body }) => {
    const isFlaky = JSON.stringify(body).includes('the moody village');
    if (isFlaky) asked += 1;
    startStream(response);
    response.write(chunk({ content: isFlaky && asked % 2 === 0 ? 'I refuse.' : 'It has 412 rows.' }));
    response.write(chunk({}, 'stop'));
    response.end('data: [DONE]\n\n');
  });
  onTestFinished(() => server.close());
  const root = scratch();
  const expected = { output: { contains: '412 rows' } };
  const towns = ['Bergen', 'a quiet harbour', 'seven mountains', 'old tramways'].slice(0, steady);
  writeFiles(root, {
    'tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    'tables/evals/cases.yaml': JSON.stringify({
      cases: [
        ...towns.map((town, place) => ({
          id: `steady-${String(place)}`,
          input: `Count about ${town}`,
          expect: expected,
        })),
        { id: 'moody', input: 'Count about the moody village', expect: expected, ...flaky },
      ],
    }),
  });
  const model = ['--model', 'openai-compatible/m', '--set', `model.params.base_url=${server.url}/v1`];
  const words = ['eval', 'tables', ...model, '--executor', 'none', '--concurrency', '1', '--repeat', '6'];
  const env = { HOME: path.join(root, 'home') };
  const reports = ['--report', 'json=r.json', '--report', 'junit=r.xml', '--report', 'markdown=r.md'];
  return {
    run: (...more: readonly string[]) => runCli(root, [...words, ...reports, ...more], env),
    report: (): EvalReport => JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8')),
    read: (name: string) => readFileSync(path.join(root, name), 'utf8'),
  };
}

describe('a flaky case', () => {
  test('is proposed for quarantine with a date and the measured rate', async () => {
    const { run, report } = await project({});
    const { status, out } = await run();
    expect(status).toBe(1);
    expect(report().flaky).toMatchObject([
      { case: 'moody', arm: 'with', rate: { count: 3, of: 6 }, proposal: { until: day(30), passed: 3, of: 6 } },
    ]);
    expect(out).toContain('flaky      moody passes 3 of 6: fix it, or add quarantine: { until: ');
  });

  test('in quarantine runs and is shown, and counts in nothing', async () => {
    const quarantine = { until: day(10), passed: 3, of: 6 };
    const { run, report, read } = await project({ quarantine });
    const { status, out } = await run();
    expect([status, out.split('\n')[0]]).toEqual([0, 'valid, passed: 18 passed, 6 in quarantine']);
    expect(out).toContain('FLAKY   moody  Count about the moody village (attempt 2, in quarantine until ');
    expect(out).not.toContain('FAILED');
    expect(out).toContain('results    24 results: 18 passed, 6 in quarantine (3 passed, 3 failed)');
    expect(out).toContain('pass rate  100 %');
    const { results, arms, flaky, verdict } = report();
    expect(results.filter((one) => one.case === 'moody').map((one) => one.quarantine)).toEqual(
      Array.from({ length: 6 }, () => quarantine),
    );
    expect([arms[0]?.quarantined, flaky, verdict?.result]).toEqual([
      { passed: 3, failed: 3, error: 0, skipped: 0 },
      [],
      'passed',
    ]);
    expect(read('r.md')).toContain('| quarantine | moody until ');
    const [counts = ''] = /<testsuites [^>]*>/.exec(read('r.xml')) ?? [];
    expect(counts).toContain('tests="25" failures="0" errors="0" skipped="3"');
  });

  test('counts again after the date, with a line that says so', async () => {
    const { run, report } = await project({ quarantine: { until: day(-1), passed: 3, of: 6 } });
    const { status, err } = await run();
    expect(status).toBe(1);
    expect(err).toContain(`warning: the quarantine ended on ${day(-1)}: the case counts again`);
    expect(report().verdict?.warnings.join()).toContain('the case counts again');
    expect(report().arms[0]?.totals).toMatchObject({ passed: 21, failed: 3 });
  });

  test('does not make a suite pass that consists of such cases', async () => {
    const { run, report } = await project({ quarantine: { until: day(10), passed: 3, of: 6 } }, 1);
    await run();
    expect(report().verdict).toMatchObject({
      validity: 'incomplete',
      reasons: ['6 of 12 results were skipped or are in quarantine'],
    });
  });
});
