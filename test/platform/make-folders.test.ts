import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { makeFolders } from '../../src/platform/make-folders.ts';
import { scratch } from '../registry/support.ts';

/** What it throws. */
function codeOf(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return 'nothing';
}

test('makes what is missing, with the mode, and leaves what is there', () => {
  const folder = path.join(scratch(), 'a/b/c');
  makeFolders(folder, 0o700);
  makeFolders(folder, 0o755);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('a file in the way is said as the system says it', () => {
  const folder = scratch();
  writeFileSync(path.join(folder, 'file'), '');
  expect([
    codeOf(() => makeFolders(path.join(folder, 'file'))),
    codeOf(() => makeFolders(path.join(folder, 'file/a/b'))),
  ]).toEqual(['EEXIST', 'ENOTDIR']);
});

test('a file system that cannot be written is named as one, where Node says that nothing is there', ({ skip }) => {
  const disk = path.join(scratch(), 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    skip('a file system cannot be mounted here');
  }
  onTestFinished(() => void execFileSync('umount', [disk]));
  expect(codeOf(() => makeFolders(path.join(disk, 'a')))).toBe('EROFS');
  expect(codeOf(() => makeFolders(path.join(disk, 'a/b/c')))).toBe('EROFS');
  expect(readdirSync(disk)).toEqual([]);
});
