import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { withRoot } from '../../../src/packs/root/open-root.ts';
import { scratch } from '../../skills/registry/support.ts';
import { committed, install } from '../root/support.ts';

/** Exchanges the folder of the agent for a link out of the project, and back, until it is killed. */
const SWAPPER = `
  const fs = require('node:fs');
  const [real, link, place] = process.argv.slice(1);
  for (;;) {
    try { fs.renameSync(place, real); fs.renameSync(link, place); fs.renameSync(place, link); fs.renameSync(real, place); }
    catch (error) { if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY' && error.code !== 'ENOTDIR') throw error; }
  }`;

test('a folder that another process keeps exchanging for a link gets links inside the project only', async () => {
  const world = scratch();
  const [project, outside] = [path.join(world, 'project'), path.join(world, 'outside')];
  const root = path.join(project, '.agents/skills');
  await install(root, { alpha: '1', beta: '1' });
  const at = (name: string): string => path.join(project, name);
  for (const folder of [path.join(outside, 'skills'), at('.claude/skills')]) mkdirSync(folder, { recursive: true });
  symlinkSync(outside, at('.link'));
  const swapper = spawn(process.execPath, ['-e', SWAPPER, at('.real'), at('.link'), at('.claude')], {
    stdio: 'ignore',
  });
  try {
    const place = { folder: '../../.claude/skills', kind: 'link' } as const;
    for (let round = 0; round < 25; round += 1) {
      const names = ['alpha', 'beta'];
      const change = round % 2 === 0 ? { add: names, remove: [] } : { add: [], remove: names };
      committed(await withRoot(root, {}, (open) => open.commit([], { places: [{ ...place, ...change }] })));
    }
  } finally {
    swapper.kill('SIGKILL');
  }
  expect(readdirSync(path.join(outside, 'skills'))).toEqual([]);
  expect(readdirSync(root).toSorted()).toEqual(['.skillwright', 'alpha', 'beta', 'skills.lock.json']);
});
