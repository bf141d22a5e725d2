import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { scratch } from '../skills/registry/support.ts';
import { cli, skillText, writeFiles } from './run-cli.ts';

function project(files: Readonly<Record<string, string>>): string {
  const root = scratch();
  writeFiles(root, {
    'skills/tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    ...files,
  });
  return root;
}

const run = (root: string, ...words: readonly string[]) =>
  cli(root, ['eval', ...words], { env: { HOME: path.join(root, 'home') } });

const WEAK = 'cases: [{ id: a, input: Count the rows, expect: { output: { not_contains: error } } }]';

test('eval check names weak cases and files that are not read, and runs nothing', async () => {
  const root = project({
    'skills/tables/evals/cases.yaml': WEAK,
    'skills/tables/evals/package.json': '{ "name": "x", "version": "1" }',
  });
  expect(await run(root, 'check', 'skills/tables')).toEqual({
    status: 5,
    out: '',
    err: [
      'skills/tables/evals/package.json:1:1: warning: not read: a manifest',
      '  hint: move it out of the folder of the cases if it holds none',
      'skills/tables/evals/cases.yaml:1:9: error: the checks pass on an empty answer',
      '  hint: add a text or an expression that a right answer contains',
      'invalid: 1 error, 1 warning; an evaluation of these cases has no verdict',
      '',
    ].join('\n'),
  });
});

test('an evaluation checks the suite first, and errors stop it before a model is asked', async () => {
  const root = project({ 'skills/tables/evals/cases.yaml': WEAK });
  const { status, out, err } = await run(root, 'skills/tables', '--model', 'rules', '--json');
  expect([status, err.includes('the checks pass on an empty answer')]).toEqual([5, true]);
  expect(JSON.parse(out)).toMatchObject({ error: { data: { problems: [{ rule: 'passes-on-empty' }] } } });
});

test('an evaluation that has no verdict leaves no earlier report that has one', async () => {
  const root = project({ 'skills/tables/evals/cases.yaml': WEAK, 'junit.xml': '<testsuites/>', 'r.md': 'valid' });
  const reports = ['--report', 'junit=junit.xml', '--report', 'markdown=r.md'];
  const texts = (): readonly string[] =>
    ['junit.xml', 'r.md'].map((name) => readFileSync(path.join(root, name), 'utf8'));
  const planned = await run(root, 'skills/tables', '--model', 'rules', '--dry-run', ...reports);
  expect([planned.status, texts()]).toEqual([5, ['<testsuites/>', 'valid']]);
  const ran = await run(root, 'skills/tables', '--model', 'rules', ...reports);
  expect([ran.status, texts()]).toEqual([5, ['', '']]);
});

test('a suite without findings is said to be one, also as JSON', async () => {
  const root = project({
    'skills/tables/evals/cases.yaml':
      'cases: [{ id: a, input: Count the rows of a.csv, expect: { output: { contains: seven rows } } }]',
  });
  expect(await run(root, 'check', 'skills/tables')).toEqual({
    status: 0,
    out: '1 case, 0 errors, 0 warnings\n',
    err: '',
  });
  expect(JSON.parse((await run(root, 'check', 'skills/tables', '--json')).out)).toEqual({
    schema: 1,
    cases: 1,
    drafts: [],
    problems: [],
  });
});
