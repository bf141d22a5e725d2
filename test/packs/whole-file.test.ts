import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { writeWholeText } from '../../src/packs/whole-file.ts';
import { scratch } from '../skills/registry/support.ts';

test('takes the place of a file where it may, and never that of a pipe or a device, behind a link too', () => {
  const folder = scratch();
  const [file, pipe, link] = [path.join(folder, 'file'), path.join(folder, 'pipe'), path.join(folder, 'link')];
  writeFileSync(file, 'old');
  execFileSync('mkfifo', [pipe]);
  symlinkSync('pipe', link);
  writeWholeText(file, 'new', { force: true });
  expect(readFileSync(file, 'utf8')).toBe('new');
  for (const target of [pipe, link])
    expect(() => writeWholeText(target, 'new', { force: true })).toThrow('a device, a pipe or a socket');
  expect(() => writeWholeText(file, 'newer', { force: false })).toThrow('already exists');
  expect([readdirSync(folder), lstatSync(pipe).isFIFO(), lstatSync(link).isSymbolicLink()]).toEqual([
    ['file', 'link', 'pipe'],
    true,
    true,
  ]);
});
