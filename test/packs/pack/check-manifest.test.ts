import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { formatManifest, type PackManifest } from '../../../src/packs/pack/manifest.ts';
import { checkManifest, readPackManifest } from '../../../src/packs/pack/read-pack-manifest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { packed, plantDemo } from './pack-world.ts';

async function world(): Promise<{ base: string; manifest: PackManifest }> {
  const base = scratch();
  const skills = ['one', 'two'].map((name) => ({ name, dir: plantDemo(base, name) }));
  const { manifest } = await packed({ skills });
  writeFileSync(path.join(base, 'manifest.json'), formatManifest(manifest));
  return { base, manifest };
}

test('the source folder of a pack matches the manifest', async () => {
  const { base, manifest } = await world();
  expect(readPackManifest(path.join(base, 'manifest.json'))).toEqual({ type: 'manifest', manifest });
  expect(checkManifest(base, manifest)).toEqual({ changed: [], missing: [], added: [] });
});

verifies('PACK-4', 'each changed, missing and added file of a pack is named', async () => {
  const { base, manifest } = await world();
  writeFileSync(path.join(base, 'one/SKILL.md'), 'other');
  chmodSync(path.join(base, 'one/scripts/run.sh'), 0o644);
  rmSync(path.join(base, 'one/a/b.txt'));
  writeFileSync(path.join(base, 'one/.hidden'), '');
  mkdirSync(path.join(base, 'two/empty'));
  writeFileSync(path.join(base, 'README'), '');
  mkdirSync(path.join(base, 'three'));
  expect(checkManifest(base, manifest)).toEqual({
    changed: ['one/SKILL.md', 'one/scripts/run.sh'],
    missing: ['one/a/b.txt'],
    added: ['README', 'one/.hidden', 'three/', 'two/empty/'],
  });
});

test('every file of a missing skill is reported as missing', async () => {
  const { base, manifest } = await world();
  rmSync(path.join(base, 'two'), { recursive: true });
  const checked = checkManifest(base, manifest);
  expect('missing' in checked && checked.missing).toEqual(
    Object.keys(manifest.skills[1]?.files ?? {})
      .map((name) => `two/${name}`)
      .toSorted(),
  );
});

test('a link and a wrong digest are refused', async () => {
  const { base, manifest } = await world();
  const [one, two] = manifest.skills;
  if (one === undefined || two === undefined) throw new Error('no skills');
  const lying: PackManifest = { schema: 1, skills: [{ ...one, digest: `sha256-tree:${'0'.repeat(64)}` }, two] };
  expect(checkManifest(base, lying)).toMatchObject({
    code: 'pack/manifest',
    message: 'the digest of "one" in manifest.json does not match its files',
  });
  symlinkSync('/etc/passwd', path.join(base, 'one/link'));
  expect(checkManifest(base, manifest)).toMatchObject({ code: 'archive/link', path: 'one/link' });
  expect(checkManifest(path.join(base, 'absent'), manifest)).toMatchObject({ code: 'source/missing' });
});

test('a missing, unreadable or non-UTF-8 manifest', () => {
  const base = scratch();
  expect(readPackManifest(path.join(base, 'manifest.json'))).toEqual({ type: 'absent' });
  mkdirSync(path.join(base, 'folder'));
  expect(readPackManifest(path.join(base, 'folder'))).toMatchObject({ code: 'pack/manifest' });
  writeFileSync(path.join(base, 'latin'), Buffer.from([0x7b, 0xff, 0x7d]));
  expect(readPackManifest(path.join(base, 'latin'))).toMatchObject({ code: 'pack/manifest' });
});
