import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { measureMemory } from '../../../src/sandbox/executors/socket-memory.ts';
import { scratch } from '../../skills/registry/support.ts';
import { oddSeconds, processesWith } from './programs.ts';
import { RUN_MARK, followTree, processTable } from '../../../src/sandbox/process/process-tree.ts';

/** A process group of our own, ended with the test at the latest. */
function startGroup(argv: readonly string[], mark: string): number {
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    detached: true,
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', [RUN_MARK]: mark },
  });
  const pid = child.pid ?? 0;
  onTestFinished(() => void child.kill('SIGKILL'));
  return pid;
}

test('a process name that looks like stat columns is parsed correctly', async () => {
  const program = path.join(scratch(), 'a) Z 1 (b');
  copyFileSync('/bin/sleep', program);
  const seconds = oddSeconds();
  const pid = startGroup([program, seconds], 'm1');
  await expect.poll(() => processesWith(seconds)).toEqual([pid]);
  const table = processTable();
  const row = table.since(performance.now()).find((process) => process.pid === pid);
  expect({ ...row, started: 0, mark: row === undefined ? '' : table.markOf(row) }).toEqual({
    pid,
    parent: process.pid,
    group: pid,
    session: pid,
    started: 0,
    isZombie: false,
    mark: 'm1',
  });
});

test('members are found by group, session, parent and mark; other processes are ignored', async () => {
  const [own, foreign] = [oddSeconds(), oddSeconds()];
  const line = `setsid sleep ${own} & (setsid sh -c 'sleep ${own} & exec sleep ${own}' &) ; exec sleep ${own}`;
  const pid = startGroup(['sh', '-c', line], 'm2');
  const stranger = startGroup(['sleep', foreign], 'm2x');
  const table = processTable();
  const tree = followTree(pid, 'm2', table);
  // Each has its own session once it is the program it will be.
  const isSleeping = (member: number): boolean => readFileSync(`/proc/${String(member)}/comm`, 'utf8') === 'sleep\n';
  await expect.poll(() => processesWith(own).filter(isSleeping).length).toBe(4);
  const members = tree.members(table.since(performance.now()), { thorough: true }).map((row) => row.pid);
  expect(new Set(members)).toEqual(new Set(processesWith(own)));
  expect(measureMemory(members, Infinity)).toBeGreaterThan(0);
  tree.kill();
  await expect.poll(() => processesWith(own)).toEqual([]);
  expect(tree.hunted()).toBe(3);
  expect(processesWith(foreign)).toEqual([stranger]);
  tree.kill();
});

test('a table scans once per time, and again for later times', () => {
  const table = processTable();
  const first = table.since(performance.now());
  expect(table.since(-Infinity)).toBe(first);
  expect(table.since(performance.now())).not.toBe(first);
});

test('exited processes use no memory', () => {
  expect(measureMemory([4_194_305], 1)).toBe(0);
  expect(measureMemory([process.pid], 0)).toBeGreaterThan(1 << 20);
});
