import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { restoreSkill, rollbackSkill, uninstallSkills } from '../../../src/packs/change-root.ts';
import type { PackRefusal } from '../../../src/packs/problems.ts';
import { restoreLock } from '../../../src/packs/lock/restore-lock.ts';
import { updateSkills, type Updated } from '../../../src/packs/update/update.ts';
import { verifies } from '../../conformance/verifies.ts';
import { makeTarGz } from '../../corpus/archives-make-tar.ts';
import { makeZip } from '../../corpus/archives-make-zip.ts';
import { openSite } from '../../project/network/network-world.ts';
import { repository } from '../sources/git-world.ts';
import { packWorld, type PackWorld } from '../support.ts';

type Files = Readonly<Record<string, string>>;

const skillMd = (...body: readonly string[]): string =>
  ['---', 'name: tables', 'description: Works on tables. Use it for tables.', '---', '', ...body, ''].join('\n');

const FIRST: Files = {
  'SKILL.md': skillMd('one', 'two', 'three', 'four', 'five'),
  'references/gone.md': 'gone\n',
  'references/unused.md': 'unused\n',
  'scripts/run.sh!': '#!/bin/sh\necho 1\necho 2\necho 3\n',
  'image.bin': 'a\0b',
};
/** Changes the first lines of two files, removes a file and adds one. */
const SECOND: Files = {
  'SKILL.md': skillMd('ONE', 'two', 'three', 'four', 'five'),
  'references/new.md': 'new\n',
  'references/unused.md': 'unused\n',
  'scripts/run.sh!': '#!/bin/sh -e\necho 1\necho 2\necho 3\n',
  'image.bin': 'a\0c',
};
/** What the user does: changes the last lines, adds a file and deletes one. */
function edit(dir: string): void {
  writeFileSync(path.join(dir, 'SKILL.md'), skillMd('one', 'two', 'three', 'four', 'FIVE'));
  writeFileSync(path.join(dir, 'scripts/run.sh'), '#!/bin/sh\necho 1\necho 2\necho three\n');
  writeFileSync(path.join(dir, 'mine.md'), 'mine\n');
  rmSync(path.join(dir, 'references/unused.md'));
}
const MERGED: Files = {
  'SKILL.md': skillMd('ONE', 'two', 'three', 'four', 'FIVE'),
  'image.bin': 'a\0c',
  'mine.md': 'mine\n',
  'references/new.md': 'new\n',
  'scripts/run.sh!': '#!/bin/sh -e\necho 1\necho 2\necho three\n',
};

/** Files by path; `!` marks an executable. */
function filesIn(dir: string): Files {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const entries = files.map((entry) => {
    const place = path.join(entry.parentPath, entry.name);
    const isExecutable = (statSync(place).mode & 0o111) !== 0;
    return [`${path.relative(dir, place)}${isExecutable ? '!' : ''}`, readFileSync(place, 'utf8')] as const;
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function write(dir: string, files: Files): void {
  rmSync(dir, { recursive: true, force: true });
  for (const [file, text] of Object.entries(files)) {
    const place = path.join(dir, file.replace('!', ''));
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
    chmodSync(place, file.endsWith('!') ? 0o755 : 0o644);
  }
}

const parts = (files: Files) =>
  Object.entries(files).map(([file, text]) => ({
    name: `tables/${file.replace('!', '')}`,
    content: Buffer.from(text),
    mode: file.endsWith('!') ? 0o100755 : 0o100644,
  }));
const zip = (files: Files): Buffer => makeZip(parts(files));
const tar = (files: Files): Buffer => makeTarGz(parts(files).map((part) => ({ ...part, mode: part.mode & 0o777 })));

interface Source {
  readonly typed: string;
  readonly publish: (files: Files) => void;
}

const archive =
  (name: string, pack: (files: Files) => Buffer) =>
  async ({ project }: PackWorld): Promise<Source> => ({
    typed: `./${name}`,
    publish: (files) => writeFileSync(path.join(project, name), pack(files)),
  });

/** How each kind of source publishes a version. */
const SOURCES: Readonly<Record<string, (world: PackWorld) => Promise<Source>>> = {
  folder: async ({ project }) => ({
    typed: './source',
    publish: (files) => write(path.join(project, 'source/tables'), files),
  }),
  zip: archive('pack.zip', zip),
  '.skill': archive('pack.skill', zip),
  'tar.gz': archive('pack.tar.gz', tar),
  async url() {
    let bytes: Buffer = Buffer.alloc(0);
    const site = await openSite(({ url }, response) =>
      url === '/pack.zip' ? response.end(bytes) : response.writeHead(404).end(),
    );
    return { typed: `${site.origin}/pack.zip`, publish: (files) => (bytes = zip(files)) };
  },
  async git() {
    const repo = repository({});
    return {
      typed: repo.url,
      publish(files) {
        write(path.join(repo.folder, 'tables'), files);
        repo.commit({});
      },
    };
  },
};

const update = ({ settings }: PackWorld): Promise<Updated | PackRefusal> =>
  updateSkills({ settings, mode: 'merge', confirm: async () => true });

async function installed(kind = 'folder') {
  const world = packWorld({ install: { allow_http: true, allow_private_addresses: true } });
  const source = await SOURCES[kind]?.(world);
  if (source === undefined) throw new Error(kind);
  source.publish(FIRST);
  expect(await world.install(source.typed)).toMatchObject({ isDone: true });
  return { ...world, ...source, dir: path.join(world.root, 'tables') };
}

const MERGE = {
  isDone: true,
  skills: [
    { status: 'update', merged: ['SKILL.md', 'scripts/run.sh'], kept: ['mine.md', 'references/unused.md'], lost: [] },
  ],
};
const confirm = async (): Promise<boolean> => true;
const originals = (root: string): number => readdirSync(path.join(root, '.skillwright/originals')).length;

describe('update --merge', () => {
  for (const kind of Object.keys(SOURCES))
    verifies('PACK-8', `merges edits after a first install from a ${kind} source`, async () => {
      const world = await installed(kind);
      edit(world.dir);
      world.publish(SECOND);
      expect(await update(world)).toMatchObject(MERGE);
      expect(filesIn(world.dir)).toEqual(MERGED);
      // The merge result is not the base of the next merge; the published version is.
      world.publish({ ...SECOND, 'SKILL.md': skillMd('ONE', 'TWO', 'three', 'four', 'five') });
      expect(await update(world)).toMatchObject({ isDone: true, skills: [{ status: 'update' }] });
      expect(filesIn(world.dir)).toEqual({
        ...MERGED,
        'SKILL.md': skillMd('ONE', 'TWO', 'three', 'four', 'FIVE'),
      });
    });

  test('merges after uninstall and install, restore, rollback, and a restored lock', async () => {
    const world = await installed();
    const { settings } = world;
    expect(await uninstallSkills({ settings, names: ['tables'], purge: true, confirm })).toMatchObject({
      isDone: true,
    });
    expect(originals(world.root)).toBe(0);
    expect(await world.install(world.typed)).toMatchObject({ isDone: true });
    expect(await uninstallSkills({ settings, names: ['tables'], confirm })).toMatchObject({ isDone: true });
    expect(await restoreSkill({ settings, name: 'tables', confirm })).toMatchObject({ isDone: true });
    world.publish(SECOND);
    expect(await update(world)).toMatchObject({ isDone: true });
    expect(await rollbackSkill({ settings, name: 'tables', confirm })).toMatchObject({ isDone: true });
    edit(world.dir);
    expect(await update(world)).toMatchObject(MERGE);
    expect(filesIn(world.dir)).toEqual(MERGED);
    // A clone has the lock and neither the skills nor the state.
    world.publish(SECOND);
    for (const gone of ['tables', '.skillwright']) rmSync(path.join(world.root, gone), { recursive: true });
    expect(await restoreLock({ settings })).toMatchObject({ brought: ['tables'] });
    writeFileSync(path.join(world.dir, 'SKILL.md'), skillMd('ONE', 'two', 'three', 'four', 'FIVE'));
    world.publish({ ...SECOND, 'SKILL.md': skillMd('1', 'two', 'three', 'four', 'five') });
    expect(await update(world)).toMatchObject({ isDone: true, skills: [{ merged: ['SKILL.md'] }] });
  });

  test('keeps one original per version that the lock or a backup refers to', async () => {
    const world = await installed();
    const { settings } = world;
    for (let round = 0; round < 9; round += 1) {
      world.publish({ ...SECOND, 'SKILL.md': skillMd(String(round)) });
      expect(await updateSkills({ settings, confirm })).toMatchObject({ isDone: true });
    }
    // The installed version and the five previous ones.
    expect(originals(world.root)).toBe(6);
    expect(await uninstallSkills({ settings, names: ['tables'], confirm })).toMatchObject({ isDone: true });
    expect(originals(world.root)).toBe(6);
  });

  test('merges through the link of another agent', async () => {
    const world = packWorld();
    const folder = path.join(world.project, '.claude/skills');
    write(path.join(world.project, 'source/tables'), FIRST);
    const targets = [{ folder, within: world.project, agents: ['claude-code'], isRoot: false }];
    expect(await world.install('./source', { targets })).toMatchObject({ isDone: true });
    edit(path.join(folder, 'tables'));
    write(path.join(world.project, 'source/tables'), SECOND);
    expect(await update(world)).toMatchObject(MERGE);
    expect(filesIn(path.join(folder, 'tables'))).toEqual(MERGED);
  });

  verifies('PACK-8', 'shows both sides of lines that both changed, and changes nothing', async () => {
    const world = await installed();
    edit(world.dir);
    const before = filesIn(world.dir);
    world.publish({ ...SECOND, 'SKILL.md': skillMd('one', 'two', 'three', 'four', '5') });
    expect(await update(world)).toMatchObject({
      skills: [
        {
          status: 'refused',
          refusal: {
            code: 'install/conflict',
            conflicts: [
              {
                path: 'SKILL.md',
                reason: 'lines',
                conflicts: [
                  {
                    base: { line: 10, lines: ['five\n'] },
                    local: { line: 10, lines: ['FIVE\n'] },
                    incoming: { line: 10, lines: ['5\n'] },
                  },
                ],
              },
            ],
          },
        },
      ],
    });
    expect(filesIn(world.dir)).toEqual(before);
  });

  test.each([
    ['a binary file', 'image.bin', 'a\0mine', 'binary'],
    ['a text that became binary here', 'SKILL.md', `${skillMd('one')}\0`, 'binary'],
  ])('never merges %s by lines', async (_what, file, mine, reason) => {
    const world = await installed();
    writeFileSync(path.join(world.dir, file), mine);
    world.publish(SECOND);
    expect(await update(world)).toMatchObject({
      skills: [{ refusal: { code: 'install/conflict', conflicts: [{ path: file, reason }] } }],
    });
    expect(readFileSync(path.join(world.dir, file), 'utf8')).toBe(mine);
  });

  test.each([
    ['damaged', (file: string) => writeFileSync(file, 'not gzip')],
    ['of another version', (file: string, other: Buffer) => writeFileSync(file, other)],
  ])('reports an original that is %s instead of merging with it', async (_what, spoil) => {
    const world = await installed();
    const folder = path.join(world.root, '.skillwright/originals');
    const [name = ''] = readdirSync(folder);
    const other = await installed();
    other.publish(SECOND);
    expect(await update(other)).toMatchObject({ isDone: true });
    const different = readdirSync(path.join(other.root, '.skillwright/originals')).find((one) => one !== name) ?? '';
    spoil(path.join(folder, name), readFileSync(path.join(other.root, '.skillwright/originals', different)));
    edit(world.dir);
    const before = filesIn(world.dir);
    world.publish(SECOND);
    expect(await update(world)).toMatchObject({
      skills: [{ refusal: { code: 'install/conflict', conflicts: [{ reason: 'base-unknown' }, {}] } }],
    });
    expect(filesIn(world.dir)).toEqual(before);
  });
});
