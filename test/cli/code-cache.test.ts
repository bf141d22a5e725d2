import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { spawnCli, temporaryFolder } from './run-cli.ts';

// Node keeps compiled code by itself from 22.8 on, in a folder of its own making.
const isOurs = Number(process.versions.node.split('.')[0]) < 22;
if (!isOurs) console.log('skipped: this Node keeps compiled code by itself');

test.runIf(isOurs)(
  'compiled code is kept privately, survives damage, and is not made for --no-cache or --version',
  async () => {
    const folder = temporaryFolder();
    const home = path.join(folder, 'home');
    const files = (): readonly string[] =>
      readdirSync(path.join(home, '.cache/skillwright')).filter((name) => name.startsWith('code-'));
    const list = ['catalog', '--only-root'];

    expect((await spawnCli(folder, [...list, '--no-cache'])).status).toBe(0);
    expect((await spawnCli(folder, ['--version'])).status).toBe(0);
    expect(readdirSync(folder)).toEqual([]);

    const first = await spawnCli(folder, list);
    const [name = ''] = files();
    const file = path.join(home, '.cache/skillwright', name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file);
    expect((await spawnCli(folder, list)).out).toBe(first.out);
    expect(readFileSync(file).equals(kept)).toBe(true);

    for (const damage of [
      () => truncateSync(file, 10),
      () => truncateSync(file, kept.length >> 1),
      () => writeFileSync(file, Buffer.alloc(kept.length, 0x41)),
      () => writeFileSync(file, ''),
      () => chmodSync(file, 0o000),
    ]) {
      damage();
      expect((await spawnCli(folder, list)).out).toBe(first.out);
    }
  },
);

test('the command works through a link, as npm installs it', async () => {
  const folder = temporaryFolder();
  const link = path.join(folder, 'skillwright');
  symlinkSync(path.join(PROJECT, 'dist/command/skillwright.cjs'), link);
  expect(
    execFileSync(link, ['list', '--json'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    }),
  ).toContain('"csv-report"');
});
