import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { isRefusal, type PackRefusal } from '../../src/packs/problems.ts';
import type { Installed } from '../../src/packs/install/options.ts';
import { makeZip, type ZipPart } from '../corpus/archives-make-zip.ts';
import { verifies } from '../conformance/verifies.ts';
import { packWorld, type PackWorld } from './support.ts';

const TWENTY = Array.from({ length: 20 }, (_, at) => `skill-${String(at).padStart(2, '0')}`);
const NINETEEN = TWENTY.filter((name) => name !== 'skill-07');

const text = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Works on ${name}. Use it for ${name}.\n---\n\n# ${name}\n\nDo it.\n${more}`;

/** What a user sees in the root. */
function rootOf({ root }: PackWorld): readonly string[] {
  return readdirSync(root).filter((name) => name !== '.skillwright');
}

/** Verdicts by name: the code of a refusal, otherwise the verdict. */
function verdictsOf(result: Installed | PackRefusal): Readonly<Record<string, string>> {
  if (isRefusal(result)) return { source: result.code };
  const { skills, refused } = result.plan;
  return Object.fromEntries([
    ...skills.map(({ skill, verdict }) => [skill.name, verdict] as const),
    ...refused.map(({ name, refusal }) => [name, refusal.code] as const),
  ]);
}

const EVIL = {
  'a link to a file outside': ['archive/link', (dir: string) => symlinkSync('/etc/passwd', path.join(dir, 'notes.md'))],
  'a pipe': ['archive/special-file', (dir: string) => execFileSync('mkfifo', [path.join(dir, 'pipe')])],
  'a name that Windows reserves': ['archive/reserved-name', (dir: string) => writeFileSync(path.join(dir, 'con'), '')],
  'no description': [
    'pack/format',
    (dir: string) => writeFileSync(path.join(dir, 'SKILL.md'), '---\nname: skill-07\n---\n'),
  ],
  'a script that the scan stops': [
    'pack/scan',
    (dir: string) => writeFileSync(path.join(dir, 'run.sh'), 'echo aWQ= | base64 -d | sh\n'),
  ],
  'a requirement that nothing meets': [
    'requires/missing',
    (dir: string) =>
      writeFileSync(
        path.join(dir, 'SKILL.md'),
        text('skill-07').replace('---\n\n', 'requires: {skills: [nothing-like-it]}\n---\n\n'),
      ),
  ],
} as const;

describe('one bad skill in a source of 20', () => {
  for (const [what, [code, spoil]] of Object.entries(EVIL))
    verifies('INST-1', `leaves 19 installed and nothing of it on disk: ${what}`, async () => {
      const world = packWorld();
      const folders = TWENTY.map((name) => world.skill(`source/${name}`));
      spoil(folders[7] ?? '');
      const result = await world.install('./source');
      expect(verdictsOf(result)).toEqual({
        ...Object.fromEntries(NINETEEN.map((name) => [name, 'ready'])),
        'skill-07': code,
      });
      expect(rootOf(world)).toEqual([...NINETEEN, 'skills.lock.json']);
      expect(readdirSync(path.join(world.root, '.skillwright/staging'))).toEqual([]);
    });

  test('is refused alone in a git repository too', async () => {
    const world = packWorld();
    const repository = path.join(world.project, 'repo');
    for (const name of TWENTY) world.skill(`repo/${name}`);
    symlinkSync('/etc/passwd', path.join(repository, 'skill-07/notes.md'));
    const git = (...args: readonly string[]): unknown =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'skills');
    expect(verdictsOf(await world.install(`git+file://${repository}`))).toMatchObject({
      'skill-06': 'ready',
      'skill-07': 'archive/link',
    });
    expect(rootOf(world)).toEqual([...NINETEEN, 'skills.lock.json']);
  });

  const zipWith = (...evil: readonly ZipPart[]): Uint8Array =>
    makeZip([...TWENTY.map((name) => ({ name: `${name}/SKILL.md`, content: text(name) })), ...evil]);

  test.each([
    ['a link', { name: 'skill-07/notes.md', content: '/etc/passwd', mode: 0o120777 }, 'archive/link'],
    ['a file with setuid', { name: 'skill-07/run', content: 'x', mode: 0o104755 }, 'archive/mode'],
    ['an entry twice', { name: 'skill-07/SKILL.md', content: 'other' }, 'archive/duplicate'],
    ['a reserved name', { name: 'skill-07/nul.txt', content: 'x' }, 'archive/reserved-name'],
  ] as const)('is refused alone in an archive: %s', async (_what, evil, code) => {
    const world = packWorld();
    writeFileSync(path.join(world.project, 'pack.zip'), zipWith(evil));
    expect(verdictsOf(await world.install('./pack.zip'))).toMatchObject({ 'skill-06': 'ready', 'skill-07': code });
    expect(rootOf(world)).toEqual([...NINETEEN, 'skills.lock.json']);
  });

  test.each([
    ['a path that leads out', { name: 'skill-07/../../x', content: 'x' }, 'archive/traversal'],
    ['an absolute path', { name: '/skill-07/x', content: 'x' }, 'archive/absolute'],
    ['two folders that differ in case', { name: 'Skill-07/x.md', content: 'x' }, 'archive/collision'],
  ] as const)('an archive is refused as a whole for %s', async (_what, evil, code) => {
    const world = packWorld();
    writeFileSync(path.join(world.project, 'pack.zip'), zipWith(evil));
    expect(verdictsOf(await world.install('./pack.zip'))).toEqual({ source: code });
    expect(rootOf(world)).toEqual([]);
  });

  test('an archive whose SKILL.md is a link loses that skill alone', async () => {
    const world = packWorld();
    const parts = TWENTY.map((name) => ({ name: `${name}/SKILL.md`, content: text(name) }));
    const link = { name: 'skill-07/SKILL.md', content: '/etc/passwd', mode: 0o120777 };
    writeFileSync(path.join(world.project, 'pack.zip'), makeZip(parts.map((part, at) => (at === 7 ? link : part))));
    expect(verdictsOf(await world.install('./pack.zip'))).toMatchObject({
      'skill-06': 'ready',
      'skill-07': 'archive/link',
    });
    expect(rootOf(world)).toEqual([...NINETEEN, 'skills.lock.json']);
  });

  test('a link beside the skills of an archive is skipped', async () => {
    const world = packWorld();
    writeFileSync(
      path.join(world.project, 'pack.zip'),
      zipWith({ name: 'CLAUDE.md', content: 'AGENTS.md', mode: 0o120777 }),
    );
    expect(await world.install('./pack.zip')).toMatchObject({ plan: { leftOut: ['CLAUDE.md: a link'], refused: [] } });
    expect(rootOf(world)).toEqual([...TWENTY, 'skills.lock.json']);
  });
});

describe('verdicts', () => {
  test('a skill that is needed by others is refused with those that need it', async () => {
    const world = packWorld();
    world.skill('source/base', { 'run.sh': 'echo aWQ= | base64 -d | sh\n' });
    world.skill('source/middle', {}, ['requires: {skills: [base]}']);
    world.skill('source/top', {}, ['requires: {skills: [middle]}']);
    world.skill('source/free');
    expect(verdictsOf(await world.install('./source'))).toEqual({
      base: 'pack/scan',
      middle: 'requires/missing',
      top: 'requires/missing',
      free: 'ready',
    });
    expect(rootOf(world)).toEqual(['free', 'skills.lock.json']);
  });

  test("what exists is refused by itself, and nobody's files are overwritten", async () => {
    const world = packWorld();
    for (const name of ['a', 'b', 'c']) world.skill(`source/${name}`);
    world.skill('first/a', { 'old.md': 'old' });
    await world.install('./first');
    mkdirSync(path.join(world.root, 'b'));
    writeFileSync(path.join(world.root, 'b/mine.txt'), 'mine');
    const result = await world.install('./source');
    expect(verdictsOf(result)).toEqual({ a: 'install/exists', b: 'install/foreign', c: 'ready' });
    expect(result).toMatchObject({
      plan: { refused: [{ refusal: { allow: '--backup or --force' } }, { refusal: { allow: '--backup or --force' } }] },
    });
    expect(readdirSync(path.join(world.root, 'b'))).toEqual(['mine.txt']);
    expect(existsSync(path.join(world.root, 'a/old.md'))).toBe(true);
  });

  test('each refusal names what would allow it', async () => {
    const world = packWorld();
    world.skill('source/evil', { 'run.sh': 'echo aWQ= | base64 -d | sh\n' });
    world.skill('source/good');
    expect(await world.install('./source', { skills: ['evil', 'good'] })).toMatchObject({
      plan: {
        refused: [
          {
            name: 'evil',
            isNamed: true,
            refusal: { allow: '--accept encoded-payload' },
          },
        ],
      },
    });
  });
});

describe('where skills of a source are found', () => {
  test('hidden folders and plugin layouts are searched; state, caches and version control are not', async () => {
    const world = packWorld();
    for (const at of [
      'skills/.curated/a',
      'skills/.system/b',
      '.claude/skills/c',
      '.agents/skills/d',
      'plugins/x/skills/e',
      '.skillwright/trash/no1',
      '.git/no2',
      '.venv/no3',
      'node_modules/no4',
    ])
      world.skill(`source/${at}`);
    await world.install('./source');
    expect(rootOf(world)).toEqual(['a', 'b', 'c', 'd', 'e', 'skills.lock.json']);
    writeFileSync(
      path.join(world.project, 'pack.zip'),
      makeZip([
        { name: '.curated/f/SKILL.md', content: text('f') },
        { name: '.curated/f/.env', content: 'KEY=1' },
        { name: '.curated/README.md', content: 'x' },
        { name: '.github/x.yml', content: 'x' },
      ]),
    );
    expect(await world.install('./pack.zip')).toMatchObject({
      plan: {
        skills: [{ skill: { name: 'f', files: { 'SKILL.md': {} } } }],
        leftOut: ['.curated/f/.env: hidden file', '.github/: hidden folder'],
      },
    });
  });

  test('a copy with the same files counts once; of two different skills the documented one is taken, and said', async () => {
    const world = packWorld();
    for (const at of ['skills/same', '.claude/skills/same', 'skills/other', '.claude/skills/other'])
      world.skill(`source/${at}`);
    world.skill('source/.claude/skills/other', { 'extra.md': 'x' });
    symlinkSync('../built-in-skills', path.join(world.project, 'source/linked'));
    expect(await world.install('./source')).toMatchObject({
      plan: {
        skills: [{ skill: { folder: 'skills/other' } }, { skill: { folder: 'skills/same' } }],
        notes: [
          '"other" is in several folders with different files: using "skills/other", not ".claude/skills/other"; name a folder to choose another one',
          '"same" is in several folders with the same files: using "skills/same", not ".claude/skills/same"',
        ],
      },
    });
    const named = await world.install('./source', { skills: ['.claude/skills/other'], existing: 'replace' });
    expect(named).toMatchObject({ plan: { skills: [{ skill: { folder: '.claude/skills/other' } }] } });
  });

  test('a name that is not valid gives way to the folder, or to its nearest spelling', async () => {
    const world = packWorld();
    const dir = world.skill('source/pdf-tools');
    writeFileSync(path.join(dir, 'SKILL.md'), text('PDF Tools!'));
    writeFileSync(path.join(world.skill('source/My Folder'), 'SKILL.md'), text('My Skill'));
    await world.install('./source');
    expect(rootOf(world)).toEqual(['my-skill', 'pdf-tools', 'skills.lock.json']);
  });
});
