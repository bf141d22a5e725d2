/** Our own suites, through the command as CI runs it: the product's areas, and the built-in skills. */
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EvalReport } from '../../src/evals/report/result.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli } from './run-cli.ts';

function copied(): string {
  const root = scratch();
  for (const name of ['evals', 'skills']) cpSync(path.join(PROJECT, name), path.join(root, name), { recursive: true });
  return root;
}

async function evaluated(root: string, ...words: readonly string[]): Promise<{ status: number; report: EvalReport }> {
  const { status, err } = await runCli(root, ['eval', ...words, '--report', 'json=r.json', '--no-eval-cache']);
  expect(err).not.toContain('error:');
  return { status, report: JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8')) };
}

describe('our own suites', () => {
  verifies('EVAL-3', 'every area of the product passes on the scripted model', async () => {
    const { status, report } = await evaluated(copied(), 'evals');
    const wrong = report.results.filter(({ status: one }) => one !== 'passed');
    expect(wrong.map(({ case: id, status: one, reason, checks }) => ({ id, one, reason, checks }))).toEqual([]);
    expect([status, report.models]).toEqual([0, [{ id: 'scripted', way: 'scripted' }]]);
    const areas = [...new Set(report.results.flatMap(({ tags }) => tags))].toSorted();
    expect(areas).toEqual(['budget', 'disclosure', 'programs', 'safety', 'selection', 'streaming', 'subagent']);
  });

  test('the scripts of the built-in skills do what their cases say', async () => {
    const { status, report } = await evaluated(copied(), 'skills', '--suite', 'script');
    expect(report.results.map(({ case: id, status: one }) => `${id} ${one}`)).toEqual([
      'csv-report-profiles passed',
      'csv-report-says-what-is-wrong passed',
      'skill-author-outlines passed',
      'skill-author-reads-patterns passed',
      'text-diff-words passed',
      'text-diff-newline passed',
    ]);
    expect(status).toBe(0);
  });

  test('the built-in skills fire on the rule model about as well as they are known to', async () => {
    const root = copied();
    const words = ['trigger', 'skills', '--model', 'rules', '--report', 'json=r.json', '--no-eval-cache'];
    const { status } = await runCli(root, [
      'eval',
      ...words,
      '--threshold',
      'pass-rate=0.8',
      '--threshold',
      'precision=0.9',
    ]);
    const report: EvalReport = JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
    expect([status, report.trigger?.isValid, report.arms[0]?.totals.error]).toEqual([0, true, 0]);
    expect(report.trigger?.overall.recall.of).toBe(28);
  });
});
