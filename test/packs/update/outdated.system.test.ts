import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { PackRefusal } from '../../../src/packs/problems.ts';
import { findOutdated, type OutdatedOptions, type OutdatedRoot } from '../../../src/packs/update/outdated.ts';
import { updateSkills } from '../../../src/packs/update/update.ts';
import { verifies } from '../../conformance/verifies.ts';
import { treeOf } from '../root/support.ts';
import { repository, serveSmartly } from '../sources/git-world.ts';
import { scratch } from '../../skills/registry/support.ts';
import { AT, packWorld, type PackWorld } from '../support.ts';

async function look({ settings }: PackWorld, more: Partial<OutdatedOptions> = {}): Promise<OutdatedRoot | PackRefusal> {
  const workFolder = scratch();
  const found = await findOutdated({ settings, workFolder, ...more });
  expect(readdirSync(workFolder)).toEqual([]);
  return found;
}

const statuses = (found: OutdatedRoot | PackRefusal): unknown =>
  found.type === 'looked' ? found.skills.map(({ name, outdated: { status } }) => `${name} ${status}`) : found;

describe('findOutdated', () => {
  verifies('PACK-6', 'compares each skill with its source and writes nothing', async () => {
    const world = packWorld();
    world.skill('source/tables', {}, ['metadata:', '  version: "1.0.0"']);
    world.skill('source/letters');
    world.skill('more/notes');
    for (const source of ['./source', './more']) await world.install(source);
    // A read-only command must not create the state folder either.
    rmSync(path.join(world.root, '.skillwright'), { recursive: true });
    const before = treeOf(world.root);
    expect(await look(world)).toMatchObject({ isCurrent: true, skills: [{}, {}, {}] });
    world.skill('source/tables', {}, ['metadata:', '  version: "1.1.0"']);
    rmSync(path.join(world.project, 'more'), { recursive: true });
    const found = await look(world);
    expect(statuses(found)).toEqual(['letters current', 'notes gone', 'tables outdated']);
    expect(found).toMatchObject({
      isCurrent: false,
      skills: [{}, {}, { outdated: { from: { version: '1.0.0' }, to: { version: '1.1.0' }, isOlder: false } }],
    });
    expect(statuses(await look(world, { names: ['letters'] }))).toEqual(['letters current']);
    expect(await look(world, { names: ['nobody'] })).toMatchObject({ code: 'install/not-installed' });
    expect(treeOf(world.root)).toEqual(before);
    expect(existsSync(path.join(world.root, '.skillwright'))).toBe(false);
    expect(await look(packWorld())).toMatchObject({ code: 'lock/missing' });
  });

  test('does not count local edits as outdated', async () => {
    const world = packWorld();
    world.skill('source/tables');
    await world.install('./source');
    appendFileSync(path.join(world.root, 'tables/SKILL.md'), 'mine\n');
    expect(statuses(await look(world))).toEqual(['tables current']);
  });
});

const skillMd = (name: string, line: string): string =>
  `---\nname: ${name}\ndescription: Works on ${name}. Use it for ${name}.\n---\n\n# ${name}\n\n${line}\n`;

describe('a git repository', () => {
  verifies('PACK-6', 'is staged only if its commit changed, and provides the base of a merge', async () => {
    const world = packWorld({ install: { allow_http: true, allow_private_addresses: true } });
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    const repo = repository({
      'skills/tables/SKILL.md': skillMd('tables', 'Do it.'),
      'skills/tables/guide.md': lines.join('\n'),
      'skills/letters/SKILL.md': skillMd('letters', 'Do it.'),
    });
    const url = await serveSmartly(repo);
    const first = repo.git('rev-parse', 'HEAD');
    expect(await world.install(`git+${url}#main`)).toMatchObject({ isDone: true });
    expect(await world.install(`git+${url}#${first}`, { skills: ['letters'] })).toMatchObject({ isDone: true });
    expect(await look(world)).toMatchObject({
      skills: [
        { name: 'letters', outdated: { status: 'current' } },
        { name: 'tables', outdated: { status: 'current', reason: 'the source has the same revision' } },
      ],
    });
    const run = { settings: world.settings, confirm: async () => true, at: AT, names: ['tables'] };
    expect(await updateSkills(run)).toMatchObject({ skills: [{ reason: 'the source has the same revision' }] });
    rmSync(path.join(world.root, 'tables'), { recursive: true });
    expect(await updateSkills(run)).toMatchObject({ skills: [{ status: 'update', lock: { revision: first } }] });
    expect(await look(world, { offline: true })).toMatchObject({ skills: [{ outdated: { status: 'unknown' } }, {}] });

    const next = repo.commit({ 'skills/tables/guide.md': ['ONE', ...lines.slice(1)].join('\n') });
    const found = await look(world);
    expect(statuses(found)).toEqual(['letters current', 'tables outdated']);
    expect(found).toMatchObject({ skills: [{}, { outdated: { from: { revision: first }, to: { revision: next } } }] });

    // Both sides changed the guide; its base is fetched again by commit.
    const guide = path.join(world.root, 'tables/guide.md');
    appendFileSync(guide, '\neight');
    expect(await updateSkills(run)).toMatchObject({ skills: [{ refusal: { code: 'install/edited' } }] });
    expect(await updateSkills({ ...run, mode: 'merge' })).toMatchObject({
      isDone: true,
      skills: [{ status: 'update', merged: ['guide.md'], lock: { revision: next } }],
    });
    expect(readFileSync(guide, 'utf8')).toBe(['ONE', ...lines.slice(1), 'eight'].join('\n'));

    // Both sides changed the same line: a conflict, and nothing is written.
    repo.commit({ 'skills/tables/guide.md': ['ONE', ...lines.slice(1), 'EIGHT'].join('\n') });
    expect(await updateSkills({ ...run, mode: 'merge' })).toMatchObject({
      skills: [{ status: 'refused', refusal: { code: 'install/conflict', path: 'guide.md' } }],
    });
    expect(readFileSync(guide, 'utf8')).toBe(['ONE', ...lines.slice(1), 'eight'].join('\n'));
  });

  test('a commit is reported as pinned, a deleted branch as gone', async () => {
    const world = packWorld({ install: { allow_http: true, allow_private_addresses: true } });
    const repo = repository({
      'tables/SKILL.md': skillMd('tables', 'Do it.'),
      'letters/SKILL.md': skillMd('letters', 'x'),
      'notes/SKILL.md': skillMd('notes', 'x'),
    });
    const url = await serveSmartly(repo);
    repo.git('branch', 'side');
    repo.git('tag', '--annotate', '--message', 'v1', 'v1');
    await world.install(`git+${url}#${repo.git('rev-parse', 'HEAD')}`, { skills: ['tables'] });
    await world.install(`git+${url}#side`, { skills: ['letters'] });
    await world.install(`git+${url}#v1`, { skills: ['notes'] });
    repo.commit({ 'tables/SKILL.md': skillMd('tables', 'Do more.') });
    const found = await look(world);
    expect(statuses(found)).toEqual(['letters current', 'notes current', 'tables pinned']);
    // An annotated tag is a separate object; its commit is compared.
    expect(found).toMatchObject({ skills: [{}, { outdated: { reason: 'the source has the same revision' } }, {}] });
    repo.git('branch', '--delete', '--force', 'side');
    expect(statuses(await look(world))).toEqual(['letters gone', 'notes current', 'tables pinned']);
  });
});
