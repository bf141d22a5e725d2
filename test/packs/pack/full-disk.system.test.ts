import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { buildPack } from '../../../src/packs/pack/build-pack.ts';
import { scratch } from '../../skills/registry/support.ts';
import { plantDemo, skillsIn } from './pack-world.ts';
import { needs } from '../../needs.ts';

/** A file system of its own. */
function mounted(folder: string, options: string): void {
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', [folder]));
}

test('a full disk and one that cannot be written leave nothing of a pack', needs('root'), async () => {
  const base = scratch();
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, at) => Math.trunc(Math.sin(at) * 1e9)));
  plantDemo(base, 'demo', { 'noise.bin': noise });
  const [small, closed] = [path.join(base, 'small'), path.join(base, 'closed')];
  mounted(small, 'size=64k');
  mounted(closed, 'ro');
  const codes = [small, closed].map(async (folder) => {
    const built = await buildPack({ skills: skillsIn(base, 'demo'), out: path.join(folder, 'demo.zip') });
    return built.type === 'refused' ? [built.code, built.message] : built.type;
  });
  expect(await Promise.all(codes)).toEqual([
    ['install/no-space', `cannot write "${small}/demo.zip" (ENOSPC)`],
    ['pack/unwritable', `cannot write "${closed}/demo.zip" (EROFS)`],
  ]);
  expect([readdirSync(small), readdirSync(closed)]).toEqual([[], []]);
});
