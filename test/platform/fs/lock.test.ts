import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { withFileLock } from '../../../src/platform/fs/lock.ts';
import { ownerName, thisProcess } from '../../../src/platform/fs/lock-owner.ts';
import { built, scratch } from '../../skills/registry/support.ts';

const ROUNDS = 150;

/** Adds one to a number in a file, which loses counts where two do it at once. */
const COUNTER = `
  const [, module, file, rounds] = process.argv;
  const { withFileLock } = await import(module);
  const { readFileSync, writeFileSync } = await import('node:fs');
  for (let round = 0; round < Number(rounds); round += 1)
    await withFileLock(file, () => writeFileSync(file, String(Number(readFileSync(file, 'utf8')) + 1)), { timeoutMs: 40_000 });`;

describe('a lock', () => {
  test('lets one process at a time change a file', async () => {
    const file = path.join(scratch(), 'count');
    writeFileSync(file, '0');
    const ends = await Promise.all([1, 2, 3, 4].map(() => counter(file)));
    expect(ends).toEqual([0, 0, 0, 0]);
    expect(readFileSync(file, 'utf8')).toBe(String(4 * ROUNDS));
    expect(readdirSync(path.dirname(file))).toEqual(['count']);
  });

  test('of a dead process is removed', async () => {
    const file = path.join(scratch(), 'a');
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(`${file}.lock`, ownerName({ ...thisProcess(), pid, start: '1' }), { mode: 0o600 });
    expect(await withFileLock(file, () => 'done')).toBe('done');
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test('of a process that died while removing a lock is removed', async () => {
    const file = path.join(scratch(), 'a');
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const dead = ownerName({ ...thisProcess(), pid, start: '1' });
    for (const ending of ['.lock', '.lock.remove']) writeFileSync(file + ending, dead, { mode: 0o600 });
    expect(await withFileLock(file, () => 'done')).toBe('done');
    expect(readdirSync(path.dirname(file))).toEqual([]);
  });

  test('without an owner is respected until it is stale', async () => {
    const file = path.join(scratch(), 'a');
    writeFileSync(`${file}.lock`, 'nonsense');
    await expect(withFileLock(file, () => 'done', { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'io/failed',
      data: { path: file, cause: 'locked' },
    });
    utimesSync(`${file}.lock`, 1, 1);
    expect(await withFileLock(file, () => 'done')).toBe('done');
  });

  test('of a living process is respected until the signal aborts', async () => {
    const file = path.join(scratch(), 'a');
    writeFileSync(`${file}.lock`, ownerName(thisProcess()), { mode: 0o600 });
    utimesSync(`${file}.lock`, 1, 1);
    await expect(withFileLock(file, () => 'done', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  test('is released if the function throws', async () => {
    const file = path.join(scratch(), 'a');
    const failing = withFileLock(file, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await withFileLock(file, () => 'done')).toBe('done');
  });
});

function counter(file: string): Promise<number | null> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', COUNTER, built('platform/fs/lock.js'), file, String(ROUNDS)],
    { stdio: ['ignore', 'inherit', 'inherit'], timeout: 170_000 },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
