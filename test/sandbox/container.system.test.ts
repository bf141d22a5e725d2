import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { isSkillError } from '../../src/core/errors.ts';
import { DEFAULT_LIMITS, type AttachedWorkspace } from '../../src/core/execution.ts';
import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { Gathered, containersOf, makeWorkspace, program, run, shape, type TestWorkspace } from './container-support.ts';
import { sharedDockerEngine } from './docker-engine.ts';
import { skipUnless } from '../needs.ts';

const started = await sharedDockerEngine();
const reason = typeof started === 'string' ? started : '';
if (reason !== '') console.log(`skipped: the container executor, because ${reason}`);
const engine = typeof started === 'string' ? undefined : started;

const limits = (changes: Partial<typeof DEFAULT_LIMITS>): typeof DEFAULT_LIMITS => ({ ...DEFAULT_LIMITS, ...changes });

describe('the container executor', skipUnless(engine !== undefined, 'dockerd'), () => {
  let made: TestWorkspace;
  let workspace: AttachedWorkspace;
  const root = (): string => made.place.root;

  beforeAll(async () => {
    if (engine === undefined) return;
    made = makeWorkspace();
    const executor = containerExecutor({ socket: engine.socket, rootFileSystem: engine.rootFileSystem });
    workspace = await executor.attach(made.place);
  });
  afterAll(async () => {
    await workspace.detach();
    await workspace.detach();
    made.remove();
  });

  verifies('EXEC-7', 'a container has every limit, no network, and a terminal', () => {
    expect(workspace.capabilities).toEqual({
      isolation: 'container',
      limits: {
        wallMs: 'runtime',
        outputBytes: 'runtime',
        fileBytes: 'rlimit',
        memoryBytes: 'cgroup',
        processes: 'cgroup',
        diskBytes: 'watched',
        files: 'watched',
      },
      runtime: { used: 'runc', others: expect.any(Array) },
      temporaryBytes: 80 * 1024 * 1024,
      hasNetworkGrants: false,
      hasInteraction: true,
      hasTerminal: true,
    });
    expect(workspace.root).toBe('/workspace');
  });

  verifies('EXEC-7', 'exit statuses and signals are those of the program in a container too', async () => {
    const outcomes = [];
    for (const script of ['exit 0', 'exit 7', 'kill -9 $$', 'kill -TERM $$', 'exit 255'])
      outcomes.push(shape((await run(workspace, ['sh', '-c', script])).end));
    expect(outcomes).toEqual([
      { reason: 'exited', exitCode: 0 },
      { reason: 'exited', exitCode: 7 },
      { reason: 'signal', signal: 'SIGKILL' },
      { reason: 'signal', signal: 'SIGTERM' },
      { reason: 'exited', exitCode: 255 },
    ]);
  });

  verifies(
    'EXEC-7',
    'input, both streams, bytes of every value, the environment and the folder arrive as given',
    async () => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
      const stdout = new Gathered();
      const stderr = new Gathered();
      const end = await workspace.run(program(['sh', '-c', 'cat; echo to-stderr >&2'], { stdin: bytes }), {
        stdout,
        stderr,
      });
      expect(shape(end)).toEqual({ reason: 'exited', exitCode: 0 });
      expect(stdout.buffer.equals(bytes)).toBe(true);
      expect(stderr.text).toBe('to-stderr\n');
      const env = { PATH: '/usr/bin:/bin', HOME: '/workspace/work', Ü: 'x' };
      await expect(run(workspace, ['env'], { env })).rejects.toThrow('is not a valid variable name');
      const { stdout: listed } = await run(workspace, ['env'], {
        env: { PATH: '/usr/bin', HOME: '/x', A: 'größe\n大小 =' },
      });
      expect(listed).toBe('PATH=/usr/bin\nHOME=/x\nA=größe\n大小 =\n');
      expect((await run(workspace, ['pwd'], { cwd: 'skills/demo' })).stdout).toBe('/workspace/skills/demo\n');
      expect((await run(workspace, ['cat'])).stdout).toBe('');
      expect(await run(workspace, ['printf', '%s|', '-n', '$(id)', 'a b', '\n', ''])).toMatchObject({
        stdout: '-n|$(id)|a b|\n||',
      });
    },
  );

  verifies(
    'EXEC-1',
    'a skill lies in its container byte for byte, executable, read-only, with links to the workspace',
    async () => {
      const skill = '/workspace/skills/demo';
      expect((await run(workspace, [`${skill}/scripts/hello.sh`, 'you'])).stdout).toBe('hello you\n');
      const data = await run(workspace, ['od', '-An', '-tu1', '-w256', 'skills/demo/scripts/größe 大小/data.bin'], {
        cwd: '.',
      });
      expect(data.stdout.trim().split(/\s+/).map(Number)).toEqual(Array.from({ length: 256 }, (_, at) => at));
      const written = await run(
        workspace,
        ['sh', '-c', 'echo a > out/from-skill; echo b > work/w; echo c > inputs/i; echo d > SKILL.md'],
        {
          cwd: 'skills/demo',
        },
      );
      expect(written.stderr).toContain('Read-only file system');
      expect(
        ['out/from-skill', 'work/w', 'work/inputs/i'].map((file) => readFileSync(path.join(root(), file), 'utf8')),
      ).toEqual(['a\n', 'b\n', 'c\n']);
      expect((await run(workspace, ['ls', '-A', '/workspace'])).stdout).toBe('out\nruns\nskills\nwork\n');
    },
  );

  verifies('EXEC-7', 'a container has only a loopback network, no capabilities, and the user nobody', async () => {
    expect((await run(workspace, ['ls', '/sys/class/net'])).stdout).toBe('lo\n');
    const { stdout } = await run(workspace, [
      'sh',
      '-c',
      'id -u; grep -E "CapEff|CapBnd|NoNewPrivs|Seccomp:" /proc/self/status',
    ]);
    expect(stdout.replaceAll('\t', ' ')).toBe(
      '65534\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n',
    );
    expect(
      await workspace.run(program(['true'], { network: ['example.org'] }), {
        stdout: new Gathered(),
        stderr: new Gathered(),
      }),
    ).toEqual({
      reason: 'denied',
      durationMs: 0,
      warnings: ['the program asks for network access ("example.org"), which this executor cannot grant'],
    });
  });

  verifies('EXEC-7', 'interpreters run in a container: python, node, perl where the machine has them', async () => {
    expect((await run(workspace, ['python3', '-c', 'import json, hashlib; print(json.dumps([1]))'])).stdout).toBe(
      '[1]\n',
    );
    expect((await run(workspace, ['node', '-e', 'console.log(process.getuid())'])).stdout).toBe('65534\n');
  });

  verifies(
    'EXEC-8',
    'when its time is up every process of a container is gone, sessions of their own included',
    async () => {
      const beat = 'while :; do echo x >> /workspace/out/beat; sleep 0.02; done';
      const script = `(setsid sh -c '(trap "" TERM HUP; ${beat}) &' &); echo begun; sleep 60`;
      const ran = await run(workspace, ['sh', '-c', script], { limits: limits({ wallMs: 1000 }) });
      expect([shape(ran.end), ran.stdout]).toEqual([{ reason: 'timeout', signal: 'SIGKILL' }, 'begun\n']);
      const size = statSync(path.join(root(), 'out/beat')).size;
      await delay(300);
      expect(statSync(path.join(root(), 'out/beat')).size).toBe(size);
    },
  );

  verifies('EXEC-8', 'a cancelled program is gone from its container, even if it was waiting for one', async () => {
    const stop = new AbortController();
    const running = run(workspace, ['sh', '-c', 'echo here; sleep 60'], { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect(shape((await running).end)).toMatchObject({ reason: 'cancelled' });
    expect((await run(workspace, ['true'], { signal: AbortSignal.abort() })).end).toEqual({
      reason: 'cancelled',
      durationMs: 0,
      warnings: [],
    });
  });

  verifies(
    'EXEC-8',
    'memory, processes, output, one file and the disk of a container have bounds, each with its reason',
    async () => {
      const attempts: readonly (readonly [string, string, Partial<typeof DEFAULT_LIMITS>])[] = [
        ['memory', 'python3 -c "x = bytearray(300 << 20); print(len(x))"', { memoryBytes: 128 << 20 }],
        ['processes', 'for i in $(seq 100); do sleep 20 & done; sleep 20', { processes: 20 }],
        // It ends before the limits are polled for the first time, and leaves processes behind.
        ['processes', 'for i in $(seq 100); do sleep 20 > /dev/null & done', { processes: 20 }],
        ['output', 'yes', { outputBytes: 100_000 }],
        ['disk', 'dd if=/dev/zero of=/workspace/out/one bs=1M count=40', { fileBytes: 8 << 20 }],
        [
          'disk',
          'for i in 1 2 3 4 5 6; do dd if=/dev/zero of=/workspace/out/$i bs=1M count=8; done; sleep 20',
          { diskBytes: 20 << 20 },
        ],
        ['disk', 'cd /workspace/out; for i in $(seq 400); do : > n$i; done; sleep 20', { files: 200 }],
      ];
      const reasons = [];
      for (const [, script, changes] of attempts) {
        const { end, stdout } = await run(workspace, ['sh', '-c', `exec 2>/dev/null; ${script}`], {
          limits: limits({ wallMs: 120_000, ...changes }),
        });
        reasons.push(end.reason);
        if (changes.outputBytes !== undefined) expect(stdout).toHaveLength(changes.outputBytes);
        for (const name of readdirSync(path.join(root(), 'out'))) rmSync(path.join(root(), 'out', name));
      }
      expect(reasons).toEqual(attempts.map(([expected]) => expected));
      expect(shape((await run(workspace, ['true'])).end)).toEqual({ reason: 'exited', exitCode: 0 });
    },
  );

  verifies('EXEC-3', 'no output of a container is lost while this process is busy', async () => {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    const busy = setInterval(() => void Atomics.wait(nothing, 0, 0, 300), 20);
    // Processes that keep the stream open are ended, and the stream is read to its end all the same.
    for (const script of ['', 'sleep 600 & ', '(while sleep 0.05; do echo; done) & ']) {
      const stdout = new Gathered(1024);
      const streams = { stdout, stderr: new Gathered() };
      const end = await workspace.run(program(['sh', '-c', `${script}head -c 1000000 /dev/zero`]), streams);
      expect([shape(end), end.warnings.length]).toEqual([{ reason: 'exited', exitCode: 0 }, script === '' ? 0 : 1]);
      expect(stdout.bytes).toBeGreaterThanOrEqual(1_000_000);
    }
    clearInterval(busy);
  });

  verifies('EXEC-8', 'a quarter of a gigabyte of output from a container is not buffered', async () => {
    const stdout = new Gathered(1024);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 20);
    const size = 256 * 1024 * 1024;
    const end = await workspace.run(
      program(['head', '-c', String(size), '/dev/zero'], { limits: limits({ outputBytes: size }) }),
      { stdout, stderr: new Gathered() },
    );
    clearInterval(watch);
    expect([shape(end), stdout.bytes]).toEqual([{ reason: 'exited', exitCode: 0 }, size]);
    expect(most - before).toBeLessThan(128 * 1024 * 1024);
  });

  verifies('EXEC-7', 'what a program leaves in a container is not there for the next', async () => {
    const left = await run(workspace, [
      'sh',
      '-c',
      'echo x > /tmp/mine; echo x > /dev/shm/mine; (setsid sleep 70 &); echo ok',
    ]);
    expect([left.stdout, left.end.warnings.length]).toEqual(['ok\n', 1]);
    const { stdout } = await run(workspace, [
      'sh',
      '-c',
      'ls -A /tmp /dev/shm; cat /proc/[0-9]*/cmdline | tr "\\0" " "',
    ]);
    expect(stdout).not.toContain('mine');
    expect(stdout).not.toContain('sleep 70');
  });

  verifies(
    'EXEC-7',
    'twenty programs at once each get their own output, in containers that see nothing of one another',
    async () => {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          run(workspace, [
            'sh',
            '-c',
            `echo ${String(at)}; echo ${String(at)} > /workspace/out/c${String(at)}; ls /proc | grep -c "^[0-9]"`,
          ]),
        ),
      );
      expect(all.map(({ end, stdout }) => [end.reason, end.exitCode, stdout.split('\n')[0]])).toEqual(
        Array.from({ length: 20 }, (_, at) => ['exited', 0, String(at)]),
      );
      expect(all.every(({ stdout }) => Number(stdout.split('\n')[1]) <= 6)).toBe(true);
      expect(readdirSync(path.join(root(), 'out')).filter((name) => name.startsWith('c'))).toHaveLength(20);
    },
  );

  verifies('EXEC-7', 'a missing or non-executable program fails with the message of the engine', async () => {
    for (const [argv, cwd, words] of [
      [['no-such-program'], 'work', 'executable file not found'],
      [['/workspace/skills/demo/SKILL.md'], 'work', 'permission denied'],
      [['true'], 'no/such/folder', 'no such file or directory'],
    ] as const) {
      const refusal = await run(workspace, argv, { cwd }).then(
        () => 'it ran',
        (error: unknown) => (isSkillError(error) ? `${error.code}: ${error.message}` : 'another error'),
      );
      expect(refusal).toContain('executor/failed: ');
      expect(refusal).toContain(words);
    }
    for (const cwd of ['..', '/etc', 'work/../..', ''])
      await expect(run(workspace, ['true'], { cwd })).rejects.toThrow('is not below the workspace');
    // Its words are those of the engine, its output is its own.
    const imitation = await run(workspace, ['sh', '-c', 'echo "OCI runtime says no"; exit 3']);
    expect([imitation.stdout, imitation.end.exitCode]).toEqual(['OCI runtime says no\n', 3]);
  });

  test('a program is talked to, on pipes and on a terminal', async () => {
    if (workspace.start === undefined) throw new Error('it has no start');
    for (const terminal of [false, true]) {
      const stdout = new Gathered();
      const running = await workspace.start(
        program(['sh', '-c', 'if [ -t 0 ]; then echo tty; fi; read a; echo "got $a"; cat; exit 4']),
        {
          stdout,
          stderr: new Gathered(),
          terminal,
        },
      );
      running.write(Buffer.from('first\n'));
      const deadline = Date.now() + 20_000;
      while (!stdout.text.includes('got first') && Date.now() < deadline) await delay(10);
      running.closeInput();
      expect(shape(await running.ended)).toEqual({ reason: 'exited', exitCode: 4 });
      expect(stdout.text.includes('tty')).toBe(terminal);
    }
    const endless = await workspace.start(program(['sleep', '60']), {
      stdout: new Gathered(),
      stderr: new Gathered(),
      terminal: true,
    });
    endless.kill();
    expect(shape(await endless.ended)).toEqual({ reason: 'signal', signal: 'SIGKILL' });
  });

  verifies(
    'EXEC-7',
    'an engine that does not see our files gets a copy, and what a program left comes back',
    async () => {
      if (engine === undefined) return;
      const own = makeWorkspace();
      writeFileSync(path.join(own.place.root, 'work/inputs/größe.txt'), 'in');
      const { socket, rootFileSystem } = engine;
      const copied = await containerExecutor({ socket, rootFileSystem, transfer: 'copy' }).attach(own.place);
      try {
        const script =
          'cat inputs/*; mkdir -p d; echo x > d/f; chmod 755 d/f; ln -s /etc/passwd l; mkfifo p; echo y > /workspace/skills/demo/SKILL.md';
        const first = await run(copied, ['sh', '-c', script]);
        expect([first.stdout, first.stderr.includes('Permission denied')]).toEqual(['in', true]);
        const second = await run(copied, ['sh', '-c', 'cat d/f; echo late > /workspace/out/late; sleep 60'], {
          limits: limits({ wallMs: 1500 }),
        });
        expect([second.stdout, second.end.reason]).toEqual(['x\n', 'timeout']);
        expect(readFileSync(path.join(own.place.root, 'out/late'), 'utf8')).toBe('late\n');
        const third = await run(copied, ['sh', '-c', 'head -c 5000000 /dev/zero > big'], {
          limits: limits({ diskBytes: 1_000_000 }),
        });
        expect(third.end.reason).toBe('disk');
        expect(readdirSync(path.join(own.place.root, 'work')).sort()).toEqual(['d', 'inputs', 'l']);
        expect(statSync(path.join(own.place.root, 'work/d/f')).mode & 0o777).toBe(0o755);
      } finally {
        await copied.detach();
        own.remove();
      }
    },
  );

  verifies('EXEC-8', 'detaching ends what still runs in a container, and nothing can be started after it', async () => {
    if (engine === undefined) return;
    const own = makeWorkspace('detached');
    const { socket, rootFileSystem } = engine;
    const other = await containerExecutor({ socket, rootFileSystem }).attach(own.place);
    // A workspace that runs nothing has no container.
    expect(await containersOf(socket, 'detached')).toEqual([]);
    const running = run(other, ['sh', '-c', 'echo x > /workspace/out/begun; sleep 60']);
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(20))
      if (readdirSync(path.join(own.place.root, 'out')).length > 0) break;
    await other.detach();
    expect(shape((await running).end)).toEqual({ reason: 'signal', signal: 'SIGKILL' });
    await expect(run(other, ['true'])).rejects.toThrow('the workspace was detached');
    expect(readdirSync(own.place.root).sort()).toEqual(['metadata.json', 'out', 'runs', 'skills', 'work']);
    expect(await containersOf(socket, 'detached')).toEqual([]);
    own.remove();
  });

  verifies('EXEC-7', 'an image is never fetched: the refusal says how to', async () => {
    if (engine === undefined) return;
    const own = makeWorkspace();
    const refusal = await containerExecutor({ socket: engine.socket, image: 'no/such-image:1' })
      .attach(own.place)
      .then(
        () => undefined,
        (error: unknown) => (isSkillError(error) ? { code: error.code, data: error.data } : error),
      );
    expect(refusal).toEqual({
      code: 'executor/unavailable',
      data: {
        executor: 'container',
        reasons: ['the image no/such-image:1 is missing'],
        install: 'docker pull no/such-image:1',
      },
    });
    expect(() => containerExecutor({ identity: { uid: 0, gid: 0 } })).toThrow('programs never run as root');
    own.remove();
  });
});
