import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { withoutHardLinks } from '../platform/fs/without-hard-links.ts';
import { built, scratch, writeSkill } from '../skills/registry/support.ts';
import { runCli } from './run-cli.ts';

test('skills are installed and run, and the record is sealed, where no hard links can be made', async () => {
  const [home, project] = [scratch(), scratch()];
  writeSkill(path.join(project, 'source/tables'));
  const env = { HOME: home, NODE_OPTIONS: withoutHardLinks() };
  expect(await runCli(project, ['install', './source', '--yes'], env)).toMatchObject({ status: 0 });
  writeFileSync(path.join(project, 'sales.csv'), 'a,b\n1,2\n');
  const words = ['run', 'what is in sales.csv', '--in', 'sales.csv', '--model', 'rules', '--yes'];
  expect(await runCli(project, words, env)).toMatchObject({ status: 0 });
  expect((await runCli(project, ['runs', 'verify', 'last'], env)).out).toContain('intact');
});

test('processes change a file one at a time where no hard links can be made', async () => {
  const file = path.join(scratch(), 'count');
  writeFileSync(file, '0');
  const counter = `
    const [, module, file] = process.argv;
    const { withFileLock } = await import(module);
    const { readFileSync, writeFileSync } = await import('node:fs');
    for (let round = 0; round < 50; round += 1)
      await withFileLock(file, () => writeFileSync(file, String(Number(readFileSync(file, 'utf8')) + 1)), { timeoutMs: 40_000 });`;
  const env = { ...process.env, NODE_OPTIONS: withoutHardLinks() };
  const words = ['--input-type=module', '-e', counter, built('platform/fs/lock.js'), file];
  const ends = [1, 2, 3].map(() => once(spawn(process.execPath, words, { env, stdio: 'inherit' }), 'exit'));
  expect((await Promise.all(ends)).map(([code]: readonly unknown[]) => code)).toEqual([0, 0, 0]);
  expect([readFileSync(file, 'utf8'), readdirSync(path.dirname(file))]).toEqual(['150', ['count']]);
});
