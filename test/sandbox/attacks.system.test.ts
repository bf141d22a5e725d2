import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { attackedExecutor } from './attacked-executor.ts';
import { openAttackField } from './attack-field.ts';
import { attackCases } from './attacks.ts';
import type { AttackReport } from './run-attacks.ts';
import { bundleProgram } from '../bundle-program.ts';
import { openExecutor } from './open-executor.ts';
import { openWorkspace } from './sandbox.ts';
import { has, needs } from '../needs.ts';

const isRoot = process.getuid?.() === 0;
const ATTACK_MS = 240_000;
const SECRET = `attack-secret-${String(process.pid)}`;
let folder = '';
let runner = '';

async function bundle(): Promise<void> {
  folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-runner-'));
  chmodSync(folder, 0o755);
  runner = await bundleProgram(new URL('attack-runner.ts', import.meta.url), folder);
}

interface Started {
  readonly output: () => string;
  readonly errors: () => string;
  readonly pid: number;
  readonly exited: Promise<number | null>;
}

/** The runner, with descriptor 21 open on the secret, as `uid` where one is given. */
function startRunner(args: readonly string[], uid?: number): Started {
  const key = path.join(folder, 'key');
  writeFileSync(key, SECRET, { mode: 0o644 });
  const drop =
    uid === undefined ? [] : ['setpriv', `--reuid=${String(uid)}`, `--regid=${String(uid)}`, '--clear-groups'];
  const child = spawn(
    '/bin/bash',
    ['-c', 'exec 21< "$0"; exec "$@"', key, ...drop, process.execPath, runner, ...args],
    {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', ATTACK_SECRET: SECRET, HOME: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), ATTACK_MS);
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
  return { output: () => output, errors: () => errors, pid: child.pid ?? 0, exited };
}

const running = new Map<string, Started>();

/** The attacks on both executors wait more than they work, so they run beside each other. */
function attacksBy(executor: string, uid: number | undefined): Started {
  for (const name of launchers.filter(({ isHere }) => isHere).map((launcher) => launcher.executor)) {
    const key = `${name} ${String(uid)}`;
    if (!running.has(key)) running.set(key, startRunner([name], uid));
  }
  return running.get(`${executor} ${String(uid)}`) ?? startRunner([executor], uid);
}

const callers = isRoot
  ? [
      { caller: 'root', uid: undefined },
      { caller: 'an ordinary user', uid: 64_321 },
    ]
  : [{ caller: 'an ordinary user', uid: undefined }];
if (!isRoot) console.log('skipped: attacks with root as the caller, because we are not root');

beforeAll(bundle);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const launchers = [
  { executor: 'bubblewrap', isHere: has('bubblewrap') },
  { executor: 'namespaces', isHere: has('namespaces') },
];
describe.each(launchers.filter(({ isHere }) => isHere))('attacks on $executor', ({ executor }) => {
  describe.each(callers)('started by $caller', ({ uid }) => {
    let report: AttackReport = { outcomes: [], later: [] };
    beforeAll(async () => {
      const started = attacksBy(executor, uid);
      const status = await started.exited;
      expect(status, started.errors()).toBe(0);
      report = JSON.parse(started.output()) as AttackReport;
    }, ATTACK_MS);

    for (const [at, { number, name, language }] of attackCases.entries())
      verifies(
        number === 8 || number === 9 || number === 10 ? 'EXEC-8' : 'EXEC-7',
        `attack ${String(number)}: a program that ${name} harms nobody`,
        () => {
          expect(report.outcomes[at]).toEqual({ number, name, reason: report.outcomes[at]?.reason, damage: [] });
        },
        language === 'python3' ? needs('python3') : undefined,
      );

    verifies('EXEC-7', 'nothing is damaged after the last attack has ended', () => {
      expect(report.later).toEqual([]);
    });
  });
});

const holders = [...launchers, { executor: 'landlock', isHere: has('landlock') }].filter(({ isHere }) => isHere);

describe.each(holders)(
  'a daemon under $executor that left its parents, group, session and environment',
  ({ executor }) => {
    describe.each(callers)('when $caller is killed', ({ uid }) => {
      verifies('EXEC-8', 'ends, and no mount of a program is left', async () => {
        const started = startRunner([executor, 'hold'], uid);
        const root = await firstLine(started);
        const reader = spawn('cat', [path.join(root, 'out/alive')]);
        onTestFinished(() => void reader.kill('SIGKILL'));
        const isOver = once(reader, 'exit');
        expect(String(await once(reader.stdout, 'data'))).toBe('held\n');
        process.kill(started.pid, 'SIGKILL');
        await started.exited;
        // The pipe ends with the last process that holds it.
        expect(await isOver).toEqual([0, null]);
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(path.dirname(root));
        // The next one to attach clears away what the killed one could not.
        const next = await openWorkspace(attackedExecutor(executor));
        await next.close();
        expect(groupsOf(started.pid)).toEqual([]);
        rmSync(path.dirname(root), { recursive: true, force: true });
      });
    });
  },
);

// Without a sandbox they must work: otherwise they prove nothing. Those that would hurt this machine are left out.
for (const attack of attackCases.filter(({ number }) => [2, 3, 4, 5, 26].includes(number)))
  test(
    `without a sandbox a program that ${attack.name} does harm`,
    attack.language === 'python3' ? needs('python3') : {},
    async () => {
      const field = await openAttackField(openExecutor(), SECRET);
      const { damage } = await field.run(attack);
      await field.close();
      expect(damage).not.toEqual([]);
    },
  );

async function firstLine({ output }: Started): Promise<string> {
  await until(() => output().includes('\n'));
  return output().split('\n')[0] ?? '';
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('it did not come to pass within 30 s');
    await delay(20);
  }
}

function groupsOf(pid: number): readonly string[] {
  return ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/pids']
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith(`skillwright-${String(pid)}-`));
}
