import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { field, listField, textField } from '../../src/sandbox/executors/container/json-answer.ts';
import { isSkillError } from '../../src/core/errors.ts';
import { connectEngine } from '../../src/sandbox/executors/container/client.ts';
import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { verifies } from '../conformance/verifies.ts';
import { bundleProgram } from '../bundle-program.ts';
import { makeWorkspace, run } from './container-support.ts';
import { sharedDockerEngine, startDockerEngine, type TestEngine } from './docker-engine.ts';
import { skipUnless } from '../needs.ts';

const started = await sharedDockerEngine();
if (typeof started === 'string') console.log(`skipped: failures of containers, because ${started}`);
const first = typeof started === 'string' ? undefined : started;

describe('when something dies', skipUnless(first !== undefined, 'dockerd'), () => {
  let runner = '';
  const engine = (): TestEngine => {
    if (first === undefined) throw new Error('there is no engine');
    return first;
  };

  beforeAll(async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-runner-'));
    chmodSync(folder, 0o755);
    runner = await bundleProgram(new URL('container-runner.ts', import.meta.url), folder);
  });
  afterAll(() => rmSync(path.dirname(runner), { recursive: true, force: true }));

  const startRunner = (mode: string, drop: readonly string[] = []): { child: ChildProcess; output: () => string } => {
    const { socket, rootFileSystem } = engine();
    const argv = [...drop, process.execPath, runner, mode, socket, rootFileSystem];
    const child = spawn('/usr/bin/env', argv, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    return { child, output: () => output };
  };

  verifies(
    'EXEC-8',
    'a killed owner leaves no process in its container, and no container after the next attach',
    async () => {
      const { child, output } = startRunner('hold');
      const gone = new Promise((resolve) => {
        child.once('close', resolve);
      });
      await until(() => output().includes('\n'));
      const root = output().trim();
      const heartbeat = path.join(root, 'out/heartbeat');
      await until(() => existsSync(heartbeat) && statSync(heartbeat).size > 4);
      child.kill('SIGKILL');
      await gone;
      const client = await connectEngine({ type: 'unix', socketPath: engine().socket });
      const filters = encodeURIComponent(JSON.stringify({ label: ['dev.skillwright.owner'] }));
      // Other test files use the same engine.
      const containers = async (): Promise<readonly unknown[]> =>
        listField((await client.get(`/containers/json?all=true&filters=${filters}`)).body).filter(
          (each) =>
            textField(field(each, 'Labels', 'dev.skillwright.owner'))?.startsWith(`${String(child.pid)}/`) === true,
        );
      // Its lifeline is cut: nobody has to come for its processes to end.
      for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) {
        const size = statSync(heartbeat).size;
        await delay(300);
        if (statSync(heartbeat).size === size) break;
      }
      const size = statSync(heartbeat).size;
      await delay(300);
      expect(statSync(heartbeat).size).toBe(size);
      const made = makeWorkspace();
      const { socket, rootFileSystem } = engine();
      const workspace = await containerExecutor({ socket, rootFileSystem }).attach(made.place);
      await workspace.detach();
      expect(await containers()).toEqual([]);
      client.close();
      made.remove();
      rmSync(path.dirname(root), { recursive: true, force: true });
    },
  );

  const runAsOrdinaryUser = async (mode: string): Promise<unknown> => {
    chmodSync(engine().socket, 0o666);
    const { child, output } = startRunner(mode, ['setpriv', '--reuid=64321', '--regid=64321', '--clear-groups']);
    const status = await new Promise((resolve) => {
      child.once('close', resolve);
    });
    expect(status).toBe(0);
    return JSON.parse(output());
  };

  verifies('EXEC-7', 'an ordinary user runs programs in containers as that user', async () => {
    expect(await runAsOrdinaryUser('run')).toEqual([
      { end: { reason: 'exited', exitCode: 0 }, stdout: '64321\n', stderr: '' },
      // Files that the first program left in /tmp are gone, although this user cannot look into the container.
      { end: { reason: 'exited', exitCode: 0 }, stdout: '', stderr: '' },
    ]);
  });

  test('the probe of an ordinary user finds that containers isolate', async () => {
    const report = await runAsOrdinaryUser('probe');
    expect(report).toMatchObject({ executor: 'container', isolation: 'container', isIsolating: true });
  });

  test('an engine that dies in the middle is an error and not a wait without end', async () => {
    const own = await startDockerEngine(['cat', 'sleep', 'true']);
    if (typeof own === 'string') throw new Error(own);
    const made = makeWorkspace();
    try {
      const { socket, rootFileSystem } = own;
      const workspace = await containerExecutor({ socket, rootFileSystem }).attach(made.place);
      const running = run(workspace, ['sleep', '60']).then(
        () => 'it ended',
        (error: unknown) => (isSkillError(error) ? error.code : error),
      );
      await delay(500);
      await own.kill();
      expect(await running).toBe('executor/failed');
      const after = await run(workspace, ['true']).then(
        () => 'it ran',
        (error: unknown) => (isSkillError(error) ? error.code : error),
      );
      expect(after).toBe('executor/failed');
      await workspace.detach().then(undefined, (error: unknown) => expect(isSkillError(error)).toBe(true));
    } finally {
      await own.stop();
      made.remove();
    }
  });
});

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it did not come to pass within 30 s');
    await delay(20);
  }
}
