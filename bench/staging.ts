import { execFileSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { Executor } from '../src/core/execution.ts';
import { openWorkspaces } from '../src/sandbox/workspace/workspace.ts';
import { removeTree } from '../src/platform/fs/remove-tree.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const FILES = 500;
const FILE_BYTES = 20 * 1024;
const ROUNDS = 21;

/** What it takes to bring a skill of 10 MB in 500 files into a workspace, against `cp -r` of the same files in the same moments. */
export async function benchStaging({ workDir }: { readonly workDir: string }): Promise<BenchRow[]> {
  const folder = path.join(workDir, 'staging');
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const dir = path.join(folder, 'large');
  const times = { copy: [] as number[], fresh: [] as number[], known: [] as number[], local: [] as number[] };
  const bases: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    makeLargeSkill(dir, round);
    // Files written within the last tick of the clock are not believed to stay as they are.
    await setTimeout(200);
    const base = path.join(folder, `base-${String(round)}`);
    const copy = path.join(folder, `copy-${String(round)}`);
    bases.push(base, copy);
    const workspaces = openWorkspaces({ base });
    const [first, second, third] = await Promise.all([
      workspaces.open('new', executor('bubblewrap')),
      workspaces.open('known', executor('bubblewrap')),
      workspaces.open('local', executor('local')),
    ]);
    const skill = { name: 'large', dir };
    const acts = {
      copy: async () => void execFileSync('cp', ['-r', dir, copy]),
      fresh: () => first.stage(skill),
      known: () => second.stage(skill),
      local: () => third.stage(skill),
    };
    // Neither has the advantage of coming second: what the first one left in memory helps the other.
    const order = round % 2 === 0 ? (['copy', 'fresh'] as const) : (['fresh', 'copy'] as const);
    for (const name of [...order, 'known', 'local'] as const) times[name].push(await elapsed(acts[name]));
    await workspaces.close();
  }
  for (const base of bases) await removeTree(base);
  const ratio = (name: 'fresh' | 'known' | 'local'): number =>
    median(times[name].map((time, round) => time / (times.copy[round] ?? time)));
  const note = (name: 'fresh' | 'known' | 'local'): string =>
    `${median(times[name]).toFixed(1)} ms against ${median(times.copy).toFixed(1)} ms`;
  return [
    {
      name: 'staging of a 10 MB skill of 500 files, digest known',
      value: ratio('known'),
      unit: 'x cp -r',
      bound: '<= 0.3',
      ok: ratio('known') <= 0.3,
      note: note('known'),
    },
    {
      name: 'the same, new: copied, hashed and put in place',
      value: ratio('fresh'),
      unit: 'x cp -r',
      bound: '<= 1.5',
      ok: ratio('fresh') <= 1.5,
      note: note('fresh'),
    },
    {
      name: 'the same for the local executor, which needs a copy',
      value: ratio('local'),
      unit: 'x cp -r',
      note: note('local'),
    },
  ];
}

/** Runs nothing: what is measured is the staging. */
function executor(name: 'bubblewrap' | 'local'): Executor {
  return {
    name,
    attach: async (place) => ({
      capabilities: {
        isolation: name === 'local' ? 'none' : 'bubblewrap',
        limits: {},
        hasNetworkGrants: false,
        hasInteraction: false,
        hasTerminal: false,
      },
      root: place.root,
      run: () => Promise.reject(new Error('nothing is run here')),
      detach: () => Promise.resolve(),
    }),
  };
}

/** Other bytes for another round; settled an hour ago, as installed skills are. */
function makeLargeSkill(dir: string, round: number): void {
  const then = Date.now() / 1000 - 3600;
  for (let number = 0; number < FILES; number += 1) {
    const file = path.join(dir, `folder-${String(number % 20)}`, `file-${String(number)}`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, Buffer.alloc(FILE_BYTES, `${String(round)} ${String(number)} `));
    utimesSync(file, then, then);
  }
}

async function elapsed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
