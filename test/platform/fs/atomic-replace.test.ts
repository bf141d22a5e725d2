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

import { removeStaleTemporaries, writeFileAtomically } from '../../../src/platform/fs/atomic-replace.ts';
import { writeFilesAtomically, writeNewFile } from '../../../src/journal/record-storage.ts';
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

test('several files are replaced only after all are written and the callback ran', () => {
  const directory = scratch();
  const [one, two] = [path.join(directory, '1'), path.join(directory, '2')];
  writeFileSync(one, 'old');
  const files = [
    { file: one, data: Buffer.from('new') },
    { file: two, data: Buffer.from('more') },
  ];
  const seen: string[][] = [];
  writeFilesAtomically(
    files,
    () => {
      const written = readdirSync(directory).filter((name) => name.endsWith('.tmp'));
      seen.push(written.map((name) => readFileSync(path.join(directory, name), 'utf8')).toSorted());
      seen.push([readFileSync(one, 'utf8')]);
    },
    { sync: true },
  );
  expect(seen).toEqual([['more', 'new'], ['old']]);
  expect(readdirSync(directory).map((name) => readFileSync(path.join(directory, name), 'utf8'))).toEqual([
    'new',
    'more',
  ]);
  expect(statSync(two).mode & 0o777).toBe(0o600);
});

test('several files are all unchanged if one fails, without leftovers', () => {
  const directory = scratch();
  mkdirSync(path.join(directory, 'b', 'full'), { recursive: true });
  const files = (...names: readonly string[]) =>
    names.map((name) => ({ file: path.join(directory, name), data: Buffer.from('new') }));
  const fail = (): never => {
    throw new Error('not yet');
  };
  expect(() => writeFilesAtomically(files('a', 'c'), fail)).toThrow('not yet');
  expect(() => writeFilesAtomically(files('a', 'missing/c'), () => undefined)).toThrow(/ENOENT/);
  expect(readdirSync(directory)).toEqual(['b']);
  expect(() => writeFilesAtomically(files('a', 'b', 'c'), () => undefined)).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(directory)).toEqual(['a', 'b']);
});

test('a new file is created only if nothing exists at its path', () => {
  const directory = scratch();
  const file = path.join(directory, 'x');
  writeNewFile(file, Buffer.from('mine'), { sync: true });
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['mine', 0o600]);
  symlinkSync(path.join(directory, 'elsewhere'), path.join(directory, 'link'));
  expect(() => writeNewFile(file, Buffer.from('other'))).toThrow(/EEXIST/);
  expect(() => writeNewFile(path.join(directory, 'link'), Buffer.from('other'))).toThrow(/EEXIST/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('only old temporary files of the same file are removed', () => {
  const directory = scratch();
  const names = ['.x.aaaaaaaaaaaa.tmp', '.x.bbbbbbbbbbbb.tmp', '.y.cccccccccccc.tmp', 'x'];
  for (const name of names) writeFileSync(path.join(directory, name), '');
  for (const name of ['.x.aaaaaaaaaaaa.tmp', '.y.cccccccccccc.tmp', 'x']) utimesSync(path.join(directory, name), 1, 1);
  removeStaleTemporaries(path.join(directory, 'x'), { now: Date.now(), olderThanMs: 60_000 });
  expect(readdirSync(directory).toSorted()).toEqual(['.x.bbbbbbbbbbbb.tmp', '.y.cccccccccccc.tmp', 'x']);
});
