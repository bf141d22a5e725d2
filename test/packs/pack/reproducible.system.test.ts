import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { unzipSync } from 'fflate';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { buildPack } from '../../../src/packs/pack/build-pack.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { verifies } from '../../conformance/verifies.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { DEMO_SHA256, packed, plantDemo, skillText, skillsIn } from './pack-world.ts';
import { runs } from '../../property-runs.ts';
import { needs } from '../../needs.ts';

const WORKER = `
  const [, module, dir, out, umask] = process.argv;
  process.umask(Number.parseInt(umask, 8));
  const { buildPack } = await import(module);
  const built = await buildPack({ skills: [{ dir, name: 'demo' }], out });
  console.log(built.type === 'packed' ? built.sha256 : built.message);`;

const SURROUNDINGS = [
  { TZ: 'UTC', LC_ALL: 'C', umask: '022' },
  { TZ: 'Asia/Shanghai', LC_ALL: 'zh_CN.UTF-8', umask: '077' },
  { TZ: 'America/New_York', LC_ALL: 'tr_TR.UTF-8', umask: '000' },
  { TZ: 'Pacific/Kiritimati', LC_ALL: 'sv_SE.UTF-8', umask: '027' },
];

verifies('PACK-4', 'processes in four time zones, languages and umasks build the same bytes', () => {
  const base = scratch();
  const sums = SURROUNDINGS.map(({ umask, ...env }, place) => {
    const dir = plantDemo(path.join(base, String(place)));
    const out = path.join(base, `${String(place)}.zip`);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', WORKER, built('packs/pack/build-pack.js'), dir, out, umask],
      { encoding: 'utf8', env: { ...process.env, ...env } },
    );
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe(sha256(readFileSync(out)));
    return stdout.trim();
  });
  expect(sums).toEqual(SURROUNDINGS.map(() => DEMO_SHA256));
});

const UNPACK = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as zip:
    assert zip.testzip() is None
    for info in zip.infolist():
        os.chmod(zip.extract(info, sys.argv[2]), info.external_attr >> 16)
`;

test('another program unpacks a pack to a tree with the digest of its manifest', needs('python3'), async () => {
  const base = scratch();
  plantDemo(base, 'demo', { 'empty/dir': { folder: true }, '.DS_Store': 'x' });
  const built = await packed({ skills: skillsIn(base, 'demo'), out: path.join(base, 'demo.zip') });
  execFileSync('python3', ['-c', UNPACK, path.join(base, 'demo.zip'), path.join(base, 'out')]);
  expect(await readTreeDigest(path.join(base, 'out/demo'))).toMatchObject({
    digest: built.manifest.skills[0]?.digest,
  });
});

test('of any tree, a pack has every file as it is, or there is no pack', async () => {
  const base = scratch();
  const part = fc.oneof(
    fc.constantFrom(
      'a',
      'A',
      'b',
      'é',
      'e\u0301',
      'con',
      'x.',
      ' y',
      'a:b',
      '~x',
      '%2e',
      '.hidden',
      '__proto__',
      '10',
      '9',
    ),
    fc.stringMatching(/^[a-z][a-z0-9_-]{0,6}$/),
  );
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const file = fc.record({ bytes: fc.uint8Array({ maxLength: 300 }), isProgram: fc.boolean() });
  const tree = fc.uniqueArray(fc.tuple(name, file), { maxLength: 5, selector: ([at]) => at });
  const isTree = (files: readonly (readonly [string, unknown])[]): boolean =>
    files.every(([one]) => files.every(([other]) => !other.startsWith(`${one}/`)));
  await fc.assert(
    fc.asyncProperty(tree.filter(isTree), async (files) => {
      const place = mkdtempSync(path.join(base, 'tree-'));
      const dir = plant(path.join(place, 'demo'), {
        'SKILL.md': skillText('demo'),
        ...Object.fromEntries(
          files.map(([at, { bytes, isProgram }]) => [
            at,
            isProgram ? { program: Buffer.from(bytes).toString('utf8') } : Buffer.from(bytes),
          ]),
        ),
      });
      const out = path.join(place, 'demo.zip');
      const built = await buildPack({ skills: [{ dir, name: 'demo' }], out });
      expect(existsSync(out)).toBe(built.type === 'packed');
      if (built.type === 'refused') {
        expect(built.code).toMatch(/^archive\//);
        return;
      }
      const { 'manifest.json': _, ...found } = unzipSync(readFileSync(out));
      // What no install takes is in no pack.
      const names = ['SKILL.md', ...files.map(([at]) => at).filter((at) => !/(?:^|\/)\.hidden/.test(at))];
      const shown = Object.entries(found).map(([at, bytes]) => [at, Buffer.from(bytes).toString('hex')]);
      expect(Object.fromEntries(shown)).toEqual(
        Object.fromEntries(
          names.map((at) => [`demo/${at.normalize('NFC')}`, readFileSync(path.join(dir, at)).toString('hex')]),
        ),
      );
    }),
    { numRuns: runs(300) },
  );
});
