import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

import type { EvalReport } from '../../src/evals/report/result.ts';
import { PROJECT } from '../files-below.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

const CASES = 12;
const ANSWERED = 9;

/** The case and arm of a request: only one arm has the skill in its catalog. */
function runOf(body: unknown): string {
  const text = JSON.stringify(body);
  return `${/number (\d+)!/.exec(text)?.[1] ?? '?'} ${text.includes('Counts rows') ? 'with' : 'without'}`;
}

test('a suite of two arms that was killed goes on without repeating what both arms finished', async () => {
  const root = scratch();
  writeFiles(root, {
    'tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    'tables/evals/cases.yaml': JSON.stringify({
      cases: Array.from({ length: CASES }, (_, place) => ({
        id: `case-${String(place)}`,
        input: `count, number ${String(place)}!`,
        expect: { output: { contains: 'rows' } },
      })),
    }),
  });
  let isHolding = true;
  const asked: string[] = [];
  const server = await serve((response, turn, { body }) => {
    asked.push(runOf(body));
    if (isHolding && turn >= ANSWERED) return;
    startStream(response).write(chunk({ content: 'It has 7 rows.' }));
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  onTestFinished(() => server.close());
  const url = `model.params.base_url=${server.url}/v1`;
  const words = ['eval', 'tables', '--baseline', 'none', '--model', 'openai-compatible/m', '--set', url];
  const all = [...words, '--executor', 'none', '--no-eval-cache'];
  const env = { HOME: path.join(root, 'home') };
  const killed = spawn(process.execPath, [path.join(PROJECT, 'dist/command/skillwright.js'), ...all], {
    cwd: root,
    env: { ...env, PATH: process.env['PATH'] ?? '' },
    stdio: 'ignore',
  });
  const folder = path.join(root, '.agent/evals');
  const kept = (): readonly string[] => {
    const [name = ''] = existsSync(folder) ? readdirSync(folder) : [];
    const file = path.join(folder, name, 'results.jsonl');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  };
  await vi.waitFor(() => expect(kept()).toHaveLength(ANSWERED), { timeout: 120_000, interval: 50 });
  const ended = new Promise((resolve) => killed.once('exit', resolve));
  killed.kill('SIGKILL');
  await ended;
  const finished = kept().map((line) => {
    const { result }: { readonly result: { readonly case: string; readonly arm: string } } = JSON.parse(line);
    return `${result.case.replace('case-', '')} ${result.arm}`;
  });
  // Both arms of an attempt come from one turn, so that a run whose other arm did not finish is repeated.
  const other = (run: string): string => run.replace(/ .*/, run.endsWith(' with') ? ' without' : ' with');
  const paired = finished.filter((run) => finished.includes(other(run)));
  isHolding = false;
  asked.length = 0;
  const { status, out } = await runCli(root, [...all, '--resume', '--json'], env);
  const report: EvalReport = JSON.parse(out);
  expect([status, report.isPartial, report.results.filter(({ isCached }) => isCached).length]).toEqual([
    0,
    false,
    paired.length,
  ]);
  expect(paired.length).toBeGreaterThan(0);
  expect(asked.filter((run) => paired.includes(run))).toEqual([]);
  expect(new Set([...asked, ...paired]).size).toBe(2 * CASES);
  expect([asked.length, report.results.length]).toEqual([2 * CASES - paired.length, 2 * CASES]);
}, 240_000);
