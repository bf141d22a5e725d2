import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { localExecutor } from '../../../src/sandbox/executors/local.ts';
import { verifies } from '../../conformance/verifies.ts';
import { keeping, oddSeconds, processesWith } from '../process/programs.ts';
import { runAsOrdinaryUser, runModule, scratch } from '../../skills/registry/support.ts';
import { emptyWorkspace, runLine, specOf } from '../local-workspace.ts';
import { needs } from '../../needs.ts';
import { programEnvironment } from '../../../src/sandbox/process/program-environment.ts';

const executor = localExecutor();

async function attached() {
  const root = emptyWorkspace(executor);
  return { root, workspace: await executor.attach({ id: 'w', root, skills: [] }) };
}

const exited = (exitCode: number, stdout = '', stderr = ''): object => ({
  reason: 'exited',
  exitCode,
  warnings: [],
  stdout,
  stderr,
});

verifies('EXEC-7', 'the local executor says that it isolates nothing', async () => {
  const { workspace, root } = await attached();
  expect(workspace.capabilities).toEqual({
    isolation: 'none',
    limits: {
      wallMs: 'runtime',
      outputBytes: 'runtime',
      diskBytes: 'watched',
      files: 'watched',
      memoryBytes: 'watched',
      processes: 'watched',
      fileBytes: 'rlimit',
    },
    hasNetworkGrants: false,
    hasInteraction: true,
    hasTerminal: true,
  });
  expect(workspace.root).toBe(root);
});

test('a program runs in the workspace, with input, a folder and an environment', async () => {
  const { workspace, root } = await attached();
  expect(
    await runLine(workspace, 'cat; pwd; echo "$A"; exit 3', { stdin: 'in\n', env: { PATH: '/usr/bin:/bin', A: 'b' } }),
  ).toEqual(exited(3, `in\n${root}/work\nb\n`));
  expect((await runLine(workspace, 'pwd', { cwd: '.' })).stdout).toBe(`${root}\n`);
  expect(await runLine(workspace, 'echo x > made; ls -A ../out inputs', {})).toEqual(exited(0, '../out:\n\ninputs:\n'));
  expect(readFileSync(path.join(root, 'work/made'), 'utf8')).toBe('x\n');
});

test('programs of root run as the user nobody', needs('root'), async () => {
  const { workspace, root } = await attached();
  expect((await runLine(workspace, 'id -u; id -g; id -G; touch mine; cat /etc/shadow')).stdout).toBe(
    '65534\n65534\n65534\n',
  );
  expect(statSync(path.join(root, 'work/mine')).uid).toBe(65_534);
});

test('a working directory outside the workspace, behind a link or missing is rejected before the start', async () => {
  const { workspace, root } = await attached();
  symlinkSync('/etc', path.join(root, 'work', 'leaves'));
  symlinkSync('../../out', path.join(root, 'work', 'inputs', 'stays'));
  for (const cwd of ['..', '/', '/etc', 'work/../..', 'work/leaves', 'work/missing', 'work/\0'])
    await expect(runLine(workspace, 'touch /tmp/never', { cwd })).rejects.toMatchObject({ code: 'input/invalid' });
  expect((await runLine(workspace, 'pwd', { cwd: 'work/inputs/stays' })).stdout).toBe(`${root}/out\n`);
});

test('a folder without the workspace folders is not attached', async () => {
  const root = emptyWorkspace(executor);
  rmSync(path.join(root, 'out'), { recursive: true });
  const place = { id: 'w', root, skills: [] };
  await expect(executor.attach(place)).rejects.toMatchObject({ code: 'workspace/invalid' });
  await expect(executor.attach({ ...place, root: path.join(root, 'no') })).rejects.toMatchObject({
    code: 'workspace/invalid',
  });
});

describe('limits', () => {
  const ended = (reason: string): object => ({ reason, signal: 'SIGKILL', stdout: '' });

  verifies(
    'EXEC-8',
    'memory is limited for all processes together',
    async () => {
      const { workspace } = await attached();
      const one = `python3 -c 'import time; x = bytearray(300 << 20); print(end="", flush=True); time.sleep(60)'`;
      const limits = { memoryBytes: 200 << 20 };
      expect(await runLine(workspace, one, { limits })).toMatchObject(ended('memory'));
      const many = `for i in 1 2 3 4; do python3 -c 'import time; x = bytearray(80 << 20); time.sleep(60)' & done; wait`;
      expect(await runLine(workspace, many, { limits })).toMatchObject(ended('memory'));
    },
    needs('python3'),
  );

  test('memory that processes share since a fork counts once', needs('python3'), async () => {
    const { workspace } = await attached();
    const program = `import os, time
x = bytearray(b"x") * (100 << 20)
for _ in range(5):
    if os.fork() == 0:
        time.sleep(0.7)
        os._exit(0)
for _ in range(5):
    os.wait()
print("shared")`;
    const limits = { memoryBytes: 250 << 20 };
    expect(await runLine(workspace, `python3 - <<'END'\n${program}\nEND`, { limits })).toEqual(exited(0, 'shared\n'));
  });

  verifies('EXEC-8', 'the number of processes is limited, in whatever sessions they are', async () => {
    const { workspace } = await attached();
    const seconds = oddSeconds();
    const line = `for i in $(seq 40); do setsid sleep ${seconds} & done; wait`;
    expect(await runLine(workspace, line, { limits: { processes: 20 } })).toMatchObject(ended('processes'));
    expect(processesWith(seconds)).toEqual([]);
  });

  verifies('EXEC-8', 'a program that forks without end is ended, all of it', async () => {
    const { workspace } = await attached();
    const seconds = oddSeconds();
    const bomb = `(while :; do setsid sleep ${seconds} & done) & while :; do sleep ${seconds} & done`;
    expect((await runLine(workspace, bomb, { limits: { processes: 16, wallMs: 20_000 } })).reason).toBe('processes');
    expect(processesWith(seconds)).toEqual([]);
  });

  verifies('EXEC-8', 'one file is limited by the kernel, all of them by looking', async () => {
    const { workspace, root } = await attached();
    const limits = { fileBytes: 1 << 20, diskBytes: 8 << 20, files: 50 };
    const big = await runLine(workspace, 'exec head -c 3000000 /dev/zero > big', { limits });
    expect(big).toMatchObject({ reason: 'disk', signal: 'SIGXFSZ' });
    expect(statSync(path.join(root, 'work/big')).size).toBe(1 << 20);
    const sum = 'for i in $(seq 1000); do head -c 1000000 /dev/zero > f$i; done; sleep 60';
    expect(await runLine(workspace, sum, { limits })).toMatchObject(ended('disk'));
  });

  verifies('EXEC-8', 'the number of files is limited, even for a very short program', async () => {
    const { workspace } = await attached();
    const end = await runLine(workspace, 'mkdir d; touch d/{1..200}', { limits: { files: 100 } });
    // On a slow machine it is ended, on a fast one it was over before anybody looked: never is its status told as if all were well.
    expect({ ...end, signal: undefined }).toEqual({ reason: 'disk', warnings: [], stdout: '', stderr: '' });
  });

  verifies('EXEC-8', 'time and output are limited', async () => {
    const { workspace } = await attached();
    const seconds = oddSeconds();
    const line = `(setsid -f sleep ${seconds}); sleep ${seconds}`;
    expect(await runLine(workspace, line, { limits: { wallMs: 400 } })).toMatchObject(ended('timeout'));
    expect(processesWith(seconds)).toEqual([]);
    const flood = await runLine(workspace, 'yes', { limits: { outputBytes: 5000 } });
    expect([flood.reason, flood.stdout.length]).toEqual(['output', 5000]);
  });
});

describe('an interactive program', () => {
  test('answers, and ends when its input does', async () => {
    const { workspace } = await attached();
    const stdout = keeping();
    const program = await workspace.start?.(specOf(['cat']), { stdout, stderr: keeping(), terminal: false });
    program?.write(Buffer.from('one\n'));
    await expect.poll(() => stdout.text()).toBe('one\n');
    program?.write(Buffer.from('two\n'));
    program?.closeInput();
    expect(await program?.ended).toMatchObject({ reason: 'exited', exitCode: 0 });
    expect(stdout.text()).toBe('one\ntwo\n');
  });

  test('has a terminal on request and can be killed', async () => {
    const { workspace } = await attached();
    const seconds = oddSeconds();
    const stdout = keeping();
    const spec = specOf([
      'bash',
      '-c',
      `read -p 'name? ' n; echo "hello $n"; setsid sleep ${seconds} & sleep ${seconds}`,
    ]);
    const program = await workspace.start?.(spec, { stdout, stderr: keeping(), terminal: true });
    await expect.poll(() => stdout.text()).toContain('name? ');
    program?.write(Buffer.from('you\n'));
    await expect.poll(() => stdout.text()).toContain('hello you');
    program?.kill();
    expect(await program?.ended).toMatchObject({ reason: 'cancelled' });
    expect(processesWith(seconds)).toEqual([]);
  });
});

test('bash reads no start-up file that a script left in its home', async () => {
  const { workspace, root } = await attached();
  const env = programEnvironment({ root, runFolder: 'runs', home: 'work' });
  if (env.type === 'refused') throw new Error(env.failure.message);
  await runLine(workspace, 'echo "echo planted" | tee .bashrc .profile .bash_profile .bash_login >/dev/null', {
    env: env.env,
  });
  expect(await runLine(workspace, 'echo "$HOME"', { env: env.env })).toEqual(exited(0, `${root}/work\n`));
  const stdout = keeping();
  const spec = specOf(['bash', '-c', 'read line; echo "$line"'], { env: env.env });
  const program = await workspace.start?.(spec, { stdout, stderr: keeping(), terminal: false });
  program?.write(Buffer.from('said\n'));
  await program?.ended;
  expect(stdout.text()).toBe('said\n');
});

describe('detaching', () => {
  test('ends what still runs, may be repeated, and nothing starts afterwards', async () => {
    const { workspace } = await attached();
    const seconds = oddSeconds();
    const running = [1, 2, 3].map(async () => await runLine(workspace, `setsid sleep ${seconds} & sleep ${seconds}`));
    const talking = await workspace.start?.(specOf(['sleep', seconds]), {
      stdout: keeping(),
      stderr: keeping(),
      terminal: false,
    });
    await workspace.detach();
    await workspace.detach();
    expect(processesWith(seconds)).toEqual([]);
    expect((await Promise.all(running)).map(({ reason }) => reason)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await talking?.ended).toMatchObject({ reason: 'cancelled' });
    await expect(runLine(workspace, 'true')).rejects.toMatchObject({ code: 'workspace/invalid' });
  });
});

test('an empty command and a missing program are reported as errors', async () => {
  const { workspace } = await attached();
  const streams = { stdout: keeping(), stderr: keeping() };
  for (const argv of [[], [''], ['echo', 'a\0b']])
    await expect(workspace.run(specOf(argv), streams)).rejects.toMatchObject({ code: 'input/invalid' });
  expect(await workspace.run(specOf(['no-such-program']), streams)).toMatchObject({ reason: 'exited', exitCode: 127 });
});

test('who has gone before the start starts nothing', async () => {
  const { workspace, root } = await attached();
  const end = await runLine(workspace, 'touch made', { signal: AbortSignal.abort() });
  expect(end).toEqual({ reason: 'cancelled', warnings: [], stdout: '', stderr: '' });
  expect(existsSync(path.join(root, 'work/made'))).toBe(false);
});

test('sixty concurrent programs all return their own result', async () => {
  const { workspace } = await attached();
  const numbers = Array.from({ length: 60 }, (_, number) => String(number));
  const ends = await Promise.all(
    numbers.map(async (number) => await runLine(workspace, `echo ${number}; cat`, { stdin: number })),
  );
  expect(ends).toEqual(numbers.map((number) => exited(0, `${number}\n${number}`)));
});

/** Ends a program that escapes, from a process of its own, and prints how it ended. */
const ORDINARY = `
  import { localExecutor } from './sandbox/executors/local.ts';
  const [, , root, seconds] = process.argv;
  const executor = localExecutor();
  const workspace = await executor.attach({ id: 'w', root, skills: [] });
  const limits = { wallMs: 600, memoryBytes: 2 ** 30, processes: 64, outputBytes: 1e6, fileBytes: 1e6, diskBytes: 1e7, files: 1000 };
  const sink = { write: () => true };
  const line = 'setsid sh -c "setsid sleep ' + seconds + ' & sleep ' + seconds + '" & sleep ' + seconds;
  const env = { PATH: '/usr/bin:/bin' };
  const spec = { argv: ['sh', '-c', line], cwd: 'work', env, stdin: new Uint8Array(), limits, network: [] };
  const { reason } = await workspace.run(spec, { stdout: sink, stderr: sink });
  console.log(JSON.stringify({ uid: process.getuid(), identity: executor.identity ?? null, reason }));`;

test('an ordinary user ends escaped processes too', needs('root'), async () => {
  const folder = scratch();
  const root = path.join(folder, 'w');
  for (const name of ['', 'skills', 'work', 'runs', 'out']) mkdirSync(path.join(root, name), { mode: 0o777 });
  const seconds = oddSeconds();
  const open = `chmod -R 777 ${folder}`;
  runModule(`import { execSync } from 'node:child_process'; execSync(process.argv[1])`, [open]);
  const seen = await runAsOrdinaryUser(ORDINARY, [root, seconds], 12_345);
  expect(JSON.parse(seen)).toEqual({ uid: 12_345, identity: null, reason: 'timeout' });
  expect(processesWith(seconds)).toEqual([]);
});
