/** Files that programs leave: none is lost without a word, and every printed command works. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import { needs } from '../needs.ts';
import { atTerminal } from './pseudo-terminal.ts';
import { SHARED_CACHE, runCli, skillText, spawnCli, writeFiles, type CliResult } from './run-cli.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

/** A project with a skill whose script does what its first argument says. */
function world(code: string): string {
  const cwd = scratch();
  writeFiles(cwd, {
    'home/.agents/skills/maker/SKILL.md': skillText('maker', 'Makes files.'),
    'home/.agents/skills/maker/scripts/make.mjs': `import { existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';\n${code}\n`,
    'data.csv': 'a,b\n1,2\n',
  });
  return cwd;
}

const exec = (cwd: string, ...more: readonly string[]): Promise<CliResult> =>
  runCli(cwd, ['exec', 'maker', 'make.mjs', '--executor', 'local', '--yes', '--in', 'data.csv', ...more]);

/** Runs a printed command line in a shell in which `skillwright` is this build. */
function paste(cwd: string, line: string): string {
  const shell = `skillwright() { ${JSON.stringify(process.execPath)} ${JSON.stringify(COMMAND)} "$@"; }\n${line}`;
  const env = { PATH: process.env['PATH'] ?? '', HOME: path.join(cwd, 'home'), ...SHARED_CACHE };
  return execFileSync('/bin/sh', ['-c', shell], { cwd, env, encoding: 'utf8' });
}

const printedCommand = ({ err }: CliResult): string => /(?:copy with|repeat): (.*)/.exec(err)?.[1] ?? '';

describe('exec without --out', () => {
  verifies('CLI-1', 'keeps what is in out/ and beside the inputs, and prints the command that copies it', async () => {
    const cwd = world(
      "mkdirSync('out/deep', { recursive: true }); writeFileSync('out/a b.txt', 'one'); writeFileSync('out/deep/ö.txt', 'two'); writeFileSync('inputs/clean.csv', 'a'); writeFileSync('inputs/data.csv', 'b');",
    );
    const ran = await exec(cwd);
    expect(ran.status).toBe(0);
    expect(ran.err).toContain('kept in the record: 4 files (a b.txt, deep/ö.txt, inputs/clean.csv, inputs/data.csv)');
    expect(ran.err).not.toContain('workspace://');
    expect(existsSync(path.join(cwd, 'out'))).toBe(false);
    paste(cwd, printedCommand(ran));
    const copied = readdirSync(path.join(cwd, 'out'), { recursive: true });
    expect(copied.map(String).toSorted()).toEqual([
      'a b.txt',
      'deep',
      'deep/ö.txt',
      'inputs',
      'inputs/clean.csv',
      'inputs/data.csv',
    ]);
    expect(readFileSync(path.join(cwd, 'out/inputs/data.csv'), 'utf8')).toBe('b');
    expect(readFileSync(path.join(cwd, 'data.csv'), 'utf8')).toBe('a,b\n1,2\n');
    // A second copy replaces nothing that differs.
    writeFileSync(path.join(cwd, 'out/a b.txt'), 'mine');
    expect(() => paste(cwd, printedCommand(ran))).toThrow(/it exists and has other content/);
    expect(readFileSync(path.join(cwd, 'out/a b.txt'), 'utf8')).toBe('mine');
    expect(await runCli(cwd, ['runs', 'verify'])).toMatchObject({ status: 0 });
  });

  test.each([
    ['fails', "writeFileSync('out/a.txt', 'x'); process.exit(3);", [], 'exit code 3'],
    ['is killed', "writeFileSync('out/a.txt', 'x'); process.kill(process.pid, 'SIGKILL');", [], 'stopped: '],
    [
      'times out',
      "writeFileSync('out/a.txt', 'x'); setInterval(() => {}, 1e6);",
      ['--timeout', '1'],
      'stopped: timeout',
    ],
  ])('keeps the files of a program that %s', async (_, code, more, expected) => {
    const ran = await exec(world(code), ...more);
    expect(ran).toMatchObject({ status: 1, err: expect.stringContaining(expected) });
    expect(ran.err).toContain('kept in the record: 1 file (a.txt)');
  });

  test('names each file that it cannot keep, with the reason', async () => {
    const ran = await exec(
      world(
        "writeFileSync('out/a\\nb', 'x'); symlinkSync('/etc/hosts', 'out/link'); writeFileSync('out/good.txt', 'x');",
      ),
    );
    expect(ran.err).toContain('kept in the record: 1 file (good.txt)');
    expect(ran.err).toContain('not kept or copied: out/a\\nb (not every system allows the name: ');
    expect(ran.err).toContain('not kept or copied: out/link (links are not followed)');
  });

  test('gives a changed input another name than a file of out/ that has the name of its folder', async () => {
    const cwd = world(
      "writeFileSync('out/inputs', 'file'); writeFileSync('out/work', 'file'); writeFileSync('inputs/data.csv', 'b');",
    );
    const ran = await exec(cwd);
    expect(ran.err).toContain('kept in the record: 3 files (inputs, work, work-2/inputs/data.csv)');
    paste(cwd, printedCommand(ran));
    expect(readFileSync(path.join(cwd, 'out/work-2/inputs/data.csv'), 'utf8')).toBe('b');
  });

  test('keeps more files than a model is told about', async () => {
    const ran = await exec(world("for (let n = 0; n < 150; n += 1) writeFileSync('out/' + n, String(n));"));
    expect(ran.err).toContain('kept in the record: 150 files (0, 1, 10, 100, 101, and 145 more)');
    expect(ran.err).not.toContain('not collected');
  });

  test('without a record, prints the command that repeats it with --out', async () => {
    const cwd = world("writeFileSync('out/a.txt', 'x');");
    const ran = await exec(cwd, '--set', 'runs.enabled=false');
    expect(ran.err).toContain('not kept, because the run is not recorded: 1 file (a.txt)');
    paste(cwd, printedCommand(ran));
    expect(readFileSync(path.join(cwd, 'out/a.txt'), 'utf8')).toBe('x');
  });

  test('finds the record again with --cwd and another folder for records', async () => {
    const cwd = world("writeFileSync('out/a.txt', 'x');");
    mkdirSync(path.join(cwd, 'sub dir'));
    writeFileSync(path.join(cwd, 'sub dir/data.csv'), '');
    const ran = await exec(cwd, '--cwd', 'sub dir', '--set', 'runs.directory=records here');
    expect(printedCommand(ran)).toContain("--cwd 'sub dir'");
    paste(cwd, printedCommand(ran));
    expect(readdirSync(path.join(cwd, 'sub dir/out'))).toEqual(['a.txt']);
  });

  test('--json has the files and the command', async () => {
    const ran = await exec(world("writeFileSync('out/a.txt', 'x');"), '--json');
    expect(JSON.parse(ran.out)).toMatchObject({
      copied: [],
      kept: [{ name: 'a.txt', bytes: 1 }],
      fetch: expect.stringMatching(/^skillwright runs files \S+ --out out$/),
    });
  });

  test('two at once keep their own files', async () => {
    const cwd = world("writeFileSync('out/a.txt', process.argv[2]);");
    const words = ['exec', 'maker', 'make.mjs', '--executor', 'local', '--yes', '--'];
    const both = await Promise.all(['one', 'two'].map((word) => spawnCli(cwd, [...words, word])));
    for (const [at, ran] of both.entries()) {
      const line = printedCommand(ran).replace('--out out', `--out out${String(at)}`);
      paste(cwd, line);
      expect(readFileSync(path.join(cwd, `out${String(at)}/a.txt`), 'utf8')).toBe(['one', 'two'][at]);
    }
  });
});

test('files that --out cannot copy are kept, and the error says why they were not copied', async () => {
  const cwd = world("writeFileSync('out/a.txt', 'x');");
  writeFileSync(path.join(cwd, 'taken'), 'a file');
  const ran = await exec(cwd, '--out', 'taken');
  expect(ran.status).toBe(1);
  expect(ran.err).toContain('the files cannot be written to');
  paste(cwd, printedCommand(ran));
  expect(readFileSync(path.join(cwd, 'out/a.txt'), 'utf8')).toBe('x');
});

test('a record that can no longer keep the files: the end of the program is shown, and how to get them', async () => {
  const cwd = world(
    "writeFileSync('out/a.txt', 'x'); while (!existsSync(process.argv[2])) await new Promise((go) => setTimeout(go, 20));",
  );
  // Another user may run the program, who sees only this folder.
  const open = scratch();
  chmodSync(open, 0o755);
  const running = exec(cwd, '--', path.join(open, 'go'));
  const runs = path.join(cwd, '.agent/runs');
  const find = (): string | undefined =>
    existsSync(runs) ? readdirSync(runs).find((name) => existsSync(path.join(runs, name, 'run.json'))) : undefined;
  await vi.waitUntil(() => find() !== undefined, { timeout: 30_000 });
  writeFileSync(path.join(runs, find() ?? '', 'artifacts'), '');
  writeFileSync(path.join(open, 'go'), '');
  const ran = await running;
  expect(ran.status).toBe(1);
  expect(ran.err).toContain('exit code 0 after');
  expect(ran.err).toContain('error: the program ran, but 1 file (a.txt) could not be kept: cannot record the run in');
  expect(ran.err).toContain('repeat the command with --out out');
  expect(ran.err).not.toContain('not performed');
});

test('--out copies what it can, and the error names what it cannot', async () => {
  const cwd = world(
    "writeFileSync('out/a.txt', 'x'); writeFileSync('out/linked', 'y'); linkSync('out/linked', 'out/other');",
  );
  const ran = await exec(cwd, '--out', 'results');
  expect([ran.status, readdirSync(path.join(cwd, 'results'))]).toEqual([1, ['a.txt']]);
  expect(ran.err).toContain('not kept or copied: out/linked (the file has further hard links)');
  expect(ran.err).toContain(
    'not all files were copied to results: out/linked was left out (the file has further hard links), and 1 more',
  );
});

test('run keeps the files of its programs and prints the command that copies them', async () => {
  const cwd = world("writeFileSync('out/a.txt', 'x');");
  const turns = [
    { toolCalls: [{ name: 'run_script', input: { skill: 'maker', script: 'make.mjs' } }] },
    { text: 'Done.' },
  ];
  writeFiles(cwd, {
    'model.json': JSON.stringify({ turns }),
    'home/.agent/config.json': JSON.stringify({ policy: { allow: ['run_script', 'unsafe_local'] } }),
  });
  const ran = await runCli(cwd, [
    'run',
    'Make it',
    '--model',
    'scripted:model.json',
    '--executor',
    'local',
    '--yes',
    '--in',
    'data.csv',
  ]);
  expect([ran.status, ran.err], ran.out).toEqual([0, expect.stringContaining('kept in the record: 1 file (a.txt)')]);
  expect(ran.err).not.toContain('workspace://');
  paste(cwd, printedCommand(ran));
  expect(readFileSync(path.join(cwd, 'out/a.txt'), 'utf8')).toBe('x');
});

describe('at a terminal', needs('python3 with pty'), () => {
  const WORDS: readonly string[] = [process.execPath, COMMAND, 'exec', 'maker', 'make.mjs', '--executor', 'local'];

  test.each([
    ['y', ['out', 'out-2'], 'wrote out-2/a.txt'],
    ['n', ['out'], 'kept in the record: 1 file (a.txt)'],
  ])('asks before it writes to a folder in which nothing is replaced, and obeys %s', async (key, folders, expected) => {
    const cwd = world("writeFileSync('out/a.txt', 'x');");
    writeFiles(cwd, {
      'out/a.txt': 'mine',
      'home/.agent/config.json': JSON.stringify({ policy: { allow: ['run_script', 'unsafe_local'] } }),
    });
    const { text } = await atTerminal(WORDS, [{ until: 'Save 1 file' }, { seconds: 0.6 }, { keys: key }], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: path.join(cwd, 'home'), ...SHARED_CACHE },
    });
    expect(text).toContain('to out-2?');
    expect(text).toContain(expected);
    expect(readdirSync(cwd).filter((name) => name.startsWith('out'))).toEqual(folders);
    expect(readFileSync(path.join(cwd, 'out/a.txt'), 'utf8')).toBe('mine');
  });
});
