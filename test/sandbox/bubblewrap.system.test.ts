import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import type { Executor } from '../../src/core/execution.ts';
import { verifies } from '../conformance/verifies.ts';
import { SANDBOXES, collected, openWorkspace, programSpec, textSink, type OpenWorkspace } from './sandbox.ts';
import { needs } from '../needs.ts';

type InSandbox = (run: (opened: OpenWorkspace) => Promise<void>, executor?: Executor) => Promise<void>;

describe.each(SANDBOXES)('%s', (_, make) => {
  const inSandbox: InSandbox = async (run, executor = make()) => {
    const opened = await openWorkspace(executor);
    try {
      await run(opened);
    } finally {
      await opened.close();
    }
  };

  verifies(['EXEC-1', 'EXEC-7'], 'a program sees its workspace, its skill read-only, and its links', async () =>
    inSandbox(async ({ workspace, root }) => {
      const script =
        'pwd; ls -A /workspace /workspace/skills/pdf; ./scripts/hello.sh; echo result > out/a; echo w > work/b; ls -A inputs; cat';
      const { end, stdout, stderr } = await collected(workspace, ['sh', '-c', script], {
        cwd: 'skills/pdf',
        stdin: Buffer.from('given'),
      });
      expect({ ...end, durationMs: 0, stdout, stderr }).toEqual({
        reason: 'exited',
        exitCode: 0,
        durationMs: 0,
        warnings: end.warnings,
        stdout:
          '/workspace/skills/pdf\n/workspace:\nout\nruns\nskills\nwork\n\n/workspace/skills/pdf:\nSKILL.md\ninputs\nout\nscripts\nwork\nhello\ngiven',
        stderr: '',
      });
      expect([readFileSync(path.join(root, 'out/a'), 'utf8'), readFileSync(path.join(root, 'work/b'), 'utf8')]).toEqual(
        ['result\n', 'w\n'],
      );
    }),
  );

  verifies(
    'EXEC-6',
    'words reach a program as they are, and no shell reads them',
    async () =>
      inSandbox(async ({ workspace }) => {
        const words = ['-n', '--', '$(id)', '`id`', 'a\nb', '; echo x', "it's", '', '*', 'ü 😀', '\\0', '-x'];
        const { stdout } = await collected(workspace, [
          'python3',
          '-c',
          'import sys, json; print(json.dumps(sys.argv[1:]))',
          ...words,
        ]);
        expect(JSON.parse(stdout)).toEqual(words);
      }),
    needs('python3'),
  );

  test('more words than a command line of bubblewrap takes reach a program too', needs('python3'), async () =>
    inSandbox(async ({ workspace }) => {
      const words = Array.from({ length: 12_000 }, (_, at) => `it's ${String(at)}\n$(id)`);
      const { stdout } = await collected(workspace, [
        'python3',
        '-c',
        'import sys, hashlib; print(len(sys.argv), hashlib.sha256("|".join(sys.argv[1:]).encode()).hexdigest())',
        ...words,
      ]);
      expect(stdout.trim()).toBe(`12001 ${createHash('sha256').update(words.join('|')).digest('hex')}`);
    }),
  );

  test('the environment is what was given, and a default path', async () =>
    inSandbox(async ({ workspace }) => {
      const { stdout } = await collected(workspace, ['env'], {
        env: { A: 'one two', ENV: '/x', EMPTY: '', QUOTE: `'"$(id)` },
      });
      expect(stdout.split('\n').sort()).toEqual(
        [
          '',
          'A=one two',
          'EMPTY=',
          'ENV=/x',
          'PATH=/usr/local/bin:/usr/bin:/bin',
          'PWD=/workspace/work',
          `QUOTE='"$(id)`,
        ].sort(),
      );
    }));

  test('a preloaded library does not get into the gate', async () =>
    inSandbox(async ({ workspace }) => {
      const { stderr, end } = await collected(workspace, ['true'], { env: { LD_PRELOAD: '/workspace/work/evil.so' } });
      expect([end.exitCode, stderr.match(/cannot be preloaded/g)?.length]).toEqual([0, 1]);
    }));

  test('a program of the workspace does not replace one of the system', async () =>
    inSandbox(async ({ workspace, root }) => {
      await collected(workspace, ['sh', '-c', 'printf "#!/bin/sh\\necho hijacked" > seq; chmod +x seq']);
      expect(existsSync(path.join(root, 'work/seq'))).toBe(true);
      expect((await collected(workspace, ['seq', '7', '7'])).stdout).toBe('7\n');
    }));

  test.each([
    ['exit 7', { reason: 'exited', exitCode: 7 }],
    ['kill -KILL $$', { reason: 'signal', signal: 'SIGKILL' }],
    ['kill -SEGV $$', { reason: 'signal', signal: 'SIGSEGV' }],
    ['no-such-program', { reason: 'exited', exitCode: 127 }],
  ])('%s ends as what it is', async (script, expected) =>
    inSandbox(async ({ workspace }) => {
      const { end } = await collected(workspace, ['sh', '-c', script]);
      expect(end).toMatchObject(expected);
    }),
  );

  test('a file beyond its size ends a program for the disk', async () =>
    inSandbox(async ({ workspace }) => {
      const limits = { fileBytes: 1024 * 1024 };
      const { end } = await collected(workspace, ['head', '-c', '4194304', '/dev/zero'], { limits });
      expect(end.exitCode).toBe(0);
      const script = 'exec head -c 4194304 /dev/zero > large';
      expect((await collected(workspace, ['sh', '-c', script], { limits })).end).toMatchObject({
        reason: 'disk',
        signal: 'SIGXFSZ',
      });
    }));

  verifies('EXEC-8', 'a cancelled program is gone, before and after its start', async () =>
    inSandbox(async ({ workspace }) => {
      expect((await collected(workspace, ['true'], { signal: AbortSignal.abort() })).end.reason).toBe('cancelled');
      const signal = AbortSignal.timeout(300);
      expect((await collected(workspace, ['sleep', '30'], { signal })).end.reason).toBe('cancelled');
    }),
  );

  verifies('EXEC-8', 'memory of all processes is bounded by looking where there are no control groups', async () =>
    inSandbox(
      async ({ workspace }) => {
        expect(workspace.capabilities.limits).not.toContain('memoryBytes');
        const script =
          'for i in 1 2 3 4; do (head -c 80000000 /dev/zero | tail -c 80000000 | (sleep 5; cat > /dev/null)) & done; wait';
        const { end } = await collected(workspace, ['sh', '-c', script], {
          limits: { memoryBytes: 200 * 1024 * 1024 },
        });
        // doctor says that memory is only watched here, not every program.
        expect([end.reason, end.warnings]).toEqual(['memory', []]);
      },
      make({ controlGroups: false }),
    ),
  );

  test('a program that asks for network access without a bridge is denied and not started', async () =>
    inSandbox(async ({ workspace, root }) => {
      const { end } = await collected(workspace, ['touch', '/workspace/out/ran'], { network: ['example.org'] });
      expect([end.reason, end.warnings.length, existsSync(path.join(root, 'out/ran'))]).toEqual(['denied', 1, false]);
    }));

  test('host folders are mounted where the program asks for them, read-only unless it may write', async () =>
    inSandbox(async ({ workspace, base, executor }) => {
      const given = ['layer', 'project'].map((name) => path.join(base, name));
      for (const folder of given) {
        mkdirSync(folder);
        writeFileSync(path.join(folder, 'file'), path.basename(folder));
        if (executor.identity !== undefined) chownSync(folder, executor.identity.uid, executor.identity.gid);
      }
      const [layer = '', project = ''] = given;
      const script =
        'cat /opt/layer/file /workspace/project/file; echo x > /opt/layer/new; echo x > /workspace/project/new; echo " $?"';
      const { stdout } = await collected(workspace, ['sh', '-c', script], {
        mounts: [
          { source: layer, target: '/opt/layer', access: 'read' },
          { source: project, target: '/workspace/project', access: 'write' },
        ],
      });
      expect([stdout, given.map((folder) => existsSync(path.join(folder, 'new')))]).toEqual([
        'layerproject 0\n',
        [false, true],
      ]);
    }));

  test('a bridge is mounted, announced to the program, started around it and closed after it', async () => {
    const log: string[] = [];
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-bridge-'));
    chmodSync(folder, 0o755);
    const socketPath = path.join(folder, 'proxy.sock');
    writeFileSync(socketPath, 'socket', { mode: 0o644 });
    const executor = make({
      bridge: async (hosts) => {
        log.push(`open ${hosts.join()}`);
        return await Promise.resolve({
          socketPath,
          env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
          forwarderArgv: ['sh', '-c', 'cat /run/skillwright/proxy.sock; exec "$@"', 'forwarder'],
          close: async () => {
            log.push('close');
            await Promise.resolve();
          },
        });
      },
    });
    await inSandbox(async ({ workspace }) => {
      expect(workspace.capabilities.hasNetworkGrants).toBe(true);
      const { stdout } = await collected(workspace, ['sh', '-c', 'echo " $HTTPS_PROXY"'], { network: ['example.org'] });
      expect([stdout, log]).toEqual(['socket http://127.0.0.1:1\n', ['open example.org', 'close']]);
    }, executor);
    rmSync(folder, { recursive: true });
  });

  test.each([
    [{ cwd: '../x' }, 'not below the workspace'],
    [{ cwd: '/etc' }, 'not below the workspace'],
    [{ env: { 'A=B': 'x' } }, 'not a valid variable name'],
    [{ env: { A: 'x\0--bind\0/\0/host' } }, 'contains a NUL'],
  ])('%j is refused', async (options, message) =>
    inSandbox(async ({ workspace }) => {
      await expect(collected(workspace, ['true'], options)).rejects.toMatchObject({
        code: 'input/invalid',
        message: expect.stringContaining(message),
      });
    }),
  );

  test('a missing working directory is an error, not a failed program', async () =>
    inSandbox(async ({ workspace }) => {
      await expect(collected(workspace, ['true'], { cwd: 'work/missing' })).rejects.toMatchObject({
        code: 'executor/failed',
        message: expect.stringContaining('chdir'),
      });
    }));

  test('a program is talked to, with and without a terminal', async () =>
    inSandbox(async ({ workspace }) => {
      for (const terminal of [false, true]) {
        const stdout = textSink();
        const program = await workspace.start?.(
          programSpec(['sh', '-c', 'test -t 0 && echo terminal; read a; echo "got $a"; read b; echo "and $b"']),
          {
            stdout,
            stderr: textSink(),
            terminal,
          },
        );
        program?.write(Buffer.from('one\n'));
        program?.write(Buffer.from('two\n'));
        program?.closeInput();
        expect(await program?.ended).toMatchObject({ reason: 'exited', exitCode: 0 });
        expect([
          stdout.text().includes('terminal'),
          stdout.text().includes('got one'),
          stdout.text().includes('and two'),
        ]).toEqual([terminal, true, true]);
      }
    }));

  test('detaching ends all programs and prevents new ones', async () => {
    const opened = await openWorkspace(make());
    const running = collected(opened.workspace, ['sleep', '60']);
    const second = opened.workspace.start?.(programSpec(['sleep', '60']), {
      stdout: textSink(),
      stderr: textSink(),
      terminal: false,
    });
    const program = await second;
    await opened.workspace.detach();
    expect((await program?.ended)?.reason).toBe('signal');
    expect((await running).end.reason).toBe('signal');
    await expect(collected(opened.workspace, ['true'])).rejects.toMatchObject({ code: 'executor/failed' });
    await opened.close();
  });

  test('detaching while a program starts ends that program too', async () => {
    const opened = await openWorkspace(make());
    const starting = opened.workspace.start?.(programSpec(['sleep', '60']), {
      stdout: textSink(),
      stderr: textSink(),
      terminal: false,
    });
    await opened.workspace.detach();
    expect((await (await starting)?.ended)?.reason).toBe('signal');
    await opened.close();
  });

  verifies('EXEC-8', 'thirty concurrent short runs all return their own result', async () =>
    inSandbox(async ({ workspace }) => {
      const ends = await Promise.all(
        Array.from(
          { length: 30 },
          async (_, at) => await collected(workspace, ['sh', '-c', `echo ${String(at)}; exit ${String(at)}`]),
        ),
      );
      expect(ends.map(({ end, stdout }) => [end.exitCode, stdout])).toEqual(
        Array.from({ length: 30 }, (_, at) => [at, `${String(at)}\n`]),
      );
    }),
  );
});
