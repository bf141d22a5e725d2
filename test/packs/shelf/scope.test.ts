import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import { runCli, skillText, temporaryFolder, writeFiles } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';

verifies('ACT-3', 'install, list, verify, update and uninstall work on the shelf', async () => {
  const folder = temporaryFolder();
  for (const made of ['.git', 'home']) mkdirSync(path.join(folder, made));
  writeFiles(folder, { 'source/tables/SKILL.md': skillText('tables', 'Works on tables.') });
  const run = (...words: readonly string[]) => runCli(folder, [...words, '--scope', 'shelf']);
  const place = path.join(folder, 'home/.agent/shelf/tables/SKILL.md');
  expect((await run('install', './source', '--yes')).status).toBe(0);
  expect(existsSync(place)).toBe(true);
  expect((await runCli(folder, ['search', 'tables'])).out).toMatch(/tables +user/);
  expect((await runCli(folder, ['list'])).out).toContain('tables');
  expect(await run('verify')).toMatchObject({ status: 0 });
  writeFiles(folder, { 'source/tables/SKILL.md': skillText('tables', 'Works on all tables.') });
  expect(await run('update', '--yes')).toMatchObject({ status: 0 });
  writeFiles(folder, { 'home/.agent/shelf/tables/more.md': 'more' });
  expect((await run('verify')).status).toBe(1);
  expect(await run('uninstall', 'tables', '--yes')).toMatchObject({ status: 0 });
  expect(existsSync(place)).toBe(false);
});
