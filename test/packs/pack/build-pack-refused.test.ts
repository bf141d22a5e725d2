import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';
import { buildPack } from '../../../src/packs/pack/build-pack.ts';
import type { Tree } from '../../platform/fs/tree-support.ts';
import { scratch } from '../../skills/registry/support.ts';
import { plantDemo, skillText, skillsIn, strict } from './pack-world.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

describe('a pack is refused, with nothing written:', () => {
  const cases: readonly (readonly [what: string, code: string, tree: Tree])[] = [
    ['a link', 'archive/link', { 'link.md': { link: 'SKILL.md' } }],
    ['a link out', 'archive/link', { passwords: { link: '/etc/passwd' } }],
    ['a name for no Windows', 'archive/reserved-name', { 'docs/aux.md': 'x' }],
    ['a name with a backslash', 'archive/backslash', { 'a\\b': 'x' }],
    ['a name that acts', 'archive/name', { 'a\u001b[2J': 'x' }],
    ['two spellings of one name', 'archive/collision', { 'Notes.md': 'x', 'notes.md': 'x' }],
    ['two spellings of one folder', 'archive/collision', { 'Docs/a.md': 'x', 'docs/b.md': 'x' }],
    ['two compositions of one name', 'archive/collision', { 'caf\u00e9': 'x', 'cafe\u0301': 'x' }],
    ['a file of secrets', 'pack/secret', { '.env': 'A=b' }],
    [
      'a strict finding',
      'pack/format',
      { 'SKILL.md': '---\nname: demo\ndescription: It.\nmetadata: [1]\n---\n\nBody\n' },
    ],
    ['another name', 'pack/name', { 'SKILL.md': skillText('other') }],
    ['an ignore file that cannot be read', 'source/failed', { '.skillignore/x': 'x' }],
  ];
  test.each(cases)('%s', async (_what, code, tree) => {
    const base = scratch();
    plantDemo(base, 'demo', tree);
    const isNameCase = code === 'pack/name';
    const built = await buildPack({
      skills: skillsIn(base, 'demo'),
      out: path.join(base, 'demo.zip'),
      ...(isNameCase ? {} : { check: strict }),
    });
    expect(built).toMatchObject({ type: 'refused', code });
    expect(readdirSync(base)).toEqual(['demo']);
  });

  test('a secret, by its line and kind and never by its value', async () => {
    const base = scratch();
    const secret = ['ghp', 'q7Zk2Vw9Rb4Tn6Yc8Mf1Lp3Hs5Jd0XgAQ2w3E'].join('_');
    plantDemo(base, 'demo', { 'scripts/push.py': `import os\n\ntoken = "${secret}"\n` });
    const built = await buildPack({ skills: skillsIn(base, 'demo') });
    expect(built).toEqual({
      type: 'refused',
      code: 'pack/secret',
      path: 'demo/scripts/push.py',
      message: 'line 3 of "demo/scripts/push.py" has a GitHub token',
      hint: 'remove the secret, or exclude the file with .skillignore',
    });
    writeFileSync(path.join(base, 'demo/scripts/push.py'), Buffer.from(`\uFEFFtoken = "${secret}"\n`, 'utf16le'));
    expect(await buildPack({ skills: skillsIn(base, 'demo') })).toMatchObject({ code: 'pack/secret' });
    expect(await buildPack({ skills: skillsIn(base, 'demo'), allowSecrets: true })).toMatchObject({ type: 'packed' });
  });

  test('a pipe, a folder without a skill, and an empty list', async () => {
    const base = scratch();
    const dir = plantDemo(base);
    execFileSync('mkfifo', [path.join(dir, 'pipe')]);
    mkdirSync(path.join(base, 'empty'));
    const codeOf = async (...names: readonly string[]): Promise<string> => {
      const built = await buildPack({ skills: skillsIn(base, ...names) });
      return built.type === 'refused' ? built.code : built.type;
    };
    expect([
      await codeOf('demo'),
      await codeOf('empty'),
      await codeOf('absent'),
      await codeOf(),
      await codeOf('..'),
    ]).toEqual(['archive/special-file', 'pack/no-skill', 'source/missing', 'pack/no-skill', 'pack/name']);
    expect(await codeOf('empty', 'empty')).toBe('pack/two-skills');
  });

  test('more than the limits allow', async () => {
    const base = scratch();
    plantDemo(base, 'demo', { 'd/e/f/g.txt': 'x' });
    const codeWith = async (limits: Partial<typeof ARCHIVE_LIMITS>): Promise<string> => {
      const built = await buildPack({
        skills: skillsIn(base, 'demo'),
        out: path.join(base, 'x.zip'),
        limits: { ...ARCHIVE_LIMITS, ...limits },
      });
      return built.type === 'refused' ? built.code : built.type;
    };
    expect([
      await codeWith({ maxEntries: 3 }),
      await codeWith({ maxBytes: 100 }),
      await codeWith({ maxFileBytes: 1000 }),
      await codeWith({ maxArchiveBytes: 1000 }),
      await codeWith({ maxDepth: 3 }),
    ]).toEqual(['archive/too-many', 'archive/too-large', 'archive/too-large', 'archive/too-large', 'archive/too-deep']);
    expect(readdirSync(base)).toEqual(['demo']);
  });

  test('an existing file, unless force is set', async () => {
    const base = scratch();
    plantDemo(base);
    const out = path.join(base, 'demo.zip');
    writeFileSync(out, 'mine');
    expect(await buildPack({ skills: skillsIn(base, 'demo'), out })).toMatchObject({ code: 'pack/exists', path: out });
    expect(readFileSync(out, 'utf8')).toBe('mine');
    expect(await buildPack({ skills: skillsIn(base, 'demo'), out, force: true })).toMatchObject({ type: 'packed' });
    expect(readdirSync(base).toSorted()).toEqual(['demo', 'demo.zip']);
  });

  test('a file that was created during the build', async () => {
    const base = scratch();
    plantDemo(base);
    const out = path.join(base, 'demo.zip');
    const built = await buildPack({
      skills: skillsIn(base, 'demo'),
      out,
      onProgress: ({ step }) => {
        if (step === 'write' && !existsSync(out)) writeFileSync(out, 'mine');
      },
    });
    expect(built).toMatchObject({ code: 'pack/exists' });
    expect([readFileSync(out, 'utf8'), readdirSync(base).toSorted()]).toEqual(['mine', ['demo', 'demo.zip']]);
  });

  test('a file that changed after validation', async () => {
    const base = scratch();
    const dir = plantDemo(base);
    const change = (act: () => void): Promise<unknown> => {
      let isDone = false;
      return buildPack({
        skills: skillsIn(base, 'demo'),
        out: path.join(base, 'demo.zip'),
        onProgress: ({ step }) => {
          if (step === 'write' && !isDone) act();
          isDone ||= step === 'write';
        },
      });
    };
    const script = path.join(dir, 'scripts/run.sh');
    expect(await change(() => writeFileSync(script, '#!/bin/sh\nrm -rf /\n '))).toMatchObject({
      code: 'source/changed',
    });
    writeFileSync(script, '#!/bin/sh\necho hello\n');
    expect(await change(() => chmodSync(script, 0o644))).toMatchObject({ code: 'source/changed' });
    expect(await change(() => execFileSync('ln', ['-sf', '/etc/hostname', script]))).toMatchObject({
      code: 'source/changed',
    });
    expect(readdirSync(base)).toEqual(['demo']);
  });

  test('an output path that cannot be written', async () => {
    const base = scratch();
    plantDemo(base);
    expect(await buildPack({ skills: skillsIn(base, 'demo'), out: path.join(base, 'no/such/demo.zip') })).toEqual({
      type: 'refused',
      code: 'pack/unwritable',
      path: path.join(base, 'no/such/demo.zip'),
      message: `cannot write "${path.join(base, 'no/such/demo.zip')}" (ENOENT)`,
      hint: 'the file cannot be written: see the reason, or choose another path',
    });
    const full = path.join(base, 'full');
    symlinkSync('/dev', full);
    // A device that has never room, under the name of the pack: it is not replaced.
    expect(await buildPack({ skills: skillsIn(base, 'demo'), out: path.join(full, 'full') })).toMatchObject({
      code: 'pack/exists',
    });
  });

  test('a hard-linked file is packed', async () => {
    const base = scratch();
    const dir = plantDemo(base);
    linkSync(path.join(dir, 'SKILL.md'), path.join(base, 'other'));
    expect(await buildPack({ skills: skillsIn(base, 'demo') })).toMatchObject({ type: 'packed' });
  });
});
