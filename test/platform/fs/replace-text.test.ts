import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { writeTextFile } from '../../../src/platform/fs/atomic-replace.ts';
import { needs } from '../../needs.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-replace-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a link stays, and its target is replaced', () => {
  writeFileSync(path.join(folder, 'real.md'), 'old');
  symlinkSync('real.md', path.join(folder, 'link.md'));
  writeTextFile(path.join(folder, 'link.md'), 'new');
  expect(readFileSync(path.join(folder, 'real.md'), 'utf8')).toBe('new');
  expect(readdirSync(folder).toSorted()).toEqual(['link.md', 'real.md']);
});

test('a write error names the file', () => {
  const file = path.join(folder, 'gone/SKILL.md');
  expect(() => writeTextFile(file, 'x')).toThrow(
    expect.objectContaining({ code: 'io/failed', data: { path: file, cause: 'ENOENT' } }),
  );
});

test('permission bits are kept, also those that the umask clears', () => {
  const file = path.join(folder, 'shared.md');
  writeFileSync(file, 'old');
  for (const mode of [0o666, 0o440, 0o777]) {
    chmodSync(file, mode);
    writeTextFile(file, 'new');
    expect(statSync(file).mode & 0o777).toBe(mode);
  }
});

test('the superuser does not take a file away from its owner', needs('root'), () => {
  const file = path.join(folder, 'theirs.md');
  writeFileSync(file, 'old');
  chownSync(file, 1234, 4321);
  writeTextFile(file, 'new');
  const { uid, gid, mode } = statSync(file);
  expect({ uid, gid, mode: mode & 0o777, text: readFileSync(file, 'utf8') }).toEqual({
    uid: 1234,
    gid: 4321,
    mode: 0o644,
    text: 'new',
  });
});
