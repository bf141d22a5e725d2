import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { LAUNCHER_SCRIPT } from '../../src/sandbox/executors/namespaces/launcher-script.ts';
import { namespacePlan } from '../../src/sandbox/executors/namespaces/executor.ts';
import { PERL } from '../../src/sandbox/executors/linux/perl.ts';
import { encodePlan } from '../../src/sandbox/executors/namespaces/plan.ts';
import { sandboxEntries } from '../../src/sandbox/executors/linux/profile.ts';
import { systemMounts } from '../../src/sandbox/executors/linux/mounts.ts';
import { seccompBytes } from '../../src/sandbox/executors/seccomp/filter.ts';
import { onMachineWithout, type Lack } from './forbidden-calls.ts';
import { needs } from '../needs.ts';

const isRoot = process.getuid?.() === 0;
let folder = '';

interface Launched {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the launcher itself, without the executor around it. */
async function launch(script: string, lacks: readonly Lack[], filter: Uint8Array): Promise<Launched> {
  const entries = sandboxEntries({
    system: systemMounts({ runtimes: [], identity: undefined }),
    skills: [{ type: 'bind', source: path.join(folder, 'skill'), target: '/workspace/skills/pdf' }],
    writable: [{ name: 'work', source: path.join(folder, 'work') }],
    mounts: [],
    temporaryBytes: 1024 * 1024,
    sharedMemoryBytes: 1024 * 1024,
  });
  const limits = { processes: 66, fileBytes: 1_000_000, openFiles: 256, cpuSeconds: 20 };
  const request = { entries, cwd: '/workspace', env: { PATH: '/usr/bin:/bin' }, argv: ['sh', '-c', script], limits };
  writeFileSync(path.join(folder, 'plan'), encodePlan(namespacePlan({ ...request, hasEntry: false })));
  writeFileSync(path.join(folder, 'filter'), filter);
  const files = ['plan', 'filter'].map((name) => openSync(path.join(folder, name), 'r'));
  const [command = '', ...args] = onMachineWithout(lacks, [PERL, '-e', LAUNCHER_SCRIPT]);
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe', ...files],
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  });
  for (const file of files) closeSync(file);
  child.stdin?.on('error', () => undefined).end('\n');
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const status = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { status, stdout, stderr };
}

const FILTER = seccompBytes(process.arch === 'arm64' ? 'arm64' : 'x64');

describe('the launcher', needs('namespaces'), () => {
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-launcher-'));
    chmodSync(folder, 0o711);
    // As open as possible, so that only the sandbox protects them.
    for (const name of ['skill', 'work']) {
      mkdirSync(path.join(folder, name));
      chmodSync(path.join(folder, name), 0o777);
    }
    writeFileSync(path.join(folder, 'skill/SKILL.md'), 'x');
    chmodSync(path.join(folder, 'skill/SKILL.md'), 0o666);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // The second is Linux 5.4 as far as the launcher knows.
  test.each([[[]], [['mount_setattr', 'close_range'] as const]])(
    'makes every mount read-only but the writable ones, and passes no descriptor on, without %j',
    async (lacks) => {
      const script = [
        'for f in /x /usr/x /etc/x /dev/x /proc/sys/kernel/hostname /workspace/x /workspace/skills/x /workspace/skills/pdf/SKILL.md; do (echo x > $f) 2>/dev/null && echo "wrote $f"; done',
        'awk \'{ split($6, o, ","); if (o[1] != "ro") print $5 }\' /proc/self/mountinfo | sort | tr "\\n" " "',
        'awk \'$6 !~ /nosuid/ { print "suid", $5 }\' /proc/self/mountinfo',
        'ls /proc/self/fd | tr "\\n" " "; ls -A / | tr "\\n" " "',
      ].join('\n');
      const { status, stdout, stderr } = await launch(script, lacks, FILTER);
      const devices = ['full', 'null', 'pts', 'random', 'shm', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`);
      const writable = [...devices, '/proc', '/tmp', '/workspace/work'];
      expect([status, stderr]).toEqual([0, '\u0006']);
      const shown = stdout.replace('bin dev etc lib lib64 ', 'bin dev etc lib ');
      expect(shown).toBe(`${writable.join(' ')} 0 1 2 3 bin dev etc lib proc sbin tmp usr workspace `);
    },
  );

  test('starts nothing where the filter cannot be loaded', async () => {
    const { status, stdout, stderr } = await launch('echo started', [], FILTER.subarray(0, 12));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('cannot load the seccomp filter');
  });

  test('starts nothing where namespaces are forbidden, and says so', async () => {
    const { status, stdout, stderr } = await launch('echo started', ['user namespaces'], FILTER);
    expect([status, stdout, stderr]).toEqual([1, '', 'cannot create namespaces: Operation not permitted\n']);
  });
});
