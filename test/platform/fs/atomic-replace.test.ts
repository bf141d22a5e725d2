import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { writeFileAtomically } from '../../../src/platform/fs/atomic-replace.ts';
import { scratch } from '../../skills/registry/support.ts';

test('a file is replaced whole, private, and without leftovers', () => {
  const directory = scratch();
  const file = path.join(directory, 'x');
  writeFileSync(file, 'old and longer', { mode: 0o644 });
  writeFileAtomically(file, [Buffer.from('ne'), Buffer.from('w')], { sync: true });
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['x']);
});

test('a link is replaced, and its target is unchanged', () => {
  const directory = scratch();
  const target = path.join(directory, 'target');
  writeFileSync(target, 'theirs');
  symlinkSync(target, path.join(directory, 'x'));
  writeFileAtomically(path.join(directory, 'x'), Buffer.from('mine'));
  expect(readFileSync(target, 'utf8')).toBe('theirs');
  expect(lstatSync(path.join(directory, 'x')).isFile()).toBe(true);
});

test('a failure leaves no temporary file', () => {
  const directory = scratch();
  mkdirSync(path.join(directory, 'x', 'full'), { recursive: true });
  expect(() => writeFileAtomically(path.join(directory, 'x'), Buffer.from('new'))).toThrow(
    /EISDIR|ENOTEMPTY|EEXIST|EPERM/,
  );
  expect(readdirSync(directory)).toEqual(['x']);
  expect(() => writeFileAtomically(path.join(directory, 'missing', 'x'), Buffer.from('new'))).toThrow(/ENOENT/);
});

test('only old temporary files of the same file are removed', () => {
  const directory = scratch();
  const names = ['.x.aaaaaaaaaaaa.tmp', '.x.bbbbbbbbbbbb.tmp', '.y.cccccccccccc.tmp', 'x'];
  for (const name of names) writeFileSync(path.join(directory, name), '');
  for (const name of ['.x.aaaaaaaaaaaa.tmp', '.y.cccccccccccc.tmp', 'x']) utimesSync(path.join(directory, name), 1, 1);
  writeFileAtomically(path.join(directory, 'x'), Buffer.from('new'), { staleMs: 60_000 });
  expect(readdirSync(directory).toSorted()).toEqual(['.x.bbbbbbbbbbbb.tmp', '.y.cccccccccccc.tmp', 'x']);
});
