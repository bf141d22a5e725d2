/** What `eval` says about a model whose answers do not depend on the skill, over HTTP as with any other model. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { EvalReport } from '../../src/evals/report/result.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

/** Loads the skill if the catalog has it, and then answers without it. `answer` gets the whole request. */
async function indifferentModel(skill: string, answer: (asked: string) => string): Promise<readonly string[]> {
  const server = await serve((response, _turn, { body }) => {
    const asked = JSON.stringify(body);
    const isFirst = !asked.includes('"role":"assistant"');
    startStream(response);
    if (isFirst && asked.includes(skill)) {
      const fn = { name: 'load_skill', arguments: JSON.stringify({ skill }) };
      response.write(chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: fn }] }));
      response.write(chunk({}, 'tool_calls'));
    } else {
      response.write(chunk({ content: answer(asked) }));
      response.write(chunk({}, 'stop'));
    }
    response.end('data: [DONE]\n\n');
  });
  onTestFinished(() => server.close());
  return ['--model', 'openai-compatible/m', '--set', `model.params.base_url=${server.url}/v1`, '--executor', 'none'];
}

function reportAt(root: string): EvalReport {
  const value: EvalReport = JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
  return value;
}

describe('eval --baseline none with a model that ignores the skill', () => {
  verifies(
    'EVAL-12',
    'is INVALID for the built-in csv-report without a judge, where it once was +50 points',
    async () => {
      const root = scratch();
      cpSync(path.join(PROJECT, 'skills/csv-report'), path.join(root, 'csv-report'), { recursive: true });
      const env = { HOME: path.join(root, 'home') };
      const model = await indifferentModel('csv-report', () => 'I cannot say.');
      const words = ['eval', 'csv-report', '--baseline', 'none', ...model];
      const { status, out, err } = await runCli(
        root,
        [...words, '--report', 'json=r.json', '--report', 'html=r.html'],
        env,
      );
      expect([status, out.split('\n')[0]]).toEqual([5, 'INVALID: no outcome was judged; there is no score']);
      expect(out).not.toMatch(/points|pass rate/);
      expect(err).toContain('invalid: with against without: no outcome was judged (');
      expect(err).toContain('no case checks an outcome');
      const { arms, comparisons, results } = reportAt(root);
      expect([comparisons, arms.map(({ arm }) => arm)]).toEqual([[], ['with', 'without']]);
      const counted = arms.flatMap(({ totals, harness }) => [...Object.values(totals), ...Object.values(harness)]);
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(results.length);
    },
  );

  test('is 0 points where outcomes are judged, and stops when that is decided', async () => {
    const root = scratch();
    const asks = ['apples', 'bridges', 'candles', 'deserts', 'engines', 'forests'].map((topic) => ({
      id: `counts-${topic}`,
      input: `count ${topic}`,
      expect: { trigger: true, output: { contains: 'rows' } },
    }));
    writeFiles(root, {
      'tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
      'tables/evals/cases.yaml': JSON.stringify({ cases: asks }),
    });
    const env = { HOME: path.join(root, 'home') };
    const model = await indifferentModel('tables', () => 'It has 7 rows.');
    const words = ['eval', 'tables', '--baseline', 'none', ...model];
    const planned = await runCli(root, [...words, '--dry-run', '--detect', '30'], env);
    expect([planned.status, planned.out]).toEqual([
      0,
      'plan: 12 runs of openai-compatible/m (6 cases, 2 arms), tokens unknown before the first run\n' +
        'to detect 30 points with a power of 80 %: 51 different cases; the suite has 6 with an outcome; add cases, not repetitions: so few detect 100 points\n',
    ]);
    const stop = ['--stop-when', 'decided', '--detect', '90', '--report', 'json=r.json', '--threshold', 'pass-rate=0'];
    const { status, out } = await runCli(root, [...words, ...stop], env);
    expect(status).toBe(0);
    const { comparisons, sequential, arms } = reportAt(root);
    expect(comparisons).toMatchObject([{ better: 0, worse: 0, difference: { mean: 0 }, p: 1, method: 'sequential' }]);
    expect(sequential).toMatchObject({ detect: 0.9 });
    expect(sequential?.rounds).toBeLessThan(sequential?.most ?? 0);
    expect(arms.map(({ totals }) => totals.passed)).toEqual([6 * (sequential?.rounds ?? 0), 0]);
    expect(out).toContain('+0 points');
    // The next plan knows what a run costs.
    const again = await runCli(root, [...words, '--dry-run', '--json'], env);
    const { plan }: { readonly plan: { readonly tokens?: number } } = JSON.parse(again.out);
    expect(plan.tokens).toBeGreaterThan(0);
    const wrong = await runCli(root, ['eval', 'tables', ...model, '--stop-when', 'decided'], env);
    expect([wrong.status, wrong.err]).toEqual([2, expect.stringContaining('--stop-when decided needs --baseline')]);
  });
});

describe('generated cases', () => {
  test('are harness checks without a model, and test the model that is given', async () => {
    const root = scratch();
    writeFiles(root, { 'maps/SKILL.md': skillText('maps', 'Draws maps of towns. Use it to draw maps.') });
    const env = { HOME: path.join(root, 'home') };
    const run = (...words: readonly string[]) => runCli(root, ['eval', ...words, '--executor', 'none'], env);
    expect((await run('init', 'maps')).status).toBe(0);
    const first = await run('maps');
    expect([first.status, first.err]).toEqual([5, expect.stringContaining('invalid: no case tested a model')]);
    expect(first.out).toContain('harness checks (');
    expect(first.out).toContain('tested     0 of ');
    expect(first.out).toContain('pass rate  no data');
    const tested = await run('maps', '--model', 'rules', '--json');
    const report: EvalReport = JSON.parse(tested.out);
    expect(report.arms[0]).toMatchObject({ modelCases: report.arms[0]?.cases, harness: { passed: 0 } });
    expect((await run('init', 'maps')).status).toBe(2);
    const file = path.join(root, 'maps/evals/cases.yaml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll(/^  # (?=- id: "maps-outcome| {2}(?:input|expect))/gm, '  '),
    );
    const unfilled = await run('maps', '--model', 'rules');
    expect([unfilled.status, unfilled.err]).toEqual([5, expect.stringContaining('placeholder text: "REPLACE ME')]);
  });

  verifies(
    ['EVAL-4', 'EVAL-14'],
    'that were mostly skipped are incomplete, unless only those are asked for that need no model',
    async () => {
      const root = scratch();
      const mock = { turns: [{ text: 'yes' }] };
      writeFiles(root, {
        'maps/SKILL.md': skillText('maps', 'Draws maps of towns. Use it to draw maps.'),
        'maps/evals/cases.yaml': JSON.stringify({
          cases: [
            { id: 'a', input: 'x', expect: { output: { contains: 'yes' } }, mock },
            { id: 'b', input: 'x', expect: { rubric: ['it is a good map'] }, mock },
          ],
        }),
      });
      const env = { HOME: path.join(root, 'home') };
      const run = (...words: readonly string[]) => runCli(root, ['eval', 'maps', '--executor', 'none', ...words], env);
      const { status, out, err } = await run('--report', 'junit=r.xml');
      expect(readFileSync(path.join(root, 'r.xml'), 'utf8')).toMatch(
        /name="verdict"[^>]*>\s*<error [^>]*type="incomplete"/,
      );
      expect(err).toContain('incomplete: 1 of 2 results were skipped');
      expect([status, out]).toEqual([
        5,
        expect.stringContaining('pass rate  100 % (21 to 100 %), of 1 verdict, 1 result skipped'),
      ]);
      expect(out).toContain('incomplete 1 of 2 results were skipped');
      const offline = await run('--offline');
      expect([offline.status, offline.out]).toEqual([
        0,
        expect.stringContaining('the verdict holds for 1 of 2 cases, without those of maps/evals/cases.yaml (b)'),
      ]);
      expect(await run('--offline', '--model', 'rules')).toMatchObject({
        status: 2,
        err: expect.stringContaining('--offline and --model exclude each other'),
      });
    },
  );
});
