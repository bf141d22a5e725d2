import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';

import { isSkillError } from '../../../src/core/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/core/execution.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { keeping, oddSeconds, PATH, processesWith, runIt } from './programs.ts';
import { processTable } from '../../../src/sandbox/process/process-tree.ts';
import { startChild, supervise } from '../../../src/sandbox/process/child-process.ts';

const exited = (exitCode: number, stdout = '', stderr = ''): object => ({
  reason: 'exited',
  exitCode,
  warnings: [],
  stdout,
  stderr,
});

describe('a program', () => {
  test('prints, and its exit code is reported', async () => {
    expect(await runIt(['echo', 'hello'])).toEqual(exited(0, 'hello\n'));
    expect(await runIt(['sh', '-c', 'echo no >&2; exit 3'])).toEqual(exited(3, '', 'no\n'));
    expect(await runIt(['sh', '-c', 'exit 255'])).toEqual(exited(255));
  });

  test('that ends by a signal reports it', async () => {
    const { stdout, stderr, ...end } = await runIt(['sh', '-c', 'kill -SEGV $$']);
    expect(end).toEqual({ reason: 'signal', signal: 'SIGSEGV', warnings: [] });
    expect([stdout, stderr]).toEqual(['', '']);
  });

  test('gets its input, bytes of any kind and any length', async () => {
    expect(await runIt(['cat'], { stdin: 'a\0b\n' })).toEqual(exited(0, 'a\0b\n'));
    expect(await runIt(['wc', '-c'], { stdin: Buffer.alloc(5_000_000, 0xff) })).toEqual(exited(0, '5000000\n'));
  });

  test('that reads no input is not affected by it', async () => {
    expect(await runIt(['true'], { stdin: Buffer.alloc(5_000_000) })).toEqual(exited(0));
    expect(await runIt(['sh', '-c', 'exec <&-; sleep 0.1; echo done'], { stdin: Buffer.alloc(5_000_000) })).toEqual(
      exited(0, 'done\n'),
    );
  });

  test('may close its input, exit or never read while it is written to', async () => {
    const lines = ['exec <&-; sleep 0.1; echo done', 'head -c 3; echo; echo done', 'echo done'];
    const outputs = await Promise.all(
      lines.map(async (line) => {
        const stdout = keeping();
        const streams = { stdout, stderr: keeping() };
        const child = await startChild({ argv: ['sh', '-c', line], cwd: '/', env: { PATH } }, streams);
        child.write(Buffer.from('abcdef'));
        child.write(Buffer.alloc(5_000_000));
        child.closeInput();
        child.write(Buffer.from('too late'));
        return [await child.ended, stdout.text()];
      }),
    );
    const ended = { exitCode: 0 };
    expect(outputs).toEqual([
      [ended, 'done\n'],
      [ended, 'abc\ndone\n'],
      [ended, 'done\n'],
    ]);
  });

  test('runs in the given folder, with unchanged arguments', async () => {
    const folder = scratch();
    expect(await runIt(['pwd'], { cwd: folder })).toEqual(exited(0, `${folder}\n`));
    const words = ['-x', '--', 'a b', '$(id)', '`id`', "it's", 'two\nlines', '', '*'];
    expect(await runIt(['printf', '[%s]', ...words])).toEqual(exited(0, words.map((word) => `[${word}]`).join('')));
  });

  test('does not see the environment of this process, also not in /proc', async () => {
    process.env['SKILLWRIGHT_TEST_CANARY'] = 'canary-in-the-environment';
    try {
      const { stdout } = await runIt(['sh', '-c', "env; tr '\\0' '\\n' </proc/self/environ"], {
        env: { PATH, A: 'b' },
      });
      expect(stdout).not.toContain('canary');
      const names = stdout.split('\n').map((line) => line.split('=')[0]);
      expect(new Set(names)).toEqual(new Set(['', 'A', 'PATH', 'PWD', 'SKILLWRIGHT_RUN']));
    } finally {
      delete process.env['SKILLWRIGHT_TEST_CANARY'];
    }
  });

  test('that does not exist, or has no working directory, fails with the reason', async () => {
    const nowhere = path.join(scratch(), 'nowhere');
    const causes = await Promise.all(
      [
        runIt(['no-such-program']),
        runIt(['true'], { cwd: nowhere }),
        runIt(['/etc/passwd']),
        runIt(['echo', 'a\0b']),
        runIt([]),
      ].map(async (running) => {
        const error: unknown = await running.catch((thrown: unknown) => thrown);
        if (!isSkillError(error)) throw error;
        return [error.code, error.message];
      }),
    );
    expect(causes).toEqual([
      ['executor/failed', 'cannot start "no-such-program": program not found'],
      ['executor/failed', expect.stringContaining('does not exist')],
      ['executor/failed', expect.stringContaining('EACCES')],
      ['input/invalid', '"a\\x00b" contains a NUL character'],
      ['input/invalid', 'no program given'],
    ]);
  });

  test('may write invalid UTF-8, NULs, and both streams at once', async () => {
    const { stdout } = await runIt(['printf', '\\377\\000\\303']);
    expect(stdout).toBe('\uFFFD\0\uFFFD');
    const both = await runIt(['sh', '-c', 'for i in 1 2 3; do echo out$i; echo err$i >&2; done']);
    expect(both).toEqual(exited(0, 'out1\nout2\nout3\n', 'err1\nerr2\nerr3\n'));
  });

  test('reads the given bytes at its descriptors, and can reopen them', async () => {
    const inherited = [Buffer.from('three'), Buffer.alloc(300_000, 'x')];
    expect(await runIt(['sh', '-c', 'cat <&3; cat /dev/fd/3; wc -c <&4'], { inherited })).toEqual(
      exited(0, 'threethree300000\n'),
    );
  });
});

describe('ending a program', () => {
  verifies('EXEC-8', 'time is limited, whatever the program does with signals and the processor', async () => {
    const ended = { reason: 'timeout', signal: 'SIGKILL', warnings: [], stdout: '', stderr: '' };
    const limits = { wallMs: 300 };
    const programs = ['sleep 60', "trap '' TERM INT HUP; while :; do sleep 60; done", 'while :; do :; done'];
    for (const program of programs) expect(await runIt(['sh', '-c', program], { limits })).toEqual(ended);
  });

  verifies('EXEC-8', 'processes that left the group, the session and their parents end with the program', async () => {
    const seconds = oddSeconds();
    const escape = `setsid sh -c 'setsid sleep ${seconds} & exec sleep ${seconds}' & (setsid -f sleep ${seconds}); env -i /bin/sh -c '/bin/sleep ${seconds} &' & sleep ${seconds}`;
    // Its time must be enough to start all five, however busy the machine is.
    const started = new Set<number>();
    for (let wallMs = 700; started.size < 5; wallMs *= 2) {
      started.clear();
      const looking = setInterval(() => {
        for (const pid of processesWith(seconds)) started.add(pid);
      }, 20);
      const { warnings, ...end } = await runIt(['sh', '-c', escape], { limits: { wallMs } });
      clearInterval(looking);
      expect(end).toEqual({ reason: 'timeout', signal: 'SIGKILL', stdout: '', stderr: '' });
      const told = [expect.stringMatching(/^\d+ processes outlived the program or left its process group/)];
      expect(warnings).toEqual(started.size < 5 ? expect.anything() : told);
      expect(processesWith(seconds)).toEqual([]);
    }
  });

  verifies('EXEC-8', 'a daemon that holds the output open does not hold up the end, and ends itself', async () => {
    const seconds = oddSeconds();
    const end = await runIt(['sh', '-c', `(setsid sleep ${seconds} &) ; sleep ${seconds} & echo done`]);
    expect(end).toEqual({
      ...exited(0, 'done\n'),
      warnings: ['2 processes outlived the program or left its process group, and were killed'],
    });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('output of a process that was left behind is not lost', async () => {
    const { stdout } = await runIt(['sh', '-c', '(sleep 0.05; echo late) & echo early']);
    expect(stdout).toBe('early\nlate\n');
  });

  verifies('EXEC-8', 'output is limited for both streams together', async () => {
    const limits = { outputBytes: 100_000 };
    const end = await runIt(['sh', '-c', 'yes out & yes err >&2'], { limits });
    expect({ ...end, stdout: '', stderr: '' }).toEqual({
      reason: 'output',
      signal: 'SIGKILL',
      warnings: [],
      stdout: '',
      stderr: '',
    });
    expect(end.stdout.length + end.stderr.length).toBe(100_000);
    // A program that is over before anybody counted has still written too much.
    const quick = await runIt(['head', '-c', '200000', '/dev/zero'], { limits });
    expect([quick.reason, quick.stdout.length]).toEqual(['output', 100_000]);
  });

  test('an aborted signal ends the program, also before it started', async () => {
    expect(await runIt(['sleep', '60'], { signal: AbortSignal.timeout(200) })).toEqual({
      reason: 'cancelled',
      signal: 'SIGKILL',
      warnings: [],
      stdout: '',
      stderr: '',
    });
    const folder = scratch();
    const early = await runIt(['touch', path.join(folder, 'x')], { signal: AbortSignal.abort() });
    expect(early).toEqual({ reason: 'cancelled', warnings: [], stdout: '', stderr: '' });
    expect(existsSync(path.join(folder, 'x'))).toBe(false);
  });

  test('one signal ends many programs without a listener warning', async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', note);
    const controller = new AbortController();
    const running = Array.from({ length: 30 }, async () => {
      const { reason } = await runIt(['sleep', '60'], { signal: controller.signal });
      return reason;
    });
    setTimeout(() => controller.abort(), 300);
    expect(new Set(await Promise.all(running))).toEqual(new Set(['cancelled']));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('a signal aborted during the start leaves no process behind', async () => {
    const seconds = oddSeconds();
    const cancelling = Array.from({ length: 20 }, async () => {
      const controller = new AbortController();
      const running = runIt(['sh', '-c', `setsid sleep ${seconds} & sleep ${seconds}`], { signal: controller.signal });
      setImmediate(() => controller.abort());
      return (await running).reason;
    });
    expect(await Promise.all(cancelling)).toEqual(Array.from({ length: 20 }, () => 'cancelled'));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a poll can end the program; its errors reach the caller and kill the program', async () => {
    const seconds = oddSeconds();
    const streams = { stdout: keeping(), stderr: keeping() };
    const watch = { limits: DEFAULT_LIMITS, streams, started: performance.now() };
    const start = async () => await startChild({ argv: ['sleep', seconds], cwd: '/', env: { PATH } }, streams);
    const { durationMs, ...end } = await supervise(await start(), { ...watch, poll: () => 'memory' });
    expect(end).toEqual({ reason: 'memory', signal: 'SIGKILL', warnings: [] });
    expect(durationMs).toBeGreaterThan(0);
    const child = await start();
    const bug = (): never => {
      throw new TypeError('a bug');
    };
    await expect(supervise(child, { ...watch, poll: bug })).rejects.toThrow('a bug');
    await child.ended;
    expect(processesWith(seconds)).toEqual([]);
  });

  test('the exit code is reported even if descendants do not end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const streams = { stdout: keeping(), stderr: keeping() };
      const watch = { limits: DEFAULT_LIMITS, streams, started: performance.now() };
      const never = new Promise<never>(() => undefined);
      const child = {
        pid: 1,
        write: () => undefined,
        closeInput: () => undefined,
        kill: () => undefined,
        ended: never,
      };
      const ending = [
        supervise({ ...child, exited: Promise.resolve({ exitCode: 7 }) }, watch),
        supervise({ ...child, exited: never }, { ...watch, limits: { ...DEFAULT_LIMITS, wallMs: 1_000 } }),
      ];
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await Promise.all(ending)).toMatchObject([
        {
          reason: 'exited',
          exitCode: 7,
          warnings: ['processes of the program are still running; its last output may be missing'],
        },
        { reason: 'timeout', warnings: ['the program was killed but has not exited'] },
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('errors of a sink reach the caller and kill the program', async () => {
    const seconds = oddSeconds();
    const full = {
      write: (): boolean => {
        throw new RangeError('the disk is full');
      },
    };
    const streams = { stdout: full, stderr: keeping() };
    const argv = ['sh', '-c', `echo x; exec sleep ${seconds}`];
    const child = await startChild({ argv, cwd: '/', env: { PATH } }, streams);
    const watch = { limits: DEFAULT_LIMITS, streams, started: performance.now() };
    await expect(supervise(child, watch)).rejects.toThrow('the disk is full');
    expect(processesWith(seconds)).toEqual([]);
  });

  test('kill may be called twice and after the end', async () => {
    const child = await startChild(
      { argv: ['sleep', '60'], cwd: '/', env: { PATH } },
      {
        stdout: keeping(),
        stderr: keeping(),
      },
    );
    child.kill();
    child.kill();
    expect(await child.ended).toEqual({ signal: 'SIGKILL' });
    child.kill();
    child.write(Buffer.from('x'));
    child.closeInput();
  });
});

test('a hundred concurrent programs all end', async () => {
  const processes = processTable();
  const numbers = Array.from({ length: 100 }, (_, number) => String(number));
  const ends = await Promise.all(
    numbers.map(
      async (number) =>
        await runIt(['sh', '-c', `echo ${number}; cat; exit ${String(Number(number) % 7)}`], {
          stdin: number,
          processes,
        }),
    ),
  );
  expect(ends).toEqual(numbers.map((number) => exited(Number(number) % 7, `${number}\n${number}`)));
});

describe('a terminal', () => {
  test('is a terminal for the program, and its arguments are not parsed by a shell', async () => {
    const { stdout, ...end } = await runIt(
      ['sh', '-c', 'test -t 0 && test -t 1 && echo "$1"; exit 5', 'sh', "it's $(id)"],
      {
        terminal: true,
      },
    );
    expect([stdout, end]).toEqual(["it's $(id)\r\n", { reason: 'exited', exitCode: 5, warnings: [], stderr: '' }]);
  });

  test('ends with all its processes', async () => {
    const seconds = oddSeconds();
    const end = await runIt(['sh', '-c', `sleep ${seconds} & sleep ${seconds}`], {
      terminal: true,
      limits: { wallMs: 500 },
    });
    expect(end.reason).toBe('timeout');
    expect(processesWith(seconds)).toEqual([]);
  });
});
