import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { isRefusal, type PackRefusal } from '../../src/packs/problems.ts';
import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import type { Installed, InstallPlan, InstallProgress } from '../../src/packs/install/options.ts';
import { restoreLock } from '../../src/packs/lock/restore-lock.ts';
import { verifies } from '../conformance/verifies.ts';
import { makeZip, type ZipPart } from '../corpus/archives-make-zip.ts';
import { SKILL_TEXT } from '../corpus/archives-sample.ts';
import { BENIGN_ARCHIVES, HOSTILE_ARCHIVES } from '../corpus/archives.ts';
import { harvest } from '../platform/fs/tree-support.ts';
import { packWorld, type PackWorld } from './support.ts';

const SKILL: ZipPart = { name: 'sample/SKILL.md', content: SKILL_TEXT };
const named = (name: string): string => SKILL_TEXT.replace('name: sample', `name: ${name}`);

/** Writes an archive into the project; gives what to type for it. */
function archive({ project }: PackWorld, bytes: Buffer, name = 'pack.zip'): string {
  writeFileSync(path.join(project, name), bytes);
  return `./${name}`;
}

function codeOf(end: Installed | PackRefusal): string {
  return isRefusal(end) ? end.code : end.type;
}

/** What a person sees in the root: skills and the lock. */
function rootOf({ root }: PackWorld): readonly string[] {
  return readdirSync(root).filter((name) => name !== '.skillwright');
}

/** All of the world but the root and the packs. */
function around({ project }: PackWorld): Readonly<Record<string, string>> {
  const found = Object.entries(harvest(path.dirname(project)));
  return Object.fromEntries(found.filter(([name]) => !/^project\/(?:\.agents\/|pack\.)/.test(name)));
}

describe('every archive of the corpus', () => {
  verifies('PACK-5', 'that is hostile is refused with its own code, and nothing is installed', async () => {
    const world = packWorld();
    const before = around(world);
    const ends: object[] = [];
    // Its other skill goes in: see the verdicts below.
    const hostile = HOSTILE_ARCHIVES.filter(({ name }) => name !== 'zip: SKILL.md is a link');
    for (const { name, format, bytes } of hostile) {
      const end = await world.install(archive(world, bytes(), `pack.${format}`));
      ends.push({ name, code: codeOf(end), root: rootOf(world) });
    }
    expect(ends).toEqual(hostile.map(({ name, code }) => ({ name, code, root: [] })));
    expect(readdirSync(path.join(world.root, '.skillwright/staging'))).toEqual([]);
    expect(around(world)).toEqual(before);
  });

  verifies('PACK-1', 'that is benign is installed as it is, or has no skill', async () => {
    for (const { name, format, bytes, tree } of BENIGN_ARCHIVES) {
      const world = packWorld();
      const end = await world.install(archive(world, bytes(), `pack.${format}`));
      const skill = Object.entries(tree).filter(([file]) => file.startsWith('sample/') && file !== 'sample/');
      const expected = 'sample/SKILL.md' in tree ? 'installed' : 'pack/no-skill';
      expect({ name, end: codeOf(end) }).toEqual({ name, end: expected });
      if (expected === 'installed')
        expect(harvest(path.join(world.root, 'sample'))).toEqual(
          Object.fromEntries(skill.map(([file, content]) => [file.slice('sample/'.length), content])),
        );
      else expect(rootOf(world)).toEqual([]);
    }
  });
});

describe('80: a pack without a proper SKILL.md', () => {
  test.each([
    ['none', [{ name: 'sample/README.md', content: SKILL_TEXT }], 'pack/no-skill'],
    ['in small letters', [{ name: 'sample/skill.md', content: SKILL_TEXT }], 'pack/no-skill'],
    ['a folder', [{ name: 'sample/SKILL.md/' }], 'pack/no-skill'],
    ['a link', [{ name: 'sample/SKILL.md', content: '/etc/passwd', mode: 0o120777 }], 'archive/link'],
    ['in version control', [{ name: '.git/sample/SKILL.md', content: SKILL_TEXT }], 'pack/no-skill'],
    ['in what was removed', [{ name: '.skillwright/trash/sample/SKILL.md', content: SKILL_TEXT }], 'pack/no-skill'],
    ['in what a package manager brought', [{ name: 'node_modules/sample/SKILL.md' }], 'pack/no-skill'],
    ['far down', [{ name: `${'a/'.repeat(40)}sample/SKILL.md`, content: SKILL_TEXT }], 'archive/too-deep'],
    ['empty', [{ name: 'sample/SKILL.md' }], 'pack/format'],
  ] satisfies readonly (readonly [string, readonly ZipPart[], string])[])('%s', async (_what, parts, code) => {
    const world = packWorld();
    expect(codeOf(await world.install(archive(world, makeZip(parts))))).toBe(code);
    expect(rootOf(world)).toEqual([]);
  });

  test('one inside a skill is a file of that skill, and not installed by itself', async () => {
    const world = packWorld();
    const inner = { name: 'sample/inner/SKILL.md', content: named('inner') };
    expect(await world.install(archive(world, makeZip([SKILL, inner])))).toMatchObject({
      plan: { skills: [{ skill: { name: 'sample' } }] },
    });
    expect(rootOf(world)).toEqual(['sample', 'skills.lock.json']);
  });
});

test('83: interrupted wherever it says how far it is, an install left all of it or nothing', async () => {
  const parts = [SKILL, { name: 'sample/scripts/a.sh', content: '#!/bin/sh\n', mode: 0o100755 }];
  for (let moment = 1, isDone = false; !isDone; moment += 1) {
    const world = packWorld();
    const stop = new AbortController();
    let count = 0;
    const onProgress = (): void => {
      count += 1;
      if (count === moment) stop.abort(new Error('enough'));
    };
    const end = world.install(archive(world, makeZip(parts)), { signal: stop.signal, onProgress });
    const outcome = await end.then(codeOf, (error: unknown) => (error instanceof Error ? error.message : 'odd'));
    isDone = count < moment;
    const whole = ['sample', 'skills.lock.json'];
    expect([outcome, rootOf(world)]).toEqual(outcome === 'installed' ? ['installed', whole] : ['enough', []]);
    expect(readdirSync(path.join(world.root, '.skillwright/staging'))).toEqual([]);
  }
});

describe('84: what stands in the way', () => {
  function worldWithOutside(): { readonly world: PackWorld; readonly outside: string; readonly source: string } {
    const world = packWorld();
    const outside = path.join(world.home, 'precious');
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'SKILL.md'), 'precious');
    return { world, outside, source: archive(world, makeZip([SKILL])) };
  }

  test('a link where the skill should be is refused, and with --force moved away itself, not what it leads to', async () => {
    const { world, outside, source } = worldWithOutside();
    mkdirSync(world.root, { recursive: true });
    symlinkSync(outside, path.join(world.root, 'sample'));
    const before = around(world);
    expect(codeOf(await world.install(source))).toBe('install/foreign');
    expect([rootOf(world), around(world)]).toEqual([['sample'], before]);
    expect(codeOf(await world.install(source, { existing: 'replace' }))).toBe('installed');
    expect(harvest(path.join(world.root, 'sample'))).toEqual({
      'SKILL.md': Buffer.from(SKILL_TEXT).toString('base64'),
    });
    expect(around(world)).toEqual(before);
  });

  test('a root that is a link is the folder it leads to; one that is exchanged meanwhile is refused', async () => {
    const { world, outside, source } = worldWithOutside();
    const real = path.join(world.project, 'real');
    mkdirSync(real);
    mkdirSync(path.dirname(world.root), { recursive: true });
    symlinkSync(real, world.root);
    const confirm = async (): Promise<boolean> => {
      rmSync(world.root);
      symlinkSync(outside, world.root);
      return true;
    };
    expect(codeOf(await world.install(source, { confirm }))).toBe('install/root');
    expect([readdirSync(outside), readdirSync(real)]).toEqual([['SKILL.md'], ['.skillwright']]);
    rmSync(world.root);
    symlinkSync(real, world.root);
    expect(codeOf(await world.install(source))).toBe('installed');
    expect(readdirSync(real)).toContain('sample');
  });

  test('a link for the folder that we work in is refused', async () => {
    const { world, outside, source } = worldWithOutside();
    mkdirSync(world.root, { recursive: true });
    symlinkSync(outside, path.join(world.root, '.skillwright'));
    const before = around(world);
    expect(codeOf(await world.install(source))).toBe('install/root');
    expect([rootOf(world), around(world)]).toEqual([[], before]);
  });

  const CHANGES: Readonly<Record<string, (staged: string, outside: string) => void>> = {
    'a file is changed': (staged) => appendFileSync(path.join(staged, 'SKILL.md'), 'evil'),
    'a file is added': (staged) => writeFileSync(path.join(staged, 'evil.sh'), 'evil'),
    'a hidden file is added': (staged) => writeFileSync(path.join(staged, '.mcp.json'), '{}'),
    'a file is removed': (staged) => rmSync(path.join(staged, 'SKILL.md')),
    'a file becomes a link': (staged, outside) => {
      rmSync(path.join(staged, 'SKILL.md'));
      symlinkSync(path.join(outside, 'SKILL.md'), path.join(staged, 'SKILL.md'));
    },
    'the folder becomes a link': (staged, outside) => {
      renameSync(staged, `${staged}.old`);
      symlinkSync(outside, staged);
    },
  };

  test.each(Object.entries(CHANGES))('between inspection and commit %s: refused', async (_what, change) => {
    const { world, outside, source } = worldWithOutside();
    const confirm = async ({ skills }: InstallPlan): Promise<boolean> => {
      for (const { skill } of skills) change(skill.path, outside);
      return true;
    };
    const before = around(world);
    expect(codeOf(await world.install(source, { confirm }))).toBe('source/changed');
    expect([rootOf(world), around(world)]).toEqual([[], before]);
  });
});

describe('85: names', () => {
  test.each([
    ['another than its folder', 'sample/', 'other', 'pack/name'],
    ['the folder above', '', '..', 'pack/format'],
    ['a path', '', '../../b', 'pack/format'],
    ['a device of Windows', '', 'con', 'pack/name'],
    ['a folder that is one', 'con/', 'con', 'archive/reserved-name'],
    ['the folder that we work in', '', '.skillwright', 'pack/format'],
    ['letters of two scripts, drawn as an installed one', '', 'repоrts', 'install/homoglyph'],
    ['a digit for a letter', 'rep0rts/', 'rep0rts', 'install/homoglyph'],
  ])('strict, %s', async (_what, folder, name, code) => {
    const world = packWorld();
    world.skill('source/reports');
    expect(codeOf(await world.install('./source'))).toBe('installed');
    const text = named(JSON.stringify(name));
    const source = archive(world, makeZip([{ name: `${folder}SKILL.md`, content: text }]));
    expect(codeOf(await world.install(source, { strict: true }))).toBe(code);
    expect(rootOf(world)).toEqual(['reports', 'skills.lock.json']);
  });
});

test('85: a name that leads out leads nowhere: the skill is called like its pack', async () => {
  const world = packWorld();
  const before = around(world);
  const source = archive(world, makeZip([{ name: 'SKILL.md', content: named('"../../b"') }]));
  expect(codeOf(await world.install(source))).toBe('installed');
  expect([rootOf(world), around(world)]).toEqual([['pack', 'skills.lock.json'], before]);
});

test('85: a name that is not that of its folder is taken, and said', async () => {
  const world = packWorld();
  const source = archive(world, makeZip([{ name: 'sample/SKILL.md', content: named('other') }]));
  expect(await world.install(source)).toMatchObject({
    plan: { skills: [{ skill: { name: 'other', notes: ['the skill in "sample" has the name "other"'] } }] },
  });
  expect(rootOf(world)).toEqual(['other', 'skills.lock.json']);
});

describe('86: a pack that is exchanged after somebody said yes', () => {
  verifies('PACK-5', 'installs what was shown, and not what lies there now', async () => {
    const world = packWorld();
    const source = archive(world, makeZip([SKILL]));
    const shown: string[] = [];
    const confirm = async ({ skills }: InstallPlan): Promise<boolean> => {
      shown.push(...skills.map(({ lock }) => lock.digest));
      archive(world, makeZip([{ ...SKILL, content: `${SKILL_TEXT}evil\n` }]));
      return true;
    };
    expect(codeOf(await world.install(source, { confirm }))).toBe('installed');
    expect(await readTreeDigest(path.join(world.root, 'sample'))).toMatchObject({ digest: shown[0] });
    rmSync(path.join(world.root, 'sample'), { recursive: true });
    expect(await restoreLock({ settings: world.settings })).toMatchObject({ code: 'lock/not-reproducible' });
    expect(rootOf(world)).toEqual(['skills.lock.json']);
  });
});

describe('86: a file that is exchanged in the staging folder', () => {
  test('between the copy and the inspection is seen: nothing is installed', async () => {
    const world = packWorld();
    for (const name of ['first', 'second']) world.skill(`pack/${name}`, { 'scripts/run.py': 'print(1)\n' });
    const staging = path.join(world.root, '.skillwright/staging');
    const onProgress = ({ step, done, total }: InstallProgress): void => {
      if (step !== 'copy' || done !== total) return;
      const staged = readdirSync(staging, { recursive: true, encoding: 'utf8' }).filter((at) =>
        at.endsWith('first/scripts/run.py'),
      );
      for (const at of staged) writeFileSync(path.join(staging, at), 'import evil\n');
    };
    expect(codeOf(await world.install('./pack', { onProgress }))).toBe('source/changed');
    expect(rootOf(world)).toEqual([]);
  });
});
