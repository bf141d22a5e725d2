import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { runAgent } from '../src/agent/agent.ts';
import type { EvalCase } from '../src/evals/cases/case.ts';
import { runSuite } from '../src/evals/run/run-suite.ts';
import { openScript } from '../src/model/scripted/scripted-file.ts';
import { createRuntime } from '../src/runtime/runtime.ts';
import { usedHeap } from './heap.ts';
import type { BenchRow } from './row.ts';

const CASES = 1_000;
const IN_TURN = 100;
const AT_ONCE = 4;
const MOST_TIMES = 2;
/** Growth of the heap from the first hundred cases to the last, of which results themselves are a part. */
const MOST_GROWTH_MIB = 48;

const TURNS = [{ toolCalls: [{ name: 'load_skill', input: { skill: 'notes' } }] }, { text: 'All notes are read.' }];

/** Two-turn cases on the scripted model: graded, kept and isolated, against the same runs alone. */
export async function benchEvalSuite({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'eval-suite');
  const skill = path.join(folder, 'skills/notes');
  for (const made of [skill, path.join(folder, 'home'), path.join(folder, 'project')])
    mkdirSync(made, { recursive: true });
  const head = '---\nname: notes\ndescription: Keeps notes. Use it when notes are asked for.\n---\n';
  writeFileSync(path.join(skill, 'SKILL.md'), `${head}\n# Notes\n\n${'Read all of them. '.repeat(200)}\n`);
  await bareRuns(folder, 0, AT_ONCE * 5);
  const heap: number[] = [];
  let [passed, bare, suite] = [0, 0, 0];
  // In turns: the disk of a busy machine is not the same from one minute to the next.
  for (let start = 0; start < CASES; start += IN_TURN) {
    bare += await timed(() => bareRuns(folder, start, IN_TURN));
    suite += await timed(async () => {
      passed += await suiteRuns(folder, skill, start);
    });
    heap.push(usedHeap());
  }
  const growth = ((heap.at(-1) ?? 0) - (heap[0] ?? 0)) / 2 ** 20;
  return [
    {
      name: `a suite of ${String(CASES)} scripted cases, against the bare runs`,
      value: suite / bare,
      unit: 'x',
      bound: `<= ${String(MOST_TIMES)}`,
      ok: suite / bare <= MOST_TIMES && passed === CASES,
      note: `${String(passed)} passed; ${suite.toFixed(0)} ms against ${bare.toFixed(0)} ms`,
    },
    {
      name: 'heap from the first 100 cases to the last',
      value: growth,
      unit: 'MiB',
      bound: `< ${String(MOST_GROWTH_MIB)}`,
      ok: growth < MOST_GROWTH_MIB,
      note: heap.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(' '),
    },
  ];
}

async function timed(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** How many passed. */
async function suiteRuns(folder: string, skill: string, start: number): Promise<number> {
  const { results } = await runSuite({
    cases: Array.from({ length: IN_TURN }, (_, place) => caseAt(start + place)),
    arms: [{ arm: 'with', foldersFor: () => [skill] }],
    concurrency: AT_ONCE,
    timeoutMs: 60_000,
    directory: path.join(folder, 'evals'),
    cache: path.join(folder, 'cache'),
    signal: new AbortController().signal,
  });
  return results.filter(({ status }) => status === 'passed').length;
}

async function bareRuns(folder: string, start: number, count: number): Promise<void> {
  const runtime = await createRuntime({
    cwd: path.join(folder, 'project'),
    home: path.join(folder, 'home'),
    env: {},
    roots: [path.join(folder, 'skills')],
    onlyRoots: true,
    cache: false,
  });
  let next = start;
  const work = async (): Promise<void> => {
    while (next < start + count) {
      const { input } = caseAt(next++);
      const model = openScript({ turns: TURNS }, 'bench');
      await runAgent({ runtime, model, request: input, run: { directory: path.join(folder, 'bare') } });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function caseAt(place: number): EvalCase {
  return {
    id: `case-${String(place)}`,
    name: `case ${String(place)}`,
    place: { file: 'evals/cases.yaml', line: place + 1, column: 1 },
    input: `read my notes, number ${String(place)}`,
    files: [],
    skills: { target: 'notes', folders: [] },
    expect: {
      trigger: true,
      disclosure: { unloadedBytes: 0 },
      outcome: ['done'],
      output: [{ type: 'contains', text: 'notes' }],
    },
    limits: { turns: 4 },
    forbidTools: ['run_*'],
    answers: { type: 'script', turns: TURNS },
    approve: 'no',
    repeat: 1,
    tags: [],
  };
}
