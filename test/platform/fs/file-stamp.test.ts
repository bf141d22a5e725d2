import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { isSettled } from '../../../src/platform/fs/file-stamp.ts';
import { scratch } from '../../skills/registry/support.ts';
import { nextChangeTime } from '../../../src/sandbox/execution/change-time.ts';

const NOW = 1_800_000_000_123;
const stamp = (mtimeMs: number, ctimeMs: number) => ({ size: 1, ino: 1, dev: 1, mtimeMs, ctimeMs });

test('a file is settled once its last change is older than one clock tick', () => {
  expect(isSettled(stamp(NOW - 60.5, NOW - 60.5), NOW)).toBe(true);
  expect(isSettled(stamp(NOW - 20.5, NOW - 20.5), NOW)).toBe(false);
  // The content is old, but something was done to the file just now.
  expect(isSettled(stamp(NOW - 9_000.5, NOW - 20.5), NOW)).toBe(false);
});

test('stamps of whole seconds have a longer tick', () => {
  const second = Math.floor(NOW / 1000) * 1000;
  expect(isSettled(stamp(second, second), NOW + 1_000)).toBe(false);
  expect(isSettled(stamp(second, second), NOW + 3_000)).toBe(true);
});

test('a time in the future is never settled', () => {
  expect(isSettled(stamp(NOW + 10_000.5, NOW - 9_000.5), NOW)).toBe(false);
});

test('a change time divides changes, however close they are', async () => {
  const root = scratch();
  const write = (name: string): string => {
    const file = path.join(root, name);
    writeFileSync(file, name);
    return file;
  };
  // One round may happen to start with a tick of the clock.
  for (let round = 0; round < 20; round += 1) {
    const earlier = write('earlier');
    const folder = path.join(root, String(round));
    mkdirSync(folder);
    const time = await nextChangeTime(folder);
    const later = write('later');
    expect(statSync(earlier).ctimeMs).toBeLessThan(time);
    expect(statSync(later).ctimeMs).toBeGreaterThanOrEqual(time);
  }
});
