import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { gitState } from '../../src/project/git-index.ts';
import { scratch } from '../skills/registry/support.ts';
import { plant } from './support.ts';

const FILES = { 'a.txt': 'a', 'src/a.txt': 'b', 'src/deep/ünï.txt': 'c', [`src/${'x'.repeat(200)}.txt`]: 'd' };

function git(cwd: string, ...words: readonly string[]): void {
  const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'safe.directory=*'];
  execFileSync('git', [...settings, ...words], { cwd, stdio: 'ignore', env: { ...process.env, HOME: cwd } });
}

function repository(version: string): string {
  const folder = plant(path.join(scratch(), 'project'), FILES);
  git(folder, 'init');
  git(folder, 'add', '.');
  git(folder, 'update-index', '--index-version', version);
  git(folder, 'commit', '-m', 'first');
  return plant(folder, { 'new.txt': 'n' });
}

const stateIn = (root: string, relative: string): string =>
  gitState({
    type: 'resolved',
    place: 'project',
    root,
    relative: relative as '',
    shown: relative,
    absolute: path.join(root, relative),
  });

test.each(['2', '3', '4'])(
  'an index of version %s names the tracked files, from any folder of the repository',
  (version) => {
    const folder = repository(version);
    expect(Object.keys(FILES).map((file) => stateIn(folder, file))).toEqual(Object.keys(FILES).map(() => 'tracked'));
    expect(['new.txt', 'src', '.txt', 'src/a', 'deep/ünï.txt'].map((file) => stateIn(folder, file))).toEqual(
      Array.from({ length: 5 }, () => 'untracked'),
    );
    expect([stateIn(path.join(folder, 'src'), 'a.txt'), stateIn(path.join(folder, 'src'), 'b.txt')]).toEqual([
      'tracked',
      'untracked',
    ]);
  },
);

test('a worktree has an index of its own', () => {
  const folder = repository('2');
  git(folder, 'worktree', 'add', '../other');
  expect([stateIn(path.join(folder, '../other'), 'a.txt'), stateIn(path.join(folder, '../other'), 'new.txt')]).toEqual([
    'tracked',
    'untracked',
  ]);
});

test('a damaged index names nothing, and a folder without one is outside', () => {
  const folder = repository('2');
  const index = path.join(folder, '.git/index');
  const whole = readFileSync(index);
  for (const length of [13, 40, 70, 75, whole.length >> 1]) {
    writeFileSync(index, whole.subarray(0, length));
    expect(['tracked', 'untracked']).toContain(stateIn(folder, 'src/a.txt'));
    expect(stateIn(folder, 'z.txt')).toBe('untracked');
  }
  writeFileSync(index, Buffer.concat([whole.subarray(0, 4), Buffer.alloc(2_000, 0xff)]));
  expect(stateIn(folder, 'a.txt')).toBe('untracked');
  writeFileSync(index, 'not an index');
  expect(stateIn(folder, 'a.txt')).toBe('outside');
  expect(stateIn(scratch(), 'a.txt')).toBe('outside');
});
