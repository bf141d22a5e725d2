import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { DEFAULT_LIMITS, type AttachedWorkspace, type ProgramSpec } from '../../../src/core/execution.ts';
import { openInteractions, type Interactions } from '../../../src/sandbox/interaction/interactions.ts';
import { localExecutor } from '../../../src/sandbox/executors/local.ts';
import { verifies } from '../../conformance/verifies.ts';
import { needs } from '../../needs.ts';

let root = '';
let attached: AttachedWorkspace;
beforeAll(async () => {
  const executor = localExecutor();
  root = mkdtempSync(path.join(tmpdir(), 'interactions-'));
  chmodSync(root, 0o711);
  for (const name of ['skills', 'work', 'work/inputs', 'runs', 'out']) {
    mkdirSync(path.join(root, name));
    if (executor.identity !== undefined) chownSync(path.join(root, name), executor.identity.uid, executor.identity.gid);
  }
  attached = await executor.attach({ id: 'w', root, skills: [] });
});
afterAll(async () => {
  await attached.detach();
  rmSync(root, { recursive: true });
});

function program(script: string, more: Partial<ProgramSpec> = {}): ProgramSpec {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
  return {
    argv: ['sh', '-c', script],
    cwd: 'work',
    env,
    stdin: new Uint8Array(),
    limits: DEFAULT_LIMITS,
    network: [],
    ...more,
  };
}

async function withInteractions(
  run: (interactions: Interactions, clock: { now: number }) => Promise<void>,
): Promise<void> {
  const clock = { now: 0 };
  let ids = 0;
  const interactions = openInteractions({ now: () => clock.now, newId: () => `s${String((ids += 1))}` });
  try {
    await run(interactions, clock);
  } finally {
    await interactions.close();
  }
}

const failureOf = async (promise: Promise<unknown>): Promise<unknown> => await promise.catch((error: unknown) => error);
const LONG = 20_000;

/** The ids of the sessions that are not forgotten, as the message about an unknown one lists them. */
async function listSessions(interactions: Interactions): Promise<string> {
  const error = await failureOf(interactions.write('unknown'));
  return error instanceof Error ? error.message.replace('unknown session "unknown"; ', '') : '';
}

/** A dead process that nobody has asked about yet is dead. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8', timeout: 10_000 });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

describe('an interactive program', () => {
  test('that ends immediately is returned completely', async () => {
    await withInteractions(async (interactions) => {
      const view = await interactions.start(attached, program('echo out; echo err >&2; exit 3'), { yieldMs: LONG });
      const { output, end, ...rest } = view;
      expect(output.split('\n').sort()).toEqual(['', 'err', 'out']);
      expect(end).toMatchObject({ reason: 'exited', exitCode: 3 });
      expect(rest).toEqual({
        status: 'exited',
        sessionId: 's1',
        offset: 0,
        nextOffset: 2,
        remaining: 0,
        exitCode: 3,
        warnings: [],
      });
    });
  });

  test('asks, is answered, and goes on', async () => {
    await withInteractions(async (interactions) => {
      const script =
        'printf "Name: "; read name; echo "Hello $name"; printf "1) a\\n2) b\\nChoose: "; read n; echo "got $n"';
      const asked = await interactions.start(attached, program(script), { yieldMs: LONG });
      expect(asked).toMatchObject({
        status: 'running',
        output: 'Name: ',
        interaction: { needsInput: true, kind: 'prompt', hint: 'waits for input: "Name:"' },
      });
      const chosen = await interactions.write('s1', { chars: 'Bob', submit: true, yieldMs: LONG });
      expect(chosen.output).toBe('Hello Bob\n1) a\n2) b\nChoose: ');
      expect(chosen.interaction?.kind).toBe('selection');
      expect(chosen.end).toBeUndefined();
      const done = await interactions.write('s1', { chars: '2\n', yieldMs: LONG });
      expect(done).toMatchObject({ status: 'exited', output: 'got 2\n', exitCode: 0, offset: 3, nextOffset: 4 });
    });
  });

  test('that writes nothing does not hold anybody up', async () => {
    await withInteractions(async (interactions) => {
      const view = await interactions.start(attached, program('sleep 60'), { yieldMs: 50 });
      expect(view).toMatchObject({ status: 'running', output: '' });
      expect(await interactions.write('s1', { yieldMs: 0 })).toMatchObject({ status: 'running', output: '' });
    });
  });

  test('that writes much is read in parts', async () => {
    await withInteractions(async (interactions) => {
      const first = await interactions.start(attached, program('seq 1 100; sleep 60'), {
        yieldMs: LONG,
        pollLines: 40,
      });
      const rest = await interactions.write('s1', { pollLines: 60, yieldMs: LONG });
      expect((first.output + rest.output).split('\n')).toEqual([
        ...Array.from({ length: 100 }, (_, at) => String(at + 1)),
        '',
      ]);
      expect([first.offset, first.nextOffset, rest.offset, rest.nextOffset]).toEqual([0, 40, 40, 100]);
    });
  });

  test('gets its first input with the start and the end of input by its key', async () => {
    await withInteractions(async (interactions) => {
      const stdin = new TextEncoder().encode('one\n');
      await interactions.start(attached, program('cat; echo end', { stdin }), { yieldMs: 200 });
      const view = await interactions.write('s1', { chars: '\u0004', yieldMs: LONG });
      expect(view).toMatchObject({ status: 'exited', exitCode: 0 });
      expect(view.output.endsWith('end\n')).toBe(true);
    });
  });

  test('is ended for its output, and says so', async () => {
    await withInteractions(async (interactions) => {
      const limits = { ...DEFAULT_LIMITS, outputBytes: 100_000 };
      const view = await interactions.start(attached, program('yes', { limits }), { yieldMs: LONG, pollLines: 20_000 });
      const last = view.end === undefined ? await interactions.write('s1', { yieldMs: LONG, pollLines: 20_000 }) : view;
      let end = last.end;
      for (let tries = 0; end === undefined && tries < 50; tries += 1) end = (await interactions.write('s1')).end;
      expect(end?.reason).toBe('output');
    });
  });
});

describe('a terminal', () => {
  test('is given where the executor has one, with its echo and without its sequences', async () => {
    if (!attached.capabilities.hasTerminal) {
      console.log('skipped: there is no /usr/bin/script here');
      return;
    }
    await withInteractions(async (interactions) => {
      const script = 'test -t 0 && test -t 1 && printf "\\033[1mName\\033[0m: "; read name; echo "Hello $name"';
      const asked = await interactions.start(attached, program(script), { terminal: true, yieldMs: LONG });
      expect(asked).toMatchObject({ output: 'Name: ', interaction: { kind: 'prompt' } });
      const done = await interactions.write('s1', { chars: 'Zoë', submit: true, yieldMs: LONG });
      const last = done.end === undefined ? await interactions.write('s1', { yieldMs: LONG }) : done;
      expect((done === last ? done.output : done.output + last.output).endsWith('Hello Zoë\n')).toBe(true);
      expect(last).toMatchObject({ status: 'exited', exitCode: 0 });
    });
  });

  test('that is not available is reported, and pipes are used', async () => {
    const without = { ...attached, capabilities: { ...attached.capabilities, hasTerminal: false } };
    await withInteractions(async (interactions) => {
      const view = await interactions.start(without, program('test -t 0 || echo pipe'), {
        terminal: true,
        yieldMs: LONG,
      });
      expect(view).toMatchObject({
        output: 'pipe\n',
        warnings: ['this executor has no terminal; pipes are used instead'],
      });
    });
  });
});

describe('an end', () => {
  verifies(
    'EXEC-8',
    'an interactive program is killed with everything it started',
    async () => {
      await withInteractions(async (interactions) => {
        const inner = `trap : TERM; echo $$; sleep 300`;
        const script = `trap : TERM INT; setsid sh -c '${inner}' & sleep 300`;
        const { output } = await interactions.start(attached, program(script), { pollLines: 1, yieldMs: LONG });
        expect(isRunning(Number(output))).toBe(true);
        expect(await interactions.kill('s1')).toBe('killed');
        expect((await interactions.write('s1')).end?.reason).toBe('cancelled');
        expect(isRunning(Number(output))).toBe(false);
        expect(await interactions.kill('s1')).toBe('exited');
      });
    },
    needs('python3'),
  );

  verifies('EXEC-8', 'an interactive program ends after its idle timeout and after its total timeout', async () => {
    await withInteractions(async (interactions) => {
      await interactions.start(attached, program('sleep 300'), { idleMs: 100, yieldMs: 0 });
      const limits = { ...DEFAULT_LIMITS, wallMs: 300 };
      await interactions.start(attached, program('while :; do echo x; sleep 0.02; done', { limits }), { yieldMs: 0 });
      for (const id of ['s1', 's2']) {
        let view = await interactions.write(id, { yieldMs: LONG, pollLines: 20_000 });
        if (view.status === 'running') view = await interactions.write(id, { yieldMs: LONG, pollLines: 20_000 });
        expect([id, view.status, view.end?.reason]).toEqual([id, 'exited', 'timeout']);
      }
    });
  });

  test('a program that goes on writing is not idle', async () => {
    await withInteractions(async (interactions) => {
      const script = 'i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo $i; sleep 0.1; done';
      const view = await interactions.start(attached, program(script), { idleMs: 1500, yieldMs: LONG });
      expect(view).toMatchObject({ status: 'exited', exitCode: 0 });
    });
  });

  test('close ends everything, and nothing starts after it', async () => {
    await withInteractions(async (interactions) => {
      await interactions.start(attached, program('sleep 300'), { yieldMs: 0 });
      await interactions.close();
      await interactions.close();
      expect(await listSessions(interactions)).toBe('no session is open');
      expect(await failureOf(interactions.start(attached, program('true')))).toMatchObject({ code: 'input/invalid' });
    });
  });

  test('a cancelled start leaves no program', async () => {
    await withInteractions(async (interactions) => {
      const stop = new AbortController();
      const start = interactions.start(attached, program('echo ready; sleep 300'), {
        yieldMs: LONG,
        signal: stop.signal,
      });
      setTimeout(() => stop.abort(new Error('enough')), 300);
      expect(await failureOf(start)).toEqual(new Error('enough'));
      expect((await interactions.write('s1', { yieldMs: LONG })).end?.reason).toBe('cancelled');
    });
  });
});

describe('ids', () => {
  test('that are unknown, or over, fail with those that are not', async () => {
    await withInteractions(async (interactions) => {
      await interactions.start(attached, program('sleep 300'), { yieldMs: 0 });
      await interactions.start(attached, program('true'), { yieldMs: LONG });
      expect(await failureOf(interactions.write('\x1b[2Jnope'))).toMatchObject({
        code: 'input/invalid',
        message: 'unknown session "\\x1b[2Jnope"; open sessions: s1, s2',
        data: { expected: 'the id of an open session, s1, s2' },
      });
      expect(await failureOf(interactions.kill('x'))).toMatchObject({ code: 'input/invalid' });
      expect(await failureOf(interactions.write('s2', { chars: 'x' }))).toMatchObject({
        message: 'the program of session "s2" has ended and accepts no input; open sessions: s1',
      });
      expect(await failureOf(interactions.write('s1', { chars: 'x'.repeat(100_000) }))).toMatchObject({
        code: 'input/invalid',
      });
    });
  });

  test('there are so many at a time', async () => {
    await withInteractions(async (interactions) => {
      const started = await Promise.all(
        Array.from({ length: 9 }, () => failureOf(interactions.start(attached, program('sleep 300'), { yieldMs: 0 }))),
      );
      expect(started.filter((each) => each instanceof Error)).toHaveLength(1);
      await interactions.kill('s1');
      expect(await interactions.start(attached, program('sleep 300'), { yieldMs: 0 })).toMatchObject({
        status: 'running',
      });
    });
  });

  test('that are over are forgotten after half an hour, and beyond a number', async () => {
    await withInteractions(async (interactions, clock) => {
      for (let count = 0; count < 18; count += 1)
        await interactions.start(attached, program('true'), { yieldMs: LONG });
      await interactions.start(attached, program('sleep 300; echo hi'), { yieldMs: 0 });
      const all = Array.from({ length: 17 }, (_, at) => `s${String(at + 3)}`);
      expect(await listSessions(interactions)).toBe(`open sessions: ${all.join(', ')}`);
      clock.now = 30 * 60_000;
      expect(await listSessions(interactions)).toBe('open sessions: s19');
    });
  });

  test('an executor that cannot talk says so', async () => {
    const silent: AttachedWorkspace = {
      capabilities: attached.capabilities,
      root: attached.root,
      run: async (spec, streams) => await attached.run(spec, streams),
      detach: async () => undefined,
    };
    await withInteractions(async (interactions) => {
      expect(await failureOf(interactions.start(silent, program('true')))).toMatchObject({
        code: 'executor/unavailable',
      });
    });
  });

  test('a program that does not exist is a failure and no session', async () => {
    await withInteractions(async (interactions) => {
      const view = await failureOf(interactions.start(attached, program('', { cwd: '../..' }), { yieldMs: LONG }));
      expect(view).toMatchObject({ code: 'input/invalid' });
      expect(await listSessions(interactions)).toBe('no session is open');
    });
  });
});
