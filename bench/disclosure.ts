import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { estimateTokens } from '../src/core/tokens.ts';
import { createRuntime, type Runtime } from '../src/runtime/runtime.ts';
import { openSkillTools } from '../src/packs/open-runtime.ts';
import { makeSkills, makeOneSkill } from './make-skills.ts';
import { median } from './median.ts';
import { collectGarbage } from './heap.ts';
import type { BenchRow } from './row.ts';

export interface BenchDisclosureOptions {
  readonly project: string;
  readonly dataDir: string | undefined;
  readonly workDir: string;
}

const BODY = 40_000;
const LOADS = 1_000;
const ROUNDS = 25;
const IMPORTS = 9;

/** What showing skills costs: a load against a bare read, memory over many loads, tokens at rest, and the import of the door. */
export async function benchDisclosure({ project, dataDir, workDir }: BenchDisclosureOptions): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  rows.push(...(await benchLoad(workDir)));
  rows.push(...(await benchRest(workDir, dataDir)));
  rows.push(benchImport(project));
  return rows;
}

async function benchLoad(workDir: string): Promise<readonly BenchRow[]> {
  const directory = path.join(workDir, 'one');
  const file = makeOneSkill({ directory, name: 'long', bodyBytes: BODY - 200 });
  const runtime = await runtimeOver(directory);
  const load = async (): Promise<void> => {
    const observation = await runtime.perform({ type: 'load_skill', skill: 'long' });
    if (observation.type !== 'skill-loaded' || observation.text.length < BODY / 2)
      throw new Error(JSON.stringify(observation).slice(0, 200));
  };
  const read = async (): Promise<void> => void (await readFile(file, 'utf8'));
  const readSync = async (): Promise<void> => void readFileSync(file, 'utf8');
  for (const warm of [load, read, readSync]) await repeat(warm, 300);
  const times = { load: [] as number[], read: [] as number[], readSync: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.load.push(await repeat(load, 200));
    times.read.push(await repeat(read, 200));
    times.readSync.push(await repeat(readSync, 200));
  }
  // Round by round: what other processes take away, they take from neighbours alike.
  const ratio = median(times.load.map((time, place) => time / (times.read[place] ?? time)));

  const session = await runtime.startSession();
  const memory: number[] = [];
  for (const count of [LOADS, LOADS, LOADS]) {
    for (let number = 0; number < count; number += 1) await session.perform({ type: 'load_skill', skill: 'long' });
    collectGarbage();
    memory.push(process.memoryUsage().heapUsed);
  }
  const growth = ((memory[2] ?? 0) - (memory[1] ?? 0)) / LOADS;
  return [
    {
      name: 'load of a 40 kB body against fs.promises.readFile',
      value: ratio,
      unit: 'x readFile',
      bound: '<= 1.3',
      ok: ratio <= 1.3,
      note: `${micro(median(times.load))} against ${micro(median(times.read))}, best ${micro(Math.min(...times.load))} and ${micro(Math.min(...times.read))}; readFileSync ${micro(median(times.readSync))}`,
    },
    {
      name: 'memory kept for each of a thousand more loads in one session',
      value: growth,
      unit: 'bytes',
      bound: '<= 2048',
      ok: growth <= 2048,
      note: 'its events; the text has 40,000',
    },
  ];
}

async function benchRest(workDir: string, dataDir: string | undefined): Promise<readonly BenchRow[]> {
  const directory = path.join(workDir, 'two-thousand');
  makeSkills({ directory, count: 2_000, dataDir });
  const runtime = await runtimeOver(directory);
  const search = await openSkillTools({ runtime, catalog: 'search' });
  const listed = await openSkillTools({ runtime, catalog: { budget: 4_000 } });
  const tokens = estimateTokens(search.instructions);
  return [
    {
      name: 'resident text of 2,000 skills in search mode',
      value: tokens,
      unit: 'tokens',
      bound: '<= 300',
      ok: tokens <= 300,
      note: `${String(search.session.index.skills.length)} skills; tools as JSON ${String(estimateTokens(JSON.stringify(search.anthropic)))} more`,
    },
    { name: 'the same, listed under a budget of 4,000', value: estimateTokens(listed.instructions), unit: 'tokens' },
  ];
}

/** Importing `skillwright/tools` against importing zod, each in fresh processes. */
function benchImport(project: string): BenchRow {
  const measure = (module: string): number => {
    const text = `const start = performance.now(); await import(${JSON.stringify(module)}); console.log(performance.now() - start);`;
    return Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', text], { cwd: project, encoding: 'utf8' }),
    );
  };
  const tools: number[] = [];
  const zod: number[] = [];
  for (let round = 0; round < IMPORTS; round += 1) {
    tools.push(measure('skillwright/tools'));
    zod.push(measure('zod'));
  }
  const over = median(tools) - median(zod);
  return {
    name: 'import of skillwright/tools over that of zod',
    value: over,
    unit: 'ms',
    bound: '<= 60',
    ok: over <= 60,
    note: `${median(tools).toFixed(0)} ms against ${median(zod).toFixed(0)} ms`,
  };
}

function runtimeOver(directory: string): Promise<Runtime> {
  const only = { roots: [directory], onlyRoots: true, cache: false } as const;
  return createRuntime({ cwd: directory, home: undefined, env: {}, ...only });
}

async function repeat(act: () => Promise<void>, count: number): Promise<number> {
  const start = performance.now();
  for (let number = 0; number < count; number += 1) await act();
  return (performance.now() - start) / count;
}

function micro(milliseconds: number): string {
  return `${(milliseconds * 1000).toFixed(0)} µs`;
}
