import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createRuntime, type Runtime } from '../src/runtime/runtime.ts';
import { FILES, benchTurns, ourRun } from './agent-turns.ts';
import { median } from './median.ts';
import { usedHeap } from './heap.ts';
import type { BenchRow } from './row.ts';

const RUNS = 1_000;
/** Runs before memory is looked at for the first time: caches are full and code is compiled. */
const WARM_RUNS = 200;
const PROCESSES = 9;
const MOST_BYTES_A_RUN = 2_048;

/** What a turn costs beside the model; what runs leave in memory; what the rule model adds to a script. */
export async function benchAgent({
  project,
  workDir,
}: {
  readonly project: string;
  readonly workDir: string;
}): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'agent');
  const runtime = await openProject(folder);
  return [...(await benchTurns(runtime)), await benchMemory(runtime, folder), ...benchRules(project, folder)];
}

async function openProject(folder: string): Promise<Runtime> {
  const skill = path.join(folder, 'skills/notes');
  mkdirSync(path.join(skill, 'references'), { recursive: true });
  writeFileSync(
    path.join(skill, 'SKILL.md'),
    '---\nname: notes\ndescription: Keeps notes. Use it when notes are asked for.\n---\n\n# Notes\n\nRead them.\n',
  );
  for (let place = 0; place < FILES; place += 1)
    writeFileSync(path.join(skill, `references/${String(place)}.md`), `# Note ${String(place)}\n\nShort.\n`);
  const home = path.join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const roots = [path.join(folder, 'skills')];
  return createRuntime({ cwd: folder, home, env: {}, roots, onlyRoots: true, cache: false });
}

async function benchMemory(runtime: Runtime, folder: string): Promise<BenchRow> {
  let before = 0;
  for (let run = 0; run < WARM_RUNS + RUNS; run += 1) {
    if (run === WARM_RUNS) before = usedHeap();
    await ourRun(runtime, 1);
    if (run % 100 === 0) rmSync(path.join(folder, '.agent/runs'), { recursive: true, force: true });
  }
  const value = (usedHeap() - before) / RUNS;
  return {
    name: 'memory kept for each of 1,000 runs of two turns',
    value: Math.max(0, value),
    unit: 'bytes',
    bound: `<= ${String(MOST_BYTES_A_RUN)}`,
    ok: value <= MOST_BYTES_A_RUN,
  };
}

/** From the shell: the script alone, and a request that ends up running it, in a sandbox. */
function benchRules(project: string, folder: string): readonly BenchRow[] {
  const table = path.join(project, 'skills/csv-report/evals/files/orders.csv');
  const env = { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') };
  const start = (words: readonly string[]): number => {
    const began = performance.now();
    execFileSync(process.execPath, [...words], { cwd: folder, env, stdio: 'ignore', timeout: 60_000 });
    return performance.now() - began;
  };
  const script = [path.join(project, 'skills/csv-report/scripts/report.mjs'), table, '--format', 'md'];
  const request = ['run', 'What is in this CSV file?', '--in', table, '--model', 'rules', '--yes'];
  const alone: number[] = [];
  const asked: number[] = [];
  for (let round = -1; round < PROCESSES; round += 1) {
    const times = [start(script), start([path.join(project, 'dist/command/skillwright.js'), ...request])] as const;
    if (round < 0) continue;
    alone.push(times[0]);
    asked.push(times[1]);
  }
  const ratio = median(asked) / median(alone);
  return [
    { name: 'csv-report on 12 rows, the script alone', value: median(alone), unit: 'ms' },
    {
      name: 'run --model rules that ends up running it, over that',
      value: ratio,
      unit: 'x',
      bound: '<= 3',
      ok: ratio <= 3,
      note: `${median(asked).toFixed(0)} ms`,
    },
  ];
}
