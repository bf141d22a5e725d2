import { expect, test } from 'vitest';

import { isSettled } from '../../../src/platform/fs/file-stamp.ts';

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
