/** A part of the cases may leave out those that a skill makes worse, so that reports name what did not run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import type { EvalReport } from '../../src/evals/report/result.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

const one = (id: string, more = ''): string =>
  `{ id: ${id}, input: count the rows of ${id}, ${more} expect: { output: { contains: rows } }, mock: { turns: [{ text: 42 rows }] } }`;
const [OWN, HARM, MORE] = [
  '.agents/skills/tables/evals/cases.yaml',
  '.agents/skills/tables/evals/harm.yaml',
  'evals/more.yaml',
];

const FILES = {
  '.agents/skills/tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
  [OWN]: `cases: [${one('smoky', 'tags: [smoke],')}, ${one('plain')}]`,
  [HARM]: `cases: [${one('harm')}]`,
  '.agents/skills/letters/SKILL.md': skillText('letters', 'Writes letters. Use it for letters.'),
  '.agents/skills/letters/evals/cases.yaml': `cases: [${one('other')}]`,
  [MORE]: `cases: [${one('more', 'skills: { target: tables },')}]`,
};

test.each([
  [
    'a tag',
    [['.agents/skills', 'evals'], '--suite', 'smoke'],
    { [OWN]: ['plain'], [HARM]: ['harm'], [MORE]: ['more'] },
  ],
  ['one of its files', [[HARM]], { [OWN]: ['smoky', 'plain'], [MORE]: ['more'] }],
  ['a file of the project', [[MORE]], { [OWN]: ['smoky', 'plain'], [HARM]: ['harm'] }],
  ['one skill, without the cases of the project', [['.agents/skills/tables']], { [MORE]: ['more'] }],
  ['all', [['.agents/skills', 'evals']], {}],
  ['the project', [[]], {}],
])('reports and comparisons name the cases that %s leaves out', async (_, words, expected: object) => {
  const root = scratch();
  writeFiles(root, FILES);
  const run = async (...more: readonly string[]) =>
    runCli(root, ['eval', ...more, '--executor', 'none'], { HOME: path.join(root, 'home') });
  const formats = ['markdown', 'junit', 'html', 'json', 'skill-creator'];
  const { out } = await run(
    ...words.flat(),
    '--threshold',
    'pass-rate=0',
    ...formats.flatMap((format) => ['--report', `${format}=r.${format}`]),
  );
  const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');
  const { leftOut = [], results } = JSON.parse(read('r.json')) as EvalReport;
  expect(Object.fromEntries(leftOut.map(({ file, cases }) => [file, cases]))).toEqual(expected);
  const left = leftOut.flatMap(({ cases }) => cases).length;
  const compared = await run('compare', 'r.json', 'r.json');
  const texts = [
    out,
    compared.out,
    ...['markdown', 'junit', 'html', 'json', 'skill-creator/benchmark.json'].map((name) => read(`r.${name}`)),
  ];
  const sentence = `the verdict holds for ${String(results.length)} of ${String(results.length + left)} cases, without`;
  expect(texts.map((text) => text.includes(sentence))).toEqual(Array(7).fill(left > 0));
  expect(out.split('\n')[0]).toMatch(left > 0 ? new RegExp(`, ${String(left)} left out$`) : /all passed$/);
});
