/** What differs in trpc-agent-go's workspace: where commands may write, what of their output is shown, which inputs are brought in. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import type { RunResult } from '../../src/core/outputs.ts';
import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import { runtimeOver } from '../runtime/support.ts';
import { knownExecutor } from '../sandbox/known-executor.ts';
import { SANDBOXES } from '../sandbox/sandbox.ts';
import { needs } from '../needs.ts';
import { scratch } from '../skills/registry/support.ts';
import { write } from './skills-agent-place.ts';

type Run = (input: { readonly command: string } & Readonly<Record<string, unknown>>) => Promise<RunResult>;

async function open(execution: SkillToolsOptions['execution']): Promise<Run> {
  const root = path.join(scratch(), 'skills');
  write(root, 'demo-skill/SKILL.md', '---\nname: demo-skill\ndescription: Writes files.\n---\n\n# Demo\n');
  write(root, 'demo-skill/USAGE.md', 'Use it.\n');
  const { call, session } = await openSkillTools({ vocabulary: 'trpc', runtime: await runtimeOver(root), execution });
  onTestFinished(() => session.close());
  return async (input) => (await call('skill_run', { skill: 'demo-skill', ...input })).value as RunResult;
}

const isRoot = process.getuid?.() === 0;

/** Prints the names of the places where a command could write. */
const TRY = ['WORKSPACE_DIR', 'SKILLS_DIR', 'SKILL_DIR', 'WORK_DIR', 'OUTPUT_DIR', 'RUN_DIR', 'HOME']
  .map((name) => `(echo new > "$${name}/new.txt") 2>/dev/null && echo ${name}`)
  .join('; ');
const OWN = ['WORK_DIR', 'OUTPUT_DIR', 'RUN_DIR', 'HOME'];

describe('where a command writes', () => {
  test.each(SANDBOXES.map(([name]) => name))(
    '%s: not beside out/, work/, runs/ and its HOME, but into a copy of its skill',
    async (name) => {
      const run = await open({ executor: knownExecutor(name), artifacts: false });
      const first = await run({ command: `${TRY}; echo more >> SKILL.md; rm USAGE.md`, output_files: ['out/**'] });
      expect(first.stdout.trim().split('\n')).toEqual(['SKILL_DIR', ...OWN]);
      expect(first.output_files.map((file) => file.name)).toEqual(['out/new.txt']);
      expect(first.warnings).toContain(
        'changed in a copy of demo-skill that is discarded: USAGE.md, SKILL.md, new.txt; write to $OUTPUT_DIR to keep files',
      );
      expect((await run({ command: 'ls; tail -n 1 SKILL.md' })).stdout).toBe(
        'SKILL.md\nUSAGE.md\ninputs\nout\nwork\n# Demo\n',
      );
    },
  );

  test('landlock: not into its skill either', needs('landlock'), async () => {
    const run = await open({ executor: knownExecutor('landlock'), artifacts: false });
    expect((await run({ command: TRY })).stdout.trim().split('\n')).toEqual(OWN);
  });

  test('local: as the user may; a staged skill belongs to the user, and for root to root', async () => {
    const run = await open({ executor: 'local', artifacts: false });
    const everywhere = ['WORKSPACE_DIR', 'SKILLS_DIR', 'SKILL_DIR', ...OWN];
    expect((await run({ command: TRY })).stdout.trim().split('\n')).toEqual(isRoot ? OWN : everywhere);
    expect((await run({ command: 'ls' })).stdout.includes('new.txt')).toBe(!isRoot);
  });
});

describe('output', () => {
  test('stdout and stderr come without control and invisible characters and up to 16 KiB; stdout_ref names every byte', async () => {
    const run = await open({ executor: 'local', artifacts: false });
    const result = await run({
      command: String.raw`printf 'a\033[31mred\033[0m\xe2\x80\x8bb\r\n10\r20\r\n'; printf 'err\007\n' >&2`,
      outputs: { globs: ['runs/run-1/std*.txt'], inline: true },
    });
    expect([result.stdout, result.stderr, result.stdout_ref]).toEqual([
      'aredb\n10\n20\n',
      'err\n',
      'workspace://runs/run-1/stdout.txt',
    ]);
    expect(result.output_files.map((file) => file.content)).toEqual([
      'err\u0007\n',
      'a\u001b[31mred\u001b[0m\u200bb\r\n10\r20\r\n',
    ]);
    const long = await run({ command: 'seq 1 20000', output_files: ['runs/run-2/stdout.txt'] });
    expect([long.stdout.startsWith('1\n2\n'), long.stdout.endsWith('19999\n20000\n')]).toEqual([true, true]);
    expect(Buffer.from(long.stdout).length).toBeLessThan(17 * 1024);
    expect(long.warnings).toContain('stdout truncated');
    expect(long.output_files.map((file) => file.size_bytes)).toEqual([108_894]);
  });

  test('a pattern collects hidden files and folders; without a pattern they are not listed', async () => {
    const run = await open({ executor: 'local', artifacts: false });
    const command = 'mkdir -p out/.cache && echo 1 > out/.cache/a.txt; echo 2 > out/.env; echo 3 > out/b.txt';
    const names = ({ output_files: files }: RunResult): readonly string[] => files.map((file) => file.name);
    expect(names(await run({ command }))).toEqual(['out/b.txt']);
    const all = ['out/.cache/a.txt', 'out/.env', 'out/b.txt'];
    expect(names(await run({ command: 'true', outputs: { globs: ['$OUTPUT_DIR/**'] } }))).toEqual(all);
    expect(names(await run({ command: 'true', output_files: ['out/*'] }))).toEqual(all.slice(1));
  });
});

test('host://abs/path with two slashes is the absolute path', async () => {
  const folder = scratch();
  const run = await open({ executor: 'local', artifacts: false, hostInputs: [folder] });
  mkdirSync(path.join(folder, 'data'));
  writeFileSync(path.join(folder, 'data/orders.csv'), 'a,b\n');
  const from = `host:/${folder}/data/orders.csv`;
  expect(from).toMatch(/^host:\/\/[^/]/);
  expect((await run({ command: 'cat inputs/orders.csv', inputs: [{ from }] })).stdout).toBe('a,b\n');
});

test('a number beyond its range is refused, and 0 is the default', async () => {
  const run = await open({ executor: 'local', artifacts: false });
  for (const [input, range] of [
    [{ timeout: 86_401 }, '"timeout" must be a whole number from 0 to 86400, not 86401'],
    [{ timeout: 1.5 }, '"timeout" must be a whole number from 0 to 86400, not 1.5'],
    [
      { outputs: { globs: ['out/*'], max_files: 10_001 } },
      '"outputs.max_files" must be a whole number from 0 to 10000',
    ],
  ] as const)
    expect(await run({ command: 'true', ...input })).toContain(range);
  const limits = { max_files: 0, max_file_bytes: 0, max_total_bytes: 0 };
  const outputs = { globs: ['out/*'], inline: true, ...limits };
  const { output_files: files } = await run({ command: 'echo 1 > out/a.txt; echo 2 > out/b.txt', timeout: 0, outputs });
  expect(files.map((file) => file.content)).toEqual(['1\n', '2\n']);
});

test('a program has an environment of its own, limits, and a network only with local', needs('linux'), async () => {
  vi.stubEnv('CANARY_API_KEY', 'canary');
  onTestFinished(() => void vi.unstubAllEnvs());
  const command = 'echo "$CANARY_API_KEY$GIVEN"; ulimit -f; ls /sys/class/net 2>/dev/null | grep -c -v "^lo$"; true';
  const here = String(readdirSync('/sys/class/net').filter((device) => device !== 'lo').length);
  for (const name of ['local', ...SANDBOXES.map(([sandbox]) => sandbox)] as const) {
    const run = await open({ executor: knownExecutor(name), artifacts: false });
    const { stdout } = await run({ command, env: { GIVEN: 'given' } });
    const [environment, size, devices] = stdout.split('\n');
    expect([name, environment, size, devices]).toEqual([name, 'given', '65536', name === 'local' ? here : '0']);
  }
});
