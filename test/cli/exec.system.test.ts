import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { cli, spawnCli, writeFiles } from './run-cli.ts';
import { needs } from '../needs.ts';

const executor = ['--executor', 'local'];

verifies(
  ['CLI-1', 'EXEC-6'],
  'exec runs a script of a built-in skill, shows its output and brings its files back',
  async () => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'sales.csv'), 'a,b\n1,2\n3,4\n');
    const words = ['exec', 'csv-report', 'report.mjs', '--in', 'sales.csv', '--out', 'report', ...executor];
    const { status, out, err } = await spawnCli(folder, [...words, '--', 'inputs/sales.csv', '--out', 'out']);
    expect([status, out]).toEqual([0, 'sales.csv: rows: 2, columns: 2, notes: 0\nwrote: report.md, report.json\n']);
    expect(err).toMatch(/exit code 0 after .* not isolated/);
    expect(JSON.parse(readFileSync(path.join(folder, 'report/report.json'), 'utf8'))).toMatchObject({ rows: 2 });
  },
);

test('exec gives one JSON value, and its exit status says how the script ended', async () => {
  const folder = scratch();
  const shown = await cli(folder, ['exec', 'text-diff', 'exit 3', '--command', '--json', ...executor]);
  expect(shown.status).toBe(1);
  expect(JSON.parse(shown.out)).toMatchObject({
    schema: 1,
    result: { exit_code: 3, reason: 'exited', isolation: 'none' },
  });
});

test('exec of what allowed-tools leaves out is refused with the flag that allows it', async () => {
  const folder = scratch();
  writeFiles(folder, {
    '.agent/skills/reader/SKILL.md': '---\nname: reader\ndescription: Reads.\nallowed-tools: Read\n---\nRead.\n',
    '.agent/skills/reader/scripts/a.sh': '#!/bin/sh\necho ran\n',
  });
  const words = ['exec', 'reader', 'a.sh', '--trust-project', '--yes', ...executor];
  const refused = await cli(folder, words);
  const flag = /add (--set \S+)/.exec(refused.err)?.[1] ?? '';
  expect([refused.status, refused.out, flag]).toEqual([3, '', '--set policy.allowed_tools=ignore']);
  const allowed = await cli(folder, [...words, ...flag.split(' ')]);
  expect([allowed.status, allowed.out]).toEqual([0, 'ran\n']);
});

test('exec without a script lists what can be run, with the first line of its own description', async () => {
  const folder = scratch();
  writeFiles(folder, {
    '.agent/skills/tools/SKILL.md': '---\nname: tools\ndescription: Has tools.\n---\nUse them.\n',
    '.agent/skills/tools/scripts/a.py':
      '#!/usr/bin/env python3\n# Copyright 2026 Someone\n"""\nCounts words.\n\nMore.\n"""\n',
    '.agent/skills/tools/scripts/b.sh': '#!/bin/sh\nset -e\n# Packs \u001B[31mthings.\n',
    '.agent/skills/tools/lib/c.mjs': '/**\n * Draws a chart.\n */\n',
    '.agent/skills/tools/scripts/test_d.test.mjs': '// A test.\n',
    '.agent/skills/tools/scripts/node_modules/e.js': '// A library.\n',
    '.agent/skills/tools/scripts/data.json': '{}\n',
  });
  const { status, out, err } = await cli(folder, ['exec', 'tools']);
  expect([status, out]).toEqual([
    0,
    'scripts/a.py  Counts words.\nscripts/b.sh  Packs things.\nlib/c.mjs     Draws a chart.\n',
  ]);
  expect(err).toContain('3 scripts; run one: skillwright exec tools SCRIPT -- --help');
  const json = await cli(folder, ['exec', 'tools', '--json']);
  expect(JSON.parse(json.out)).toMatchObject({
    skill: 'tools',
    scripts: [{ path: 'scripts/a.py', about: 'Counts words.' }, {}, {}],
  });
  const unknown = await cli(folder, ['exec', 'tolls']);
  expect([unknown.status, unknown.err]).toEqual([1, expect.stringContaining('did you mean')]);
});

test.each([
  [['exec', 'text-diff', 'dif.mjs'], 1, 'did you mean scripts/diff.mjs?'],
  [['exec', 'text-dif', 'diff.mjs'], 1, 'did you mean text-diff?'],
  [['exec', 'text-diff', 'diff.mjs', '--env', 'NOVALUE'], 2, 'write --env NAME=VALUE'],
  [['exec', 'text-diff', 'diff.mjs', '--env', 'LD_PRELOAD=/x'], 1, 'LD_PRELOAD'],
  [['exec', 'text-diff', 'diff.mjs', '--timeout', 'soon'], 2, '--timeout'],
  [['exec', 'text-diff', 'diff.mjs', '--in', 'nothing.txt'], 1, 'nothing.txt'],
])('%j ends with status %d and says what to do', async (words, expected, hint) => {
  const { status, err } = await cli(scratch(), [...words, ...executor]);
  expect(status).toBe(expected);
  expect(err).toContain(hint);
});

test('--in means a file that is there whole, and a folder by the name that it has', async () => {
  const folder = scratch();
  writeFiles(folder, { 'year=2024/part.csv': 'a', 'sales.csv': 'b' });
  const inputs = async (cwd: string, ...files: readonly string[]): Promise<string> => {
    const given = files.flatMap((file) => ['--in', file]);
    const shown = await cli(cwd, [
      'exec',
      'text-diff',
      'cd inputs; find . -name "*.csv" | sort',
      '--command',
      ...given,
      ...executor,
    ]);
    return shown.out;
  };
  expect(await inputs(folder, 'year=2024/part.csv', 'sales.csv=other.csv')).toBe('./other.csv\n./part.csv\n');
  expect(await inputs(path.join(folder, 'year=2024'), '.')).toBe('./year=2024/part.csv\n');
});

test('limits that are lower than ours already are no reason not to run', needs('bubblewrap'), () => {
  const folder = scratch();
  const exec = `${process.execPath} ${path.join(PROJECT, 'dist/command/skillwright.js')} exec --executor bubblewrap --command text-diff`;
  const script = `ulimit -n 300; ulimit -t 25; ${exec} 'ulimit -n; ulimit -t; ulimit -c'`;
  const { status, stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', timeout: 170_000 });
  expect([status, stdout]).toEqual([0, '300\n25\n0\n']);
});

test('a folder for temporary files may have a long path, or none that can be used', needs('bubblewrap'), async () => {
  const folder = scratch();
  const long = path.join(folder, 'l'.repeat(100));
  mkdirSync(long);
  if (process.getuid?.() === 0) for (const each of [folder, long]) chmodSync(each, 0o755);
  const words = ['exec', 'text-diff', 'echo done', '--command', '--executor', 'bubblewrap'];
  expect(await spawnCli(folder, words, { TMPDIR: long })).toMatchObject({ status: 0, out: 'done\n' });
  const granted = await spawnCli(folder, [...words, '--allow', 'example.org'], { TMPDIR: long });
  expect([granted.status, granted.err]).toEqual([1, expect.stringContaining('is too long: the limit is')]);
  expect(granted.err).toContain('hint: use a workspace folder with a shorter path');
  expect(await spawnCli(folder, words, { TMPDIR: '' })).toMatchObject({ status: 0, out: 'done\n' });
  writeFileSync(path.join(folder, 'file'), '');
  const none = { TMPDIR: path.join(folder, 'file'), HOME: path.join(folder, 'other'), SKILLWRIGHT_CACHE_DIR: '' };
  const refused = await spawnCli(folder, words, none);
  expect(refused).toMatchObject({ status: 4, out: '' });
  expect(refused.err).toContain('hint: set TMPDIR to a writable folder with free space');
  expect(await spawnCli(folder, ['demo'], none)).toMatchObject({
    status: 1,
    err: `error: cannot create a folder in "${none.TMPDIR}": ENOTDIR\nhint: set TMPDIR to a writable folder\n`,
  });
});

test('where nothing isolates, exec refuses with status 4 and the command that would help', async () => {
  const folder = scratch();
  const words = ['exec', 'text-diff', 'diff.mjs', '--executor', 'container'];
  const { status, err } = await spawnCli(folder, words, { DOCKER_HOST: `unix://${folder}/none.sock` });
  expect(status).toBe(4);
  expect(err).toContain('container');
});

test('doctor examines the engine that exec would use', async () => {
  const folder = scratch();
  const socket = `unix://${folder}/mine.sock`;
  const { out } = await spawnCli(folder, ['doctor', '--json'], { DOCKER_HOST: socket });
  const { findings } = JSON.parse(out);
  const container = findings.find(({ name }: { name: string }) => name === 'executor container');
  expect(container.detail).toContain(socket);
});
