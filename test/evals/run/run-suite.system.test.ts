import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runIds } from '../../../src/journal/run-folder.ts';
import type { EvalCase } from '../../../src/evals/cases/case.ts';
import type { CaseResult } from '../../../src/evals/report/result.ts';
import { runSuite, type SuiteOptions } from '../../../src/evals/run/run-suite.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';

const LOAD = { toolCalls: [{ name: 'load_skill', input: { skill: 'tables' } }] };

function evalCase(id: string, more: Partial<EvalCase> = {}): EvalCase {
  return {
    id,
    name: id,
    place: { file: 'cases.json', line: 1, column: 1 },
    input: 'count the rows',
    files: [],
    skills: { target: 'tables', folders: [] },
    expect: { trigger: true },
    limits: {},
    forbidTools: [],
    answers: { type: 'script', turns: [LOAD, { text: `answer of ${id}` }] },
    approve: 'no',
    repeat: 1,
    tags: [],
    ...more,
  };
}

function setUp() {
  const root = scratch();
  for (const name of ['tables', 'letters'])
    writeSkill(path.join(root, 'skills', name), { description: `Works on ${name}. Use it for ${name}.` });
  const folders = ['tables', 'letters'].map((name) => path.join(root, 'skills', name));
  const options: SuiteOptions = {
    cases: [evalCase('a'), evalCase('b')],
    arms: [{ arm: 'with', foldersFor: () => folders }],
    concurrency: 2,
    timeoutMs: 120_000,
    directory: path.join(root, 'evals'),
    signal: new AbortController().signal,
  };
  return { root, folders, options };
}

const shortOf = ({ case: id, arm, attempt, status, isCached }: CaseResult): string =>
  `${id} ${arm} ${String(attempt)} ${status}${isCached ? ' cached' : ''}`;

describe('a suite', () => {
  test('runs every case, arm and attempt, with results in file order', async () => {
    const { options, folders } = setUp();
    const { results, sets, isPartial } = await runSuite({
      ...options,
      repeat: 2,
      arms: [
        { arm: 'with', foldersFor: () => folders },
        { arm: 'without', foldersFor: () => folders.slice(1) },
      ],
    });
    expect(results.map(shortOf)).toEqual([
      'a with 1 passed',
      'a with 2 passed',
      'a without 1 failed',
      'a without 2 failed',
      'b with 1 passed',
      'b with 2 passed',
      'b without 1 failed',
      'b without 2 failed',
    ]);
    expect([sets.map(({ skills }) => skills.map(({ name }) => name)), isPartial]).toEqual([
      [['letters', 'tables'], ['letters']],
      false,
    ]);
    expect(results[0]?.answer).toBe('answer of a');
    expect(existsSync(path.join(options.directory, 'work'))).toBe(false);
    expect(runIds(path.join(options.directory, 'runs'))).toHaveLength(8);
  });

  test('uses the cache until the skill, the case or a script changes, and never for errors', async () => {
    const { options, root } = setUp();
    const cache = path.join(root, 'cache');
    const again = async (more: Partial<SuiteOptions> = {}): Promise<readonly string[]> =>
      (await runSuite({ ...options, cache, ...more })).results.map(shortOf);
    expect(await again()).toEqual(['a with 1 passed', 'b with 1 passed']);
    expect(await again()).toEqual(['a with 1 passed cached', 'b with 1 passed cached']);
    expect(await again({ cases: [evalCase('a'), evalCase('b', { input: 'something else' })] })).toEqual([
      'a with 1 passed cached',
      'b with 1 passed',
    ]);
    writeFileSync(path.join(root, 'skills/letters/more.md'), 'more');
    expect(await again()).toEqual(['a with 1 passed', 'b with 1 passed']);
    const checker = path.join(root, 'check.sh');
    writeFileSync(checker, 'exit 0');
    const checked = evalCase('a', {
      expect: { trigger: false, output: [{ type: 'checker', script: checker, arguments: [] }] },
    });
    expect(await again({ cases: [checked] })).toEqual(['a with 1 failed']);
    expect(await again({ cases: [checked] })).toEqual(['a with 1 failed cached']);
    writeFileSync(checker, 'exit 1');
    expect(await again({ cases: [checked] })).toEqual(['a with 1 failed']);
    const torn = evalCase('a', { answers: { type: 'script', turns: [LOAD, LOAD, { text: 'x' }, { text: 'left' }] } });
    expect(await again({ cases: [torn] })).toEqual(['a with 1 error']);
    expect(await again({ cases: [torn] })).toEqual(['a with 1 error']);
  });

  test('resumes after an interruption and keeps finished results', async () => {
    const { options } = setUp();
    const interrupt = new AbortController();
    const cases = Array.from({ length: 6 }, (_, place) => evalCase(`case-${String(place)}`));
    const first = await runSuite({
      ...options,
      cases,
      concurrency: 1,
      signal: interrupt.signal,
      onProgress: ({ done }) => {
        if (done === 2) interrupt.abort();
      },
    });
    expect([first.results.map(shortOf), first.isPartial]).toEqual([
      ['case-0 with 1 passed', 'case-1 with 1 passed'],
      true,
    ]);
    const file = path.join(options.directory, 'results.jsonl');
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"key":"torn`);
    const second = await runSuite({ ...options, cases, resume: true });
    expect(second.results.map(shortOf)).toEqual(
      cases.map(({ id }, place) => `${id} with 1 passed${place < 2 ? ' cached' : ''}`),
    );
  });

  test('reports model failures and mismatched scripts as errors with a reason, and timeouts as failures', async () => {
    const { options } = setUp();
    const script = (turns: readonly unknown[]) => ({ answers: { type: 'script', turns } }) as const;
    const { answers: _none, ...nobody } = evalCase('nobody');
    const { results } = await runSuite({
      ...options,
      cases: [
        evalCase('hangs', { timeoutMs: 50, ...script([{ text: 'late', delayMs: 60_000 }]) }),
        evalCase('breaks', script([{ error: { message: 'the server is on fire' } }])),
        evalCase('too-many', script([LOAD, { text: 'done' }, { text: 'never asked' }])),
        evalCase('no-script', script([{ nonsense: 1 }])),
        nobody,
        evalCase('cassette', { answers: { type: 'cassette', file: '/nowhere/a.jsonl' } }),
        evalCase('file', { files: ['/nowhere/a.csv'] }),
        evalCase('config', { config: { policy: { deny: 5 } } }),
      ],
    });
    expect(results.map(({ case: id, status, reason }) => [id, status, reason.split('\n')[0]])).toEqual([
      ['hangs', 'failed', ''],
      ['breaks', 'error', 'the model failed: the server is on fire'],
      ['too-many', 'error', expect.stringContaining('1 of 3 turns were not requested')],
      ['no-script', 'error', expect.stringContaining('turns[0]')],
      ['nobody', 'skipped', 'no model: the case has no mock and no cassette; pass --model to run it'],
      ['cassette', 'error', expect.stringContaining('/nowhere/a.jsonl')],
      ['file', 'error', 'cannot copy the file a.csv into the project: ENOENT'],
      ['config', 'error', expect.stringContaining('"policy.deny" must be a list')],
    ]);
  });

  test('reports progress', async () => {
    const { options } = setUp();
    const told: string[] = [];
    await runSuite({
      ...options,
      concurrency: 1,
      onProgress: ({ done, total, counts, last }) =>
        void told.push(`${String(done)}/${String(total)} ${last.case} ${String(counts.passed)}`),
    });
    expect(told).toEqual(['1/2 a 1', '2/2 b 2']);
  });

  test('hides the cases of a skill from it, and a new case does not change its digest', async () => {
    const { options, root } = setUp();
    const before = await runSuite(options);
    mkdirSync(path.join(root, 'skills/tables/evals'));
    writeFileSync(
      path.join(root, 'skills/tables/evals/evals.json'),
      '[{"prompt": "x", "expected_output": "the secret answer"}]',
    );
    const after = await runSuite(options);
    expect(after.sets.map(({ digest }) => digest)).toEqual(before.sets.map(({ digest }) => digest));
    const text = readFileSync(path.join(after.results[0]?.run ?? '', 'events.jsonl'), 'utf8');
    expect([text.includes('evals.json'), text.includes('the secret answer')]).toEqual([false, false]);
  });

  test('gives the copy of a skill the source of its folder, which the run records', async () => {
    const { options, folders } = setUp();
    const [tables = '', letters = ''] = folders;
    const sources = new Map([
      [tables, 'user'],
      [letters, 'project'],
    ]);
    const { results, sets } = await runSuite({
      ...options,
      cases: [evalCase('a')],
      sourceOf: (folder) => sources.get(folder),
    });
    const [set = expect.fail('no set'), ...others] = sets;
    expect(others).toEqual([]);
    expect(set.roots).toEqual(['project', 'user'].map((source) => ({ source, path: path.join(set.folder, source) })));
    const events = readFileSync(path.join(results[0]?.run ?? '', 'events.jsonl'), 'utf8');
    expect(/"type":"activation","skill":"([^"@]*)/.exec(events)?.[1]).toBe('user/tables');
  });

  test('rejects two skills with one folder name', async () => {
    const { options, root, folders } = setUp();
    mkdirSync(path.join(root, 'other'));
    writeSkill(path.join(root, 'other/tables'), { description: 'Another one. Use it never.' });
    const foldersFor = (): readonly string[] => [...folders, path.join(root, 'other/tables')];
    await expect(runSuite({ ...options, arms: [{ arm: 'with', foldersFor }] })).rejects.toThrow(
      'two skill folders have the name "tables"',
    );
  });
});
