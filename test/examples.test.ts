import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { PROJECT } from './files-below.ts';

// The examples import `skillwright` as a stranger would: by name, through the published doors, from the built package.
const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-examples-'));

beforeAll(() => {
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const flags = ['--outDir', folder, '--rootDir', path.join(PROJECT, 'examples'), '--noEmit', 'false'];
  execFileSync(process.execPath, [tsc, '-p', path.join(PROJECT, 'examples/tsconfig.json'), ...flags], {
    timeout: 120_000,
  });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(PROJECT, path.join(folder, 'node_modules/skillwright'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = (example: string, ...words: string[]): string =>
  execFileSync(process.execPath, [path.join(folder, example), ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    encoding: 'utf8',
    timeout: 60_000,
  });

test('catalog-for-a-prompt prints a prompt with every built-in skill', () => {
  expect(run('catalog-for-a-prompt.js').match(/^- \*\*[a-z-]+\*\* \(builtin\)/gm)).toEqual([
    '- **csv-report** (builtin)',
    '- **skill-author** (builtin)',
    '- **text-diff** (builtin)',
  ]);
});

test('search-as-a-tool finds the skill and teaches the nearest name', () => {
  const out = run('search-as-a-tool.js');
  expect(out).toContain('"name": "text-diff"');
  expect(out).toContain('did you mean csv-report?');
});

test('check-in-ci passes the built-in skills', () => {
  expect(run('check-in-ci.js', path.join(PROJECT, 'skills'))).toBe('3 skills, 0 diagnostics\n');
});
