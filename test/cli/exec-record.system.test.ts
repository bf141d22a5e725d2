import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { openReceiver } from '../journal/otlp-receiver.ts';
import { EXECUTORS } from '../sandbox/sandbox.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { scratch } from '../skills/registry/support.ts';
import {
  HASHES,
  hits,
  surfacesBelow,
  surfacesOf,
  writeCanaryWorld,
  type CanaryWorld,
} from '../runtime/secrets/canary.ts';
import { runCli, type CliResult } from './run-cli.ts';
import { skipUnless } from '../needs.ts';

function run({ project, home, env, skills }: CanaryWorld, words: readonly string[]): Promise<CliResult> {
  return runCli(project, [...words, '--root', skills, '--only-root'], { HOME: home, ...env });
}

const runsOf = ({ project }: CanaryWorld): string => path.join(project, '.agent/runs');

describe.each(EXECUTORS)('exec in %s', (_title, executor) => {
  verifies(
    ['POL-4', 'CLI-1'],
    'gives a script its secrets and shows, keeps, sends and saves none of them',
    async () => {
      const receiver = await openReceiver();
      onTestFinished(() => receiver.close());
      const world = writeCanaryWorld(scratch(), receiver.endpoint);
      const exec = ['exec', 'canary', '--executor', executor, '--save'];
      const script = (way: string, ...more: readonly string[]): Promise<CliResult> =>
        // The flags of the world come before the arguments of the script.
        runCli(world.project, [...exec, 'leak.mjs', ...more, '--root', world.skills, '--only-root', '--', way], {
          HOME: world.home,
          ...world.env,
        });
      const results: CliResult[] = [
        await script('stdout'),
        await script('split'),
        await script('files', '--json'),
        await script('throws'),
        await script('coloured'),
        await script('coloured', '--json'),
        await run(world, [...exec, '--command', 'env; node scripts/leak.mjs stderr', '--json']),
      ];
      expect(results.map(({ status }) => status)).toEqual([0, 0, 0, 1, 0, 0, 0]);
      expect(results[0]?.out).toContain('[secret CANARY_TOKEN]');
      const shown = JSON.parse(results[2]?.out ?? '') as {
        readonly result: { readonly primary_output?: { readonly content: string } };
      };
      expect(JSON.parse(shown.result.primary_output?.content ?? '')).toEqual(HASHES);
      for (const words of [
        ['list'],
        ['list', '--json'],
        ['show', 'last'],
        ['show', 'last', '--json'],
        ['export', 'last'],
        ['tail', 'last'],
      ])
        results.push(await run(world, ['runs', ...words]));
      expect(listRuns(runsOf(world))).toHaveLength(7);
      expect(receiver.received.length).toBeGreaterThan(0);
      expect(
        hits([
          ...surfacesOf('cli', results),
          ...surfacesOf(
            'otlp',
            receiver.received.map(({ body, headers }) => ({ body, headers })),
          ),
          ...surfacesBelow(world.project),
          ...surfacesBelow(path.join(world.root, 'tmp')),
        ]),
      ).toEqual([]);
      expect(await run(world, ['runs', 'verify', '--all', '--require-seal'])).toMatchObject({ status: 0 });
    },
  );
});

/** A world without secrets in the way. */
function plainWorld(): CanaryWorld {
  const world = writeCanaryWorld(scratch());
  chmodSync(world.project, 0o777);
  return world;
}

test('a killed command is shown as interrupted, with everything recorded before', async () => {
  const world = plainWorld();
  const words = [
    'exec',
    'other',
    '--command',
    'echo started; sleep 2',
    '--executor',
    'local',
    '--root',
    world.skills,
    '--only-root',
  ];
  const child = spawn(process.execPath, [path.join(PROJECT, 'dist/command/skillwright.js'), ...words], {
    cwd: world.project,
    env: { PATH: process.env['PATH'], HOME: world.home, ...world.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((killed) => {
    child.stdout.once('data', () => child.kill('SIGKILL'));
    child.once('close', () => killed());
  });
  expect((await run(world, ['runs', 'list'])).out).toMatch(/^\S+ {2}killed {2}exec other /);
  const [listed] = listRuns(runsOf(world));
  expect(await run(world, ['runs', 'verify', 'last'])).toMatchObject({
    status: 4,
    out: `${listed?.id ?? ''}  torn, not sealed\n`,
  });
  const types = [...readRun(listed?.path ?? '').lines].map(({ event }) => event.type);
  expect(types).toEqual(expect.arrayContaining(['run-start', 'action', 'decision', 'skill-use']));
  expect(types).not.toContain('observation');
});

test(
  'a terminal that is closed ends the program and closes the record',
  skipUnless(process.platform !== 'win32', 'a system with POSIX files'),
  async () => {
    const folder = scratch();
    const bin = path.join(PROJECT, 'dist/command/skillwright.js');
    const words = ['exec', 'text-diff', 'echo $$; exec sleep 600', '--command', '--executor', 'local'];
    const child = spawn(process.execPath, [bin, ...words], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const program = await new Promise<number>((resolve) => child.stdout.once('data', (pid) => resolve(Number(pid))));
    const ended = new Promise<readonly unknown[]>((resolve) => child.on('close', (...end) => resolve(end)));
    // The system and the shell both tell of it.
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    expect(await ended).toEqual([130, null]);
    expect(() => process.kill(program, 0)).toThrow('ESRCH');
    const [only] = listRuns(path.join(folder, '.agent/runs'));
    expect(readRun(only?.path ?? '').info.outcome).toBe('cancelled');
  },
);

test('a reader of the output that goes away leaves no program behind', async () => {
  const folder = scratch();
  const bin = path.join(PROJECT, 'dist/command/skillwright.js');
  const words = [
    'exec',
    'text-diff',
    'echo $$; sleep 0.5; echo more; exec sleep 600',
    '--command',
    '--executor',
    'local',
  ];
  const child = spawn(process.execPath, [bin, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const program = await new Promise<number>((resolve) => child.stdout.once('data', (pid) => resolve(Number(pid))));
  child.stdout.destroy();
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
  await expect.poll(() => existsSync(`/proc/${String(program)}`)).toBe(false);
});

test('where the disk is full nothing is run: exit 1, and the reason', async () => {
  const world = plainWorld();
  const disk = path.join(world.root, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    console.log('skipped: a file system cannot be mounted here');
    return;
  }
  onTestFinished(() => void execFileSync('umount', [disk]));
  const mark = path.join(world.project, 'mark');
  const words = [
    'exec',
    'other',
    '--command',
    `touch ${mark}`,
    '--executor',
    'local',
    '--set',
    `runs.directory=${disk}/runs`,
  ];
  expect(await run(world, words)).toMatchObject({ status: 0 });
  expect(existsSync(mark)).toBe(true);
  // The runs are found where they were recorded.
  expect((await run(world, ['runs', 'verify', 'last', '--set', `runs.directory=${disk}/runs`])).status).toBe(0);
  execFileSync('rm', [mark]);
  expect(() => writeFileSync(path.join(disk, 'filler'), Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC');
  const { status, err } = await run(world, words);
  expect([status, existsSync(mark)]).toEqual([1, false]);
  expect(err).toMatch(/^error: cannot record the run in ".*\/disk\/runs": ENOSPC\nhint: check the free disk space/);
});

test.each(['.agent/runs', '.agent'])('runs behind a link at %s are refused before anything is done', async (link) => {
  const world = plainWorld();
  mkdirSync(path.dirname(path.join(world.project, link)), { recursive: true });
  mkdirSync(path.join(world.root, 'elsewhere'));
  symlinkSync(path.join(world.root, 'elsewhere'), path.join(world.project, link));
  const mark = path.join(world.project, 'mark');
  const { status, err } = await run(world, ['exec', 'other', '--command', `touch ${mark}`, '--executor', 'local']);
  expect([status, existsSync(mark), readdirSync(path.join(world.root, 'elsewhere'))]).toEqual([1, false, []]);
  expect(err).toContain('is a symbolic link');
});

test('what a rule refuses ends with 3, is not done, and is in the record with the rule', async () => {
  const world = plainWorld();
  const words = [
    'call',
    'write_file',
    '{"path": "new.txt", "content": "x"}',
    '--vocabulary',
    'skills-agent',
    '--set',
    'policy.deny=["write_file"]',
  ];
  const { status } = await run(world, words);
  expect([status, existsSync(path.join(world.project, 'new.txt'))]).toEqual([3, false]);
  const { info, lines } = readRun(listRuns(runsOf(world))[0]?.path ?? '');
  expect(info).toMatchObject({ outcome: 'refused' });
  const decisions = [...lines].flatMap(({ event }) => (event.type === 'decision' ? [event.decision] : []));
  expect(decisions).toMatchObject([{ effect: 'deny', rule: 'write_file', origin: { layer: 'option' } }]);
});
