import path from 'node:path';
import { expect, test } from 'vitest';

import type { EvalCase } from '../../../src/evals/cases/case.ts';
import { runSuite } from '../../../src/evals/run/run-suite.ts';
import { runView } from '../../../src/evals/page/run-view.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';

test('the view of a run lists its turns with the context sections of each request', async () => {
  const root = scratch();
  const skill = path.join(root, 'skills', 'tables');
  writeSkill(skill, { description: 'Works on tables. Use it for tables.', body: 'Look at each row. '.repeat(200) });
  const load = { toolCalls: [{ name: 'load_skill', input: { skill: 'tables' } }] };
  const evalCase: EvalCase = {
    id: 'a',
    name: 'a',
    place: { file: 'cases.json', line: 1, column: 1 },
    input: 'count the rows',
    files: [],
    skills: { target: 'tables', folders: [] },
    expect: { outcome: ['done'] },
    limits: {},
    forbidTools: [],
    answers: { type: 'script', turns: [load, { text: 'There are 3.' }] },
    approve: 'no',
    repeat: 1,
    tags: [],
  };
  const { results } = await runSuite({
    cases: [evalCase],
    arms: [{ arm: 'with', foldersFor: () => [skill] }],
    concurrency: 1,
    timeoutMs: 120_000,
    directory: path.join(root, 'evals'),
    signal: new AbortController().signal,
  });
  const { outcome, turns, steps } = runView(results[0]?.run ?? '');
  expect(outcome).toBe('done');
  expect(steps.map(({ turn, kind, text }) => `${String(turn)} ${kind} ${text.split(',')[0] ?? ''}`)).toEqual([
    '1 model the model calls load_skill',
    '1 action load_skill tables',
    '1 skill skill option/tables',
    '2 model the model says 12 characters',
    '2 action final_answer',
    '2 end run done',
  ]);
  const [first, second] = turns.map(({ sections }) => sections);
  expect([first?.bodies, first?.observations]).toEqual([0, 0]);
  expect(second?.bodies).toBeGreaterThan(300);
  expect(second?.rest).toBe(first?.rest);
  for (const { tokens, sections } of turns)
    expect(Object.values(sections).reduce((sum, value) => sum + value, 0)).toBe(tokens);
});
