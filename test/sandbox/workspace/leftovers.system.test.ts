import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openBase } from '../../../src/sandbox/workspace/layout.ts';
import { removeLeftovers } from '../../../src/sandbox/workspace/leftovers.ts';
import { ownerName, thisProcess, type LockOwner } from '../../../src/platform/fs/lock-owner.ts';
import { writeFolderOwner } from '../../../src/sandbox/workspace/folder-owner.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';

const OPTIONS = { maxMs: 30_000, keptForMs: 24 * 60 * 60_000 };

function deadOwner(): LockOwner {
  // A number that no process has: its start is that of nobody.
  return { ...thisProcess(), start: '1' };
}

function workspace(base: string, number: number, owner: LockOwner | 'kept' | undefined, name?: string): string {
  const folder = path.join(base, name ?? `${String(number).padStart(16, '0')}-00000000`);
  mkdirSync(path.join(folder, 'work'), { recursive: true });
  if (owner !== undefined) writeFolderOwner(folder, owner);
  return folder;
}

function age(file: string, hours: number): void {
  const then = Date.now() / 1000 - hours * 60 * 60;
  utimesSync(file, then, then);
}

describe('what dead processes left', () => {
  test('is removed; what lives, what is kept and what is not ours stays', async () => {
    const root = path.join(scratch(), 'base');
    const base = openBase(root);
    const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' });
    const living: LockOwner = { ...thisProcess(), pid: sleeper.pid ?? 0, start: '' };
    const folders = {
      dead: workspace(root, 1, deadOwner()),
      'of another boot': workspace(root, 2, { ...thisProcess(), boot: '0123456789ab' }),
      living: workspace(root, 3, living),
      ours: workspace(root, 4, thisProcess()),
      kept: workspace(root, 5, 'kept', '0000000000000005.kept'),
      'kept too long': workspace(root, 6, 'kept', '0000000000000006.kept'),
      'without a lock, new': workspace(root, 7, undefined),
      'without a lock, old': workspace(root, 8, undefined),
      'of another container': workspace(root, 9, { ...thisProcess(), space: '1' }),
      'of another container, long ago': workspace(root, 10, { ...thisProcess(), space: '1' }),
      'with a torn lock': workspace(root, 11, undefined),
      'not a workspace': workspace(root, 12, deadOwner(), 'notes'),
      temporary: plant(path.join(base.temporary, `${ownerName(deadOwner())}.abc`), { 'x/y': 'z' }),
      'temporary, ours': plant(path.join(base.temporary, `${ownerName(thisProcess())}.abc`), { 'x/y': 'z' }),
      'temporary, strange': plant(path.join(base.temporary, 'notes'), { x: 'z' }),
    };
    writeFileSync(path.join(folders['with a torn lock'], '.owner'), '12');
    age(path.join(folders['kept too long'], '.owner'), 25);
    age(path.join(folders['of another container, long ago'], '.owner'), 25);
    age(folders['without a lock, old'], 1);
    // A link is no workspace, whatever its name; what it leads to is not looked at.
    symlinkSync(folders['not a workspace'], path.join(root, `${'a'.repeat(16)}-00000000`));

    const swept = await removeLeftovers(base, { ...OPTIONS, now: Date.now() });
    const left = Object.entries(folders).flatMap(([title, folder]) => (existsSync(folder) ? [title] : []));
    expect(left).toEqual([
      'living',
      'ours',
      'kept',
      'without a lock, new',
      'of another container',
      'with a torn lock',
      'not a workspace',
      'temporary, ours',
      'temporary, strange',
    ]);
    expect(swept).toEqual({ removed: 6, left: [] });
    expect(lstatSync(path.join(root, `${'a'.repeat(16)}-00000000`)).isSymbolicLink()).toBe(true);
    sleeper.kill('SIGKILL');
  });

  test('is removed with read-only folders, hundreds of files, odd names and links to elsewhere', async () => {
    const folder = scratch();
    const root = path.join(folder, 'base');
    const base = openBase(root);
    const outside = plant(path.join(folder, 'outside'), { keep: 'x' });
    const dead = workspace(root, 1, deadOwner());
    const work = path.join(dead, 'work');
    for (let number = 0; number < 600; number += 1) writeFileSync(path.join(work, String(number)), '');
    plant(dead, { 'out/deep/er/x': 'x' });
    writeFileSync(Buffer.concat([Buffer.from(`${work}/`), Buffer.from([0xff, 0x0a, 0xfe])]), 'x');
    symlinkSync(outside, path.join(work, 'link'));
    chmodSync(path.join(dead, 'out/deep/er'), 0o000);
    chmodSync(path.join(dead, 'out/deep'), 0o555);
    chmodSync(path.join(dead, 'out'), 0o555);
    expect(await removeLeftovers(base, { ...OPTIONS, now: Date.now() })).toEqual({ removed: 1, left: [] });
    expect(readdirSync(root).toSorted()).toEqual(['snapshots', 'temporary']);
    expect(readdirSync(base.temporary)).toEqual([]);
    expect(readdirSync(outside)).toEqual(['keep']);
  });

  test('takes no longer than it may; what is left then is out of the way and goes the next time', async () => {
    const root = path.join(scratch(), 'base');
    const base = openBase(root);
    for (const number of [1, 2, 3]) workspace(root, number, deadOwner());
    const first = await removeLeftovers(base, { ...OPTIONS, maxMs: -1, now: Date.now() });
    expect([first.removed, first.left.length]).toEqual([0, 3]);
    expect(readdirSync(root).toSorted()).toEqual(['snapshots', 'temporary']);
    // They are this process's own now, and another one's leftovers when it is gone.
    expect(readdirSync(base.temporary).length).toBe(3);
  });
});
