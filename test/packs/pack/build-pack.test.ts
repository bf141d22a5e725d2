import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';

import { formatManifest } from '../../../src/packs/pack/manifest.ts';
import { buildPack, type PackProgress } from '../../../src/packs/pack/build-pack.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { verifies } from '../../conformance/verifies.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { DEMO_SHA256, packed, plantDemo, skillText, skillsIn, strict } from './pack-world.ts';

interface Listed {
  readonly name: string;
  readonly method: number;
  readonly time: number;
  readonly mode: string;
  readonly extra: number;
}

/** The directory of a zip, read by hand. */
function listed(zip: Buffer): readonly Listed[] {
  const entries: Listed[] = [];
  let at = zip.readUInt32LE(zip.length - 22 + 16);
  for (let count = zip.readUInt16LE(zip.length - 22 + 10); count > 0; count -= 1) {
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    entries.push({
      name: zip.toString('utf8', at + 46, at + 46 + name),
      method: zip.readUInt16LE(at + 10),
      time: zip.readUInt32LE(at + 12),
      mode: (zip.readUInt32LE(at + 38) >>> 16).toString(8),
      extra,
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

describe('a pack', () => {
  verifies(
    'PACK-1',
    'is a zip with a manifest of every file, in one order, with one time and plain modes',
    async () => {
      const base = scratch();
      plantDemo(base);
      const out = path.join(base, 'demo.zip');
      const built = await packed({ skills: skillsIn(base, 'demo'), out, check: strict });
      const zip = readFileSync(out);
      const stamp = 0x0021_0000;
      const plain = { time: stamp, mode: '100644', extra: 0 };
      expect(listed(zip)).toEqual([
        { ...plain, name: 'manifest.json', method: 8 },
        { ...plain, name: 'demo/SKILL.md', method: 8 },
        { ...plain, name: 'demo/a-b/c.txt', method: 8 },
        { ...plain, name: 'demo/a/b.txt', method: 0 },
        { ...plain, name: 'demo/assets/logo.bin', method: 8 },
        { ...plain, name: 'demo/references/数据.md', method: 8 },
        { ...plain, name: 'demo/scripts/run.sh', method: 0, mode: '100755' },
      ]);
      const files = unzipSync(zip);
      expect(Buffer.from(files['manifest.json'] ?? []).toString()).toBe(formatManifest(built.manifest));
      for (const [name, { sha256: sum, bytes }] of Object.entries(built.manifest.skills[0]?.files ?? {})) {
        const content = files[`demo/${name}`] ?? new Uint8Array();
        expect([sha256(content), content.length, sha256(readFileSync(path.join(base, 'demo', name)))]).toEqual([
          sum,
          bytes,
          sum,
        ]);
      }
      expect(built).toEqual({
        type: 'packed',
        path: out,
        bytes: zip.length,
        sha256: DEMO_SHA256,
        files: 6,
        leftOut: [],
        manifest: built.manifest,
      });
      expect(built.manifest.skills.map(({ name, version }) => [name, version])).toEqual([['demo', '1.0.0']]);
    },
  );

  verifies(
    'PACK-4',
    'is the same bytes whatever the times, the modes, the order of creation and the place',
    async () => {
      const base = scratch();
      const one = plantDemo(path.join(base, 'one'));
      const first = await packed({ skills: [{ dir: one, name: 'demo' }], out: path.join(base, '1.zip') });
      const two = path.join(base, 'two/demo');
      for (const name of readdirSync(one).toReversed()) {
        mkdirSync(two, { recursive: true });
        cpSync(path.join(one, name), path.join(two, name), { recursive: true });
      }
      for (const name of ['SKILL.md', 'a/b.txt']) utimesSync(path.join(two, name), 1e9, 1e9);
      chmodSync(path.join(two, 'SKILL.md'), 0o600);
      chmodSync(path.join(two, 'scripts/run.sh'), 0o700);
      mkdirSync(path.join(two, '.git'));
      symlinkSync(two, path.join(base, 'link'));
      const second = await packed({
        skills: [{ dir: path.join(base, 'link'), name: 'demo' }],
        out: path.join(base, '2.zip'),
      });
      expect(readFileSync(path.join(base, '2.zip')).equals(readFileSync(path.join(base, '1.zip')))).toBe(true);
      expect({ ...second, path: '', leftOut: [] }).toEqual({ ...first, path: '' });
    },
  );

  test('of several skills does not depend on the order they were named in', async () => {
    const base = scratch();
    for (const name of ['b', 'a', 'a-c']) plantDemo(base, name);
    const one = await packed({ skills: skillsIn(base, 'a', 'b', 'a-c') });
    const other = await packed({ skills: skillsIn(base, 'b', 'a-c', 'a') });
    expect(one.sha256).toBe(other.sha256);
    expect(one.files).toBe(18);
  });

  test('is only measured without an output path', async () => {
    const base = scratch();
    plantDemo(base);
    const dry = await packed({ skills: skillsIn(base, 'demo') });
    expect(readdirSync(base)).toEqual(['demo']);
    const out = path.join(base, 'demo.zip');
    expect({ ...dry, path: out }).toEqual(await packed({ skills: skillsIn(base, 'demo'), out }));
  });

  test('never contains itself or its signature', async () => {
    const base = scratch();
    const dir = plantDemo(base);
    const out = path.join(dir, 'demo.zip');
    const first = await packed({ skills: [{ dir, name: 'demo' }], out });
    writeFileSync(`${out}.minisig`, 'x');
    writeFileSync(path.join(dir, '.demo.zip.left-behind.tmp'), 'x');
    const second = await packed({ skills: [{ dir, name: 'demo' }], out, force: true });
    expect([first.leftOut, second.leftOut]).toEqual([
      [],
      [
        'demo/.demo.zip.left-behind.tmp (the pack itself)',
        'demo/demo.zip (the pack itself)',
        'demo/demo.zip.minisig (the pack itself)',
      ],
    ]);
    expect(second.sha256).toBe(first.sha256);
  });

  test('stores files whose compression ratio would look like a zip bomb', async () => {
    const base = scratch();
    plantDemo(base, 'demo', { 'zeros.bin': Buffer.alloc(1536 * 1024) });
    const out = path.join(base, 'demo.zip');
    await packed({ skills: skillsIn(base, 'demo'), out });
    expect(listed(readFileSync(out)).find(({ name }) => name === 'demo/zeros.bin')?.method).toBe(0);
  });

  test('reports progress', async () => {
    const base = scratch();
    plant(path.join(base, 'demo'), { 'SKILL.md': skillText('demo'), 'b.md': 'b' });
    const seen: PackProgress[] = [];
    await packed({ skills: skillsIn(base, 'demo'), onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { step: 'read', done: 1, path: 'demo/SKILL.md' },
      { step: 'read', done: 2, path: 'demo/b.md' },
      { step: 'write', done: 1, total: 2, path: 'demo/SKILL.md' },
      { step: 'write', done: 2, total: 2, path: 'demo/b.md' },
    ]);
  });
});

describe('what is left out', () => {
  test('follows the ignore files of each folder and is reported', async () => {
    const base = scratch();
    plantDemo(base, 'demo', {
      '.gitignore': '*.log\nbuild/\n!keep.log\n',
      'sub/.skillignore': '/private.md\n',
      'sub/private.md': 'x',
      'sub/public.md': 'x',
      'build/.gitignore': '!*',
      'build/x': 'x',
      'a.log': 'x',
      'keep.log': 'x',
      'node_modules/x/index.js': 'x',
      '.env': 'KEY=value',
      '.skillignore': '.env\n',
    });
    const built = await packed({ skills: skillsIn(base, 'demo') });
    expect(built.leftOut).toEqual([
      'demo/.env (.skillignore)',
      'demo/.gitignore (never packed)',
      'demo/.skillignore (never packed)',
      'demo/a.log (.gitignore)',
      'demo/build/ (.gitignore)',
      'demo/node_modules/ (never packed)',
      'demo/sub/.skillignore (never packed)',
      'demo/sub/private.md (sub/.skillignore)',
    ]);
    expect(Object.keys(built.manifest.skills[0]?.files ?? {})).toEqual([
      'SKILL.md',
      'a-b/c.txt',
      'a/b.txt',
      'assets/logo.bin',
      'keep.log',
      'references/数据.md',
      'scripts/run.sh',
      'sub/public.md',
    ]);
  });

  test('may be what could not be packed: links, pipes, odd names', async () => {
    const base = scratch();
    const dir = plantDemo(base, 'demo', {
      '.skillignore': 'local/\n',
      'local/link': { link: '/etc' },
      'local/con': 'x',
    });
    execFileSync('mkfifo', [path.join(dir, 'local/pipe')]);
    expect((await packed({ skills: skillsIn(base, 'demo') })).leftOut).toContain('demo/local/ (.skillignore)');
  });
});

test('an aborted build leaves no files', async () => {
  const base = scratch();
  plantDemo(base);
  const stop = new AbortController();
  const building = buildPack({
    skills: skillsIn(base, 'demo'),
    out: path.join(base, 'demo.zip'),
    signal: stop.signal,
    onProgress: ({ step, done }) => {
      if (step === 'read' && done === 6) stop.abort();
    },
  });
  await expect(building).rejects.toThrow('aborted');
  expect(readdirSync(base)).toEqual(['demo']);
});
