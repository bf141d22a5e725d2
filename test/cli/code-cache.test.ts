import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
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
    const cacheDir = path.join(folder, 'home/.cache/skillwright');
    const files = (): readonly string[] =>
      readdirSync(cacheDir)
        .filter((name) => name.startsWith('code-'))
        .map((name) => path.join(cacheDir, name));
    const list = ['catalog', '--only-root'];

    expect((await spawnCli(folder, [...list, '--no-cache'])).status).toBe(0);
    expect((await spawnCli(folder, ['--version'])).status).toBe(0);
    expect(readdirSync(folder)).toEqual([]);

    const first = await spawnCli(folder, list);
    const firstSizes = files().map((file) => statSync(file).size);
    // Each of the first processes adds what it called.
    for (let again = 0; again < 2; again += 1) expect((await spawnCli(folder, list)).out).toBe(first.out);
    const kept = new Map(files().map((file) => [file, readFileSync(file)]));
    expect([...kept.keys()].map((file) => file.replace(/^.*-|\.cjs\.bin$/g, ''))).toEqual([
      'catalog',
      'main',
      'plan',
      'reader',
    ]);
    for (const file of kept.keys()) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([...kept.values()].every(({ length }, place) => length >= (firstSizes[place] ?? 0))).toBe(true);
    // What a cache of skills needs is called from the second process on.
    expect(kept.size).toBe(firstSizes.length);
    expect((await spawnCli(folder, list)).out).toBe(first.out);
    expect(new Map(files().map((file) => [file, readFileSync(file)]))).toEqual(kept);

    const damages: readonly ((file: string, bytes: Buffer) => void)[] = [
      (file) => truncateSync(file, 10),
      (file, { length }) => truncateSync(file, length >> 1),
      (file, { length }) => writeFileSync(file, Buffer.alloc(length, 0x41)),
      // Behind the stamp: whatever V8 makes of it.
      (file, bytes) => writeFileSync(file, Buffer.concat([bytes.subarray(0, 17), Buffer.alloc(bytes.length, 0x41)])),
      (file) => writeFileSync(file, ''),
      (file) => chmodSync(file, 0o000),
    ];
    for (const damage of damages) {
      for (const [file, bytes] of kept) damage(file, bytes);
      // Without an index everything is loaded again.
      for (const name of readdirSync(cacheDir).filter((each) => each.startsWith('skills-')))
        rmSync(path.join(cacheDir, name));
      expect((await spawnCli(folder, list)).out).toBe(first.out);
      for (const [file, bytes] of kept) expect(readFileSync(file).length).toBeGreaterThan(bytes.length >> 1);
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
