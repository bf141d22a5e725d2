import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { makeSkills } from './make-skills.ts';
import { median } from './median.ts';
import { installPeer } from './peers.ts';
import type { BenchRow } from './row.ts';

export interface BenchListingOptions {
  readonly project: string;
  readonly dataDir: string | undefined;
  readonly peersDir: string;
  readonly workDir: string;
}

const SKILLS = 6_700;
const RUNS = 7;

/** Lists and searches thousands of installed skills, with their lock and, in a project, their trust, beside `openskills list`. */
export function benchListing({ project, dataDir, peersDir, workDir }: BenchListingOptions): readonly BenchRow[] {
  const bin = path.join(project, 'dist/command/skillwright.js');
  const peer = path.join(installPeer(peersDir, 'openskills@1.5.0'), 'node_modules/openskills/dist/cli.js');
  const source = path.join(workDir, 'listing-source');
  makeSkills({ directory: source, count: SKILLS, dataDir });
  const scopes = ['user', 'project'].map((scope) => {
    const home = path.join(workDir, `listing-${scope}`);
    const cwd = scope === 'user' ? home : path.join(home, 'work');
    mkdirSync(path.join(cwd, '.git'), { recursive: true });
    const run = (file: string, args: readonly string[]): void => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: home };
      execFileSync(process.execPath, [file, ...args], { cwd, env, stdio: 'ignore', timeout: 900_000 });
    };
    run(bin, ['install', source, '--scope', scope, '--yes', '--offline']);
    mkdirSync(path.join(cwd, '.claude'));
    symlinkSync('../.agents/skills', path.join(cwd, '.claude/skills'));
    return { scope, run };
  });
  return scopes.flatMap(({ scope, run }) => {
    const times = { peer: [] as number[], list: [] as number[], search: [] as number[] };
    for (let round = 0; round <= RUNS; round += 1) {
      const measure = (kind: keyof typeof times, file: string, args: readonly string[]): void => {
        const started = process.hrtime.bigint();
        run(file, args);
        if (round > 0) times[kind].push(Number(process.hrtime.bigint() - started) / 1e6);
      };
      measure('peer', peer, ['list']);
      measure('list', bin, ['list']);
      measure('search', bin, ['search', 'deploy', 'to', 'kubernetes']);
    }
    const among = `${SKILLS.toLocaleString('en')} skills of the ${scope}`;
    const base = median(times.peer);
    const row = (name: string, values: readonly number[], bound: number): BenchRow => ({
      name: `${name} ${among}`,
      value: median(values) / base,
      unit: 'x openskills',
      bound: `<= ${String(bound)}`,
      ok: median(values) / base <= bound,
      note: `${median(values).toFixed(0)} ms`,
    });
    return [
      { name: `openskills list of ${among}`, value: base, unit: 'ms' },
      // Skills of a project are compared with what was trusted, file by file; openskills compares nothing.
      row('list', times.list, scope === 'user' ? 1 : 1.4),
      row('search', times.search, 1),
    ];
  });
}
