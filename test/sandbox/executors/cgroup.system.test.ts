import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { DEFAULT_LIMITS } from '../../../src/core/execution.ts';
import { findControlGroups, makeRunGroup, removeStaleGroups } from '../../../src/sandbox/executors/cgroup.ts';
import { SANDBOXES, openWorkspace, programSpec, textSink } from '../sandbox.ts';
import { skipUnless } from '../../needs.ts';
import { tryRead } from '../../../src/sandbox/process/proc.ts';

const place = findControlGroups();

describe('where control groups can be made', () => {
  test('nowhere, where the kernel shows none', () => {
    expect(findControlGroups({ membership: '', mounts: '' })).toBeUndefined();
    expect(
      findControlGroups({ membership: '0::/x\n', mounts: '30 20 0:26 / /nonexistent rw - cgroup2 cgroup2 rw\n' }),
    ).toBeUndefined();
  });

  test('not in folders that are none of the kernel: their files are missing', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-cgroup-'));
    mkdirSync(path.join(folder, 'app.slice/own.scope'), { recursive: true });
    const sources = {
      membership: '0::/app.slice/own.scope\n',
      mounts: `30 20 0:26 / ${folder} rw - cgroup2 cgroup2 rw\n`,
    };
    expect(findControlGroups(sources)).toBeUndefined();
    expect(readdirSync(path.join(folder, 'app.slice'))).toEqual(['own.scope']);
    rmSync(folder, { recursive: true });
  });
});

describe('a group of this kernel', skipUnless(place !== undefined, 'control groups that this user may create'), () => {
  if (place === undefined) return;
  const limits = { ...DEFAULT_LIMITS, memoryBytes: 64 * 1024 * 1024, processes: 10 };
  const folders = [place.folder];
  const ours = (): readonly string[] =>
    folders
      .flatMap((folder) => readdirSync(folder))
      .filter((name) => name.startsWith(`skillwright-${String(process.pid)}-`));

  async function inGroup(script: string): Promise<readonly [number, number]> {
    if (place === undefined) return [0, 0];
    const group = makeRunGroup(place, limits, { spare: 0 });
    const child = spawn('/bin/sh', ['-c', `read line\n${script}`], { stdio: ['pipe', 'ignore', 'ignore'] });
    const exited = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    expect(group.has(child.pid ?? 0)).toBe(false);
    await group.add(child.pid ?? 0);
    expect(group.has(child.pid ?? 0)).toBe(true);
    child.stdin.end('\n');
    await exited;
    const counts = [group.memoryKills(true), group.refusedProcesses() ?? 0] as const;
    expect(await group.remove()).toBe(true);
    return counts;
  }

  test('says that a process was killed for its memory', async () => {
    const [kills, refused] = await inGroup('head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null');
    expect([kills > 0, refused]).toEqual([true, 0]);
  });

  test(
    'says that processes were refused (version 2)',
    skipUnless(place.version === 2, 'control groups of version 2'),
    async () => {
      const [kills, refused] = await inGroup('i=0; while [ $i -lt 30 ]; do sleep 0.2 & i=$((i + 1)); done; wait');
      expect([kills, refused > 0]).toEqual([0, true]);
    },
  );

  test(
    'is entered by writing 0 to its entry file (version 1)',
    skipUnless(place.version === 1, 'control groups of version 1'),
    async () => {
      const group = makeRunGroup(place, limits, { spare: 0 });
      const entry = openSync(group.entry ?? '', 'r+');
      // Whoever opened it is asked for rights, and not the one who writes.
      const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const child = spawn('/bin/sh', ['-c', 'echo 0 >&3; exec 3>&-; echo in; read line'], {
        stdio: ['pipe', 'pipe', 'ignore', entry],
        ...nobody,
      });
      closeSync(entry);
      const exited = new Promise((resolve) => {
        child.once('exit', resolve);
      });
      await new Promise((resolve) => {
        child.stdout?.once('data', resolve);
      });
      expect(group.has(child.pid ?? 0)).toBe(true);
      child.stdin?.end('\n');
      await exited;
      expect(await group.remove()).toBe(true);
    },
  );

  test.each(SANDBOXES)('holds all processes of %s: the launcher, process 1 and the program', async (_, make) => {
    const { workspace, close } = await openWorkspace(make());
    try {
      const members: string[] = [];
      await workspace.run(programSpec(['sh', '-c', 'echo up; sleep 1']), {
        stdout: {
          write: () => {
            for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
              if (tryRead(`/proc/${pid}/cgroup`)?.includes(`/skillwright-${String(process.pid)}-`) === true)
                members.push(/^NSpid:\s(.*)$/m.exec(tryRead(`/proc/${pid}/status`) ?? '')?.[1] ?? '');
            return true;
          },
        },
        stderr: textSink(),
      });
      // The last number is the one inside.
      const inside = members.map((numbers) => numbers.split('\t').slice(1).join(' '));
      expect([inside.filter((id) => id === '').length, inside.includes('1'), inside.length >= 3]).toEqual([
        1,
        true,
        true,
      ]);
    } finally {
      await close();
    }
  });

  test('says nothing where nothing was', async () => {
    expect(await inGroup('true')).toEqual([0, 0]);
  });

  test('leaves nothing behind, and removes what the dead left', () => {
    const before = ours();
    const left = path.join(folders[0] ?? '', 'skillwright-1-999999999999-left');
    const others = path.join(folders[0] ?? '', `skillwright-${String(process.pid)}-${readStart()}-mine`);
    mkdirSync(left);
    mkdirSync(others);
    removeStaleGroups(place);
    expect([existsSync(left), existsSync(others)]).toEqual([false, true]);
    rmdirSync(others);
    expect(ours()).toEqual(before);
  });
});

function readStart(): string {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
