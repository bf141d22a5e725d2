import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const RUNS = 25;
const SKILLS = 20;

/** Measures the start-up time of the command as a ratio to an empty Node process. Runs are interleaved, so that noise affects all alike. */
export function benchStart(projectDir: string): readonly BenchRow[] {
  const home = mkdtempSync(path.join(os.tmpdir(), 'skillwright-bench-'));
  try {
    for (let place = 0; place < SKILLS; place += 1) {
      const directory = path.join(home, '.agents/skills', `skill-${String(place)}`);
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        path.join(directory, 'SKILL.md'),
        `---\nname: skill-${String(place)}\ndescription: Does the work number ${String(place)}. Use when it is asked for.\n---\n\n# Body\n`,
      );
    }
    const bin = path.join(projectDir, 'dist/command/skillwright.js');
    const commands = {
      nothing: ['-e', '0'],
      version: [bin, '--version'],
      list: [bin, 'list'],
      listJson: [bin, 'list', '--json'],
      listCold: [bin, 'list', '--json', '--no-cache'],
    };
    const times: Record<keyof typeof commands, number[]> = {
      nothing: [],
      version: [],
      list: [],
      listJson: [],
      listCold: [],
    };
    const env = { PATH: process.env['PATH'] ?? '', HOME: home };
    for (let run = 0; run <= RUNS; run += 1) {
      for (const name of ['nothing', 'version', 'list', 'listJson', 'listCold'] as const) {
        const started = process.hrtime.bigint();
        execFileSync(process.execPath, commands[name], { env, cwd: home, stdio: 'ignore', timeout: 60_000 });
        if (run > 0) times[name].push(Number(process.hrtime.bigint() - started) / 1e6);
      }
    }
    const base = median(times.nothing);
    const ratio = (name: string, values: readonly number[], bound: number): BenchRow => {
      const value = median(values) / base;
      return {
        name,
        value,
        unit: 'x node -e 0',
        bound: `<= ${String(bound)}`,
        ok: value <= bound,
        note: `${median(values).toFixed(1)} ms`,
      };
    };
    return [
      { name: 'node -e 0', value: base, unit: 'ms' },
      ratio('skillwright --version', times.version, 1.3),
      ratio(`skillwright list of ${String(SKILLS)} skills and the built-in ones`, times.list, 1.8),
      ratio('the same with --json', times.listJson, 1.8),
      // The cost of a first run, without index cache and compiled code; it has no bound.
      { name: 'the same without a cache', value: median(times.listCold) / base, unit: 'x node -e 0' },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
