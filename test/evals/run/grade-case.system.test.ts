import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EvalCase, Expectations } from '../../../src/evals/cases/case.ts';
import type { CaseResult } from '../../../src/evals/report/result.ts';
import { regrade } from '../../../src/evals/grade/regrade.ts';
import { runSuite } from '../../../src/evals/run/run-suite.ts';
import { localExecutor } from '../../../src/sandbox/executors/local.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { call, load, makeCase, script, thinking } from '../eval-world.ts';
import type { SuiteModel } from '../../../src/evals/run/case-model.ts';
import { gradeRuns, storedRuns } from '../../../src/evals/project/stored.ts';

/** Longer than the recorded excerpt of a file, so that its content must be kept. */
const LONG =
  'printf "start\\n" > "$OUTPUT_DIR/long.txt"; yes row | head -n 60000 >> "$OUTPUT_DIR/long.txt"; echo needle >> "$OUTPUT_DIR/long.txt"';

function setUp() {
  const root = scratch();
  const skill = path.join(root, 'skills/tables');
  writeSkill(skill, { description: 'Works on tables. Use it for tables.' });
  mkdirSync(path.join(skill, 'scripts'));
  writeFileSync(path.join(skill, 'scripts/long.sh'), `#!/bin/sh\n${LONG}\n`, { mode: 0o755 });
  const checker = (name: string, text: string): string => {
    const file = path.join(root, name);
    writeFileSync(file, text);
    return file;
  };
  const run = (cases: readonly EvalCase[], model?: SuiteModel) =>
    runSuite({
      cases,
      model,
      arms: [{ arm: 'with', foldersFor: () => [skill] }],
      concurrency: 2,
      timeoutMs: 120_000,
      directory: path.join(root, 'evals'),
      executor: localExecutor(),
      grading: { checkerMs: 3000, outputs: path.join(root, 'evals/outputs') },
      signal: new AbortController().signal,
    });
  return { root, run, checker };
}

const LOAD = call('load_skill', { skill: 'tables' });
const MAKING = { skill: 'tables', script: 'scripts/long.sh', args: [], outputs: { globs: ['out/*'] } };
const MAKE = call('run_script', MAKING);

const made = (id: string, expected: Expectations): EvalCase =>
  makeCase(id, { expect: expected, approve: 'yes', ...script(LOAD, MAKE, { text: 'made' }) });

const checkLines = ({ case: id, status, checks }: CaseResult): readonly string[] => [
  `${id}: ${status}`,
  ...checks.map((check) => `${check.id} ${check.status}${check.found === '' ? '' : ` ${check.found}`}`),
];

describe('a case with file checks', () => {
  verifies('EVAL-5', 'is graded from the record and the output files, also later', async () => {
    const { root, run } = setUp();
    const cases = [
      made('has', { output: [{ type: 'file', path: 'out/*.txt', contains: 'needle' }] }),
      made('lacks', { output: [{ type: 'file', path: 'out/*.txt', contains: 'straw' }] }),
    ];
    const { results } = await run(cases);
    expect(results.map(({ status, reason }) => [status, reason])).toEqual([
      ['passed', ''],
      ['failed', ''],
    ]);
    expect(readdirSync(path.join(root, 'evals/outputs'))).toHaveLength(2);
    const again = await regrade(storedRuns(path.join(root, 'evals'), cases), cases);
    expect(again.map(({ case: id, status }) => `${id} ${status}`).toSorted()).toEqual(['has passed', 'lacks failed']);
  });

  test('is incomplete if records are missing, and names them', async () => {
    const { root, run } = setUp();
    const says = (id: string) =>
      makeCase(id, { expect: { output: [{ type: 'contains', text: 'made' }] }, ...script({ text: 'made' }) });
    await run([says('one'), says('two')]);
    const file = path.join(root, 'cases.json');
    const cases = ['one', 'two', 'three'].map((id) => ({
      id,
      input: `work on ${id}`,
      expect: { output: { contains: 'made' } },
    }));
    writeFileSync(file, JSON.stringify({ cases }));
    const grade = async (...runs: readonly string[]) => {
      const outcome = await gradeRuns({
        cwd: root,
        runs,
        caseFiles: [file],
        thresholds: {},
        settings: undefined,
        signal: new AbortController().signal,
        onProblems: () => false,
        onProgress: () => undefined,
      });
      return [outcome?.verdict, outcome?.reasons];
    };
    expect(await grade('evals')).toEqual(['incomplete', ['1 attempt without a record: three']]);
    const stored = storedRuns(path.join(root, 'evals'), []);
    const [one = '', two = ''] = ['one', 'two'].map((id) => stored.find((run) => run.case === id)?.folder ?? '');
    expect(await grade(path.relative(root, one))).toEqual(['incomplete', ['2 attempts without a record: two, three']]);
    rmSync(two, { recursive: true });
    expect(await grade('evals')).toEqual(['incomplete', ['2 attempts without a record: two, three']]);
    writeFileSync(file, JSON.stringify({ cases: cases.slice(0, 1) }));
    expect(await grade(one)).toEqual(['passed', []]);
    // An answer to another request says nothing about this one.
    writeFileSync(file, JSON.stringify({ cases: [{ ...cases[0], input: 'do something else' }] }));
    expect(await grade(one)).toEqual([
      'invalid',
      ['no case has a verdict', '1 case ended with an error; the limit is 0'],
    ]);
  });

  test('runs checkers over the workspace and the project: exit 0 passes, 1 fails, others are errors', async () => {
    const { run, checker } = setUp();
    const by = (id: string, text: string): EvalCase =>
      made(id, { output: [{ type: 'checker', script: checker(`${id}.sh`, text), arguments: ['needle'] }] });
    const { results } = await run([
      by('good', 'grep -q "$1" out/long.txt && test -d "$PROJECT_DIR"'),
      by('bad', 'echo "no such thing"; exit 1'),
      by('unsure', 'exit 7'),
      by('hangs', 'sleep 60'),
    ]);
    expect(results.map(checkLines)).toEqual([
      ['good: passed', 'output[0] passed'],
      ['bad: failed', 'output[0] failed exit 1: "no such thing"'],
      ['unsure: error', 'output[0] error exit 7'],
      ['hangs: error', 'output[0] error the checker timed out'],
    ]);
  });

  verifies('EVAL-14', 'has no verdict if its checkers, the only evidence, pass where nothing was done', async () => {
    const { run, checker } = setUp();
    const by = (id: string, text: string, more: Expectations = {}): EvalCase =>
      makeCase(id, {
        expect: { output: [{ type: 'checker', script: checker(`${id}.sh`, text), arguments: [] }], ...more },
        approve: 'yes',
      });
    const model = thinking((_asked, turn) => {
      if (turn === 0) return load('tables');
      return turn === 1 ? { calls: [['run_script', MAKING]] } : { text: 'made' };
    });
    const { results } = await run(
      [by('idle', 'exit 0'), by('useful', 'test -e out/long.txt || exit 1'), by('guards', 'exit 0', { trigger: true })],
      model,
    );
    expect(results.map(({ case: id, status, reason }) => [id, status, reason])).toEqual([
      ['idle', 'error', 'the checkers also pass if nothing is done: check what the task has to change'],
      ['useful', 'passed', ''],
      ['guards', 'passed', ''],
    ]);
  });

  test('compares the stream with the answer', async () => {
    const { run } = setUp();
    const { results } = await run([
      makeCase('streams', { expect: { streaming: true }, ...script(LOAD, { text: 'all of it' }) }),
    ]);
    expect(results.map(checkLines)).toEqual([['streams: passed', 'streaming passed']]);
  });
});
