import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { runAgent } from '../src/agent/agent.ts';
import type { EvalCase } from '../src/evals/cases/case.ts';
import type { Model } from '../src/core/model.ts';
import { regrade, type StoredRun } from '../src/evals/grade/regrade.ts';
import { createRuntime } from '../src/runtime/runtime.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const RUNS = 1_000;
const MOST_MS = 5_000;
const ROUNDS = 3;

/** Stored runs of two turns, verified, read and graded again by every kind of check that needs no program. */
export async function benchRegrade({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'regrade');
  const run = await recordRun(folder);
  const runs = Array.from({ length: RUNS }, (_, place): StoredRun => {
    const copy = path.join(folder, 'runs', String(place), path.basename(run));
    mkdirSync(path.dirname(copy), { recursive: true });
    cpSync(run, copy, { recursive: true });
    return { folder: copy, case: CASE.id, arm: 'with', attempt: place + 1, way: 'scripted' };
  });
  const times: number[] = [];
  let passed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const results = await regrade(runs, [CASE]);
    times.push(performance.now() - start);
    passed = results.filter(({ status }) => status === 'passed').length;
  }
  const value = median(times);
  return [
    {
      name: `grade ${String(RUNS)} stored runs again`,
      value,
      unit: 'ms',
      bound: `< ${String(MOST_MS)}`,
      ok: value < MOST_MS && passed === RUNS,
      note: `${String(passed)} passed`,
    },
  ];
}

const CASE: EvalCase = {
  id: 'notes',
  name: 'notes',
  place: { file: 'evals/cases.yaml', line: 1, column: 1 },
  input: 'read my notes',
  files: [],
  skills: { target: 'notes', folders: [] },
  expect: {
    trigger: true,
    skills: { only: ['notes'] },
    actions: { ordered: [{ tool: 'load_skill', arguments: { skill: '/^notes$/' } }], forbid: [{ tool: 'write_file' }] },
    disclosure: { resourcesOnly: [], unloadedBytes: 0 },
    security: { noEscape: true },
    outcome: ['done'],
    output: [{ type: 'matches', pattern: '^All notes .* read\\.$' }],
  },
  limits: { turns: 4, toolCalls: 2 },
  forbidTools: ['run_*'],
  approve: 'no',
  repeat: 1,
  tags: [],
};

async function recordRun(folder: string): Promise<string> {
  const skill = path.join(folder, 'skills/notes');
  const home = path.join(folder, 'home');
  for (const made of [skill, home]) mkdirSync(made, { recursive: true });
  const head = '---\nname: notes\ndescription: Keeps notes. Use it when notes are asked for.\n---\n';
  writeFileSync(path.join(skill, 'SKILL.md'), `${head}\n# Notes\n\n${'Read all of them. '.repeat(200)}\n`);
  const roots = [path.join(folder, 'skills')];
  const runtime = await createRuntime({ cwd: folder, home, env: {}, roots, onlyRoots: true, cache: false });
  const { path: run } = await runAgent({ runtime, request: CASE.input, model: twoTurns() });
  if (run === undefined) throw new TypeError('the run was not recorded');
  return run;
}

function twoTurns(): Model {
  let turn = 0;
  return {
    id: 'bench',
    call() {
      turn += 1;
      const toolCalls = turn === 1 ? [{ id: 'call-1', name: 'load_skill', input: '{"skill": "notes"}' }] : [];
      const text = turn === 1 ? '' : 'All notes are read.';
      return Promise.resolve({ text, toolCalls, finish: 'stop', usage: {}, retries: 0 });
    },
  };
}
