import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { makeFolders } from '../../../src/platform/fs/make-folders.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

/** What it throws. */
function codeOf(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return 'nothing';
}

test('creates missing folders with the mode, and leaves existing ones', () => {
  const folder = path.join(scratch(), 'a/b/c');
  makeFolders(folder, 0o700);
  makeFolders(folder, 0o755);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('a file in the way is reported with the system error', () => {
  const folder = scratch();
  writeFileSync(path.join(folder, 'file'), '');
  expect([
    codeOf(() => makeFolders(path.join(folder, 'file'))),
    codeOf(() => makeFolders(path.join(folder, 'file/a/b'))),
  ]).toEqual(['EEXIST', 'ENOTDIR']);
});

test('a read-only file system is reported as EROFS, where Node reports ENOENT', ({ skip }) => {
  const disk = path.join(scratch(), 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    skip('mounts');
  }
  onTestFinished(() => void execFileSync('umount', [disk]));
  expect(codeOf(() => makeFolders(path.join(disk, 'a')))).toBe('EROFS');
  expect(codeOf(() => makeFolders(path.join(disk, 'a/b/c')))).toBe('EROFS');
  expect(readdirSync(disk)).toEqual([]);
});

// In a process of its own: what never ends in one call cannot be ended from inside.
test('a folder in which the system makes nothing is an error, not a wait', needs('linux'), () => {
  const folder = scratch();
  const bin = path.join(PROJECT, 'dist/command/skillwright.js');
  const { status } = spawnSync(process.execPath, [bin, 'list', '--only-root', '--root', folder], {
    cwd: folder,
    env: { HOME: '/proc/nobody' },
    timeout: 170_000,
    killSignal: 'SIGKILL',
  });
  expect(status).toBe(0);
  expect(codeOf(() => makeFolders('/proc/nobody/a'))).toBe('ENOENT');
});

test('creating a folder in a removed folder fails', needs('linux'), () => {
  const folder = scratch();
  mkdirSync(path.join(folder, 'gone'));
  const held = openSync(path.join(folder, 'gone'), 'r');
  onTestFinished(() => closeSync(held));
  rmdirSync(path.join(folder, 'gone'));
  expect(codeOf(() => makeFolders(`/proc/self/fd/${String(held)}/a/b`))).toBe('ENOENT');
});

test('links are followed, and a broken link is an error', () => {
  const folder = scratch();
  mkdirSync(path.join(folder, 'there/inside'), { recursive: true });
  symlinkSync('there/inside', path.join(folder, 'link'));
  symlinkSync('nowhere', path.join(folder, 'broken'));
  makeFolders(`${folder}/link/../a/b/`);
  expect(readdirSync(path.join(folder, 'there/a'))).toEqual(['b']);
  expect(codeOf(() => makeFolders(path.join(folder, 'broken/a')))).toBe('EEXIST');
});
