import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { replaceText } from '../../src/platform/replace-text.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-replace-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a link keeps pointing at what it points at', () => {
  writeFileSync(path.join(folder, 'real.md'), 'old');
  symlinkSync('real.md', path.join(folder, 'link.md'));
  replaceText(path.join(folder, 'link.md'), 'new');
  expect(readFileSync(path.join(folder, 'real.md'), 'utf8')).toBe('new');
  expect(readdirSync(folder).toSorted()).toEqual(['link.md', 'real.md']);
});

test('what cannot be written is said, with the file named', () => {
  const file = path.join(folder, 'gone/SKILL.md');
  expect(() => replaceText(file, 'x')).toThrow(
    expect.objectContaining({ code: 'io/failed', data: { path: file, cause: 'ENOENT' } }),
  );
});
