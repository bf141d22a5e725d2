import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const RUNS = 25;
/** A request that runs a script takes longer, and its ratio is larger than the noise. */
const REQUESTS = 9;
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
    const { script, request } = requestTimes(bin, home, env);
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
      {
        name: 'skillwright run of a script of 20 ms beside the start of Node',
        value: request / script,
        unit: 'x the script',
        bound: '<= 4',
        ok: request / script <= 4,
        note: `${request.toFixed(0)} ms, the script ${script.toFixed(0)} ms`,
      },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A model from a file asks for one script, which the sandbox of this machine runs. The first run probes the sandbox and is not counted. */
function requestTimes(bin: string, home: string, env: NodeJS.ProcessEnv): { script: number; request: number } {
  const skill = path.join(home, '.agents/skills/greeting');
  const file = path.join(skill, 'scripts/greet.mjs');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(
    path.join(skill, 'SKILL.md'),
    '---\nname: greeting\ndescription: Prints a greeting. Use it for greetings.\n---\n\nRun scripts/greet.mjs.\n',
  );
  writeFileSync(file, "const end = Date.now() + 20;\nwhile (Date.now() < end);\nconsole.log('hello');\n");
  const cwd = mkdtempSync(path.join(os.tmpdir(), 'skillwright-bench-'));
  const toolCalls = [{ name: 'run_script', input: { skill: 'greeting', script: 'scripts/greet.mjs' } }];
  writeFileSync(path.join(cwd, 'model.json'), JSON.stringify({ turns: [{ toolCalls }, { text: 'Done.' }] }));
  const words = [bin, 'run', 'greet', '--model', 'scripted:model.json', '--skill', 'greeting', '--yes'];
  const commands = { script: [file], request: words } as const;
  const times: Record<keyof typeof commands, number[]> = { script: [], request: [] };
  try {
    for (let run = 0; run <= REQUESTS; run += 1)
      for (const name of ['script', 'request'] as const) {
        const started = process.hrtime.bigint();
        execFileSync(process.execPath, commands[name], { env, cwd, stdio: 'ignore', timeout: 60_000 });
        if (run > 0) times[name].push(Number(process.hrtime.bigint() - started) / 1e6);
      }
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  return { script: median(times.script), request: median(times.request) };
}
