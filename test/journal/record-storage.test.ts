import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openFolderPlace, type NamedText } from '../../src/journal/record-storage.ts';
import { scratch } from '../skills/registry/support.ts';

const NOTHING = { sync: false, syncLines: () => undefined };

test('several files are replaced only after all are written and the lines are synced', () => {
  const storage = openFolderPlace(scratch(), new Date());
  const read = (name: string): string => readFileSync(path.join(storage.path, name), 'utf8');
  storage.replace([['1', 'old']], NOTHING);
  const seen: string[][] = [];
  storage.replace(
    [
      ['1', 'new'],
      ['2', 'more'],
    ],
    {
      sync: true,
      syncLines() {
        const written = readdirSync(storage.path).filter((name) => name.endsWith('.tmp'));
        seen.push(written.map(read).toSorted(), [read('1')]);
      },
    },
  );
  expect(seen).toEqual([['more', 'new'], ['old']]);
  expect(readdirSync(storage.path).map(read)).toEqual(['new', 'more']);
  expect(statSync(path.join(storage.path, '2')).mode & 0o777).toBe(0o600);
});

test('several files are all unchanged if one fails, without leftovers', () => {
  const storage = openFolderPlace(scratch(), new Date());
  mkdirSync(path.join(storage.path, 'b', 'full'), { recursive: true });
  const files = (...names: readonly string[]): readonly NamedText[] => names.map((name) => [name, 'new']);
  const syncLines = (): never => {
    throw new Error('not yet');
  };
  expect(() => storage.replace(files('a', 'c'), { sync: false, syncLines })).toThrow('not yet');
  expect(() => storage.replace(files('a', 'missing/c'), NOTHING)).toThrow(/ENOENT/);
  expect(readdirSync(storage.path)).toEqual(['b']);
  expect(() => storage.replace(files('a', 'b', 'c'), NOTHING)).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(storage.path)).toEqual(['a', 'b']);
});

test('a file is added only if nothing exists at its path', () => {
  const storage = openFolderPlace(scratch(), new Date());
  const file = path.join(storage.path, 'x');
  storage.add('x', Buffer.from('mine'), true);
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['mine', 0o600]);
  symlinkSync(path.join(storage.path, 'elsewhere'), path.join(storage.path, 'link'));
  expect(() => storage.add('x', Buffer.from('other'), false)).toThrow(/EEXIST/);
  expect(() => storage.add('link', Buffer.from('other'), false)).toThrow(/EEXIST/);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});
