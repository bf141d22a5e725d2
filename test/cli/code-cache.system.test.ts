import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { skillText, spawnCli, temporaryFolder, writeFiles } from './run-cli.ts';

const HAS_OWN_CACHE = Number.parseInt(process.versions.node, 10) >= 22;

test.skipIf(HAS_OWN_CACHE)('compiled code is stored by the second start, and a damaged file is replaced', async () => {
  const cwd = temporaryFolder();
  const cache = path.join(cwd, 'cache');
  writeFiles(cwd, { 'skills/tidy/SKILL.md': skillText('tidy', 'Tidies a folder. Use when it is asked for.') });
  const list = async (): Promise<string> => {
    const { status, out } = await spawnCli(cwd, ['list', '--root', 'skills'], { SKILLWRIGHT_CACHE_DIR: cache });
    expect(status).toBe(0);
    return out;
  };
  const stored = (): readonly string[] =>
    readdirSync(path.join(cache, 'code')).map((name) => path.join(cache, 'code', name));

  const first = await list();
  expect(stored()).toEqual([]);
  expect(await list()).toBe(first);
  const files = stored();
  expect(files).not.toEqual([]);
  expect(files.filter((file) => (statSync(file).mode & 0o777) !== 0o600)).toEqual([]);

  const sizes = files.map((file) => statSync(file).size);
  const stamps = files.map((file) => statSync(file).mtimeMs);
  expect(await list()).toBe(first);
  expect(files.map((file) => statSync(file).mtimeMs)).toEqual(stamps);

  for (const file of files) truncateSync(file, 100);
  expect(await list()).toBe(first);
  expect(files.map((file) => statSync(file).size > 100)).toEqual(sizes.map(() => true));
});
