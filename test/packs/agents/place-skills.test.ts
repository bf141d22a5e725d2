import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { findAgentBase } from '../../../src/packs/agents/agents.ts';
import { checkCopies } from '../../../src/packs/agents/lock-places.ts';
import type { FolderChange } from '../../../src/packs/agents/place-skills.ts';
import { isRefusal } from '../../../src/packs/problems.ts';
import { withRoot, type Committed, type OpenRoot } from '../../../src/packs/root/open-root.ts';
import type { RootChange } from '../../../src/packs/root/plan.ts';
import { isPresent } from '../../../src/platform/fs/paths.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bringBack, committed, install, staged, treeOf } from '../root/support.ts';

interface World {
  readonly project: string;
  readonly root: string;
  readonly at: (below: string) => string;
  readonly commit: (
    places: readonly FolderChange[],
    changes?: (open: OpenRoot) => readonly RootChange[],
  ) => Promise<Committed>;
  readonly locked: (name: string) => Promise<{ links?: readonly string[]; copies?: readonly string[] }>;
}

/** A project with the skills alpha and beta. */
async function world(): Promise<World> {
  const project = path.join(scratch(), 'project');
  const root = path.join(project, '.agents/skills');
  await install(root, { alpha: '1', beta: '1' });
  return {
    project,
    root,
    at: (below) => path.join(project, below),
    commit: async (places, changes = () => []) =>
      committed(await withRoot(root, {}, (open) => open.commit(changes(open), { places }))),
    async locked(name) {
      const found = await withRoot(root, {}, ({ lock }) => Promise.resolve(lock.skills.get(name)));
      if (found === undefined || isRefusal(found)) return {};
      const { links, copies } = found;
      return { links, copies };
    },
  };
}

const CLAUDE = '../../.claude/skills';
const add = (...names: readonly string[]): FolderChange => ({ folder: CLAUDE, kind: 'link', add: names, remove: [] });
const copy = (...names: readonly string[]): FolderChange => ({ ...add(...names), kind: 'copy' });
const remove = (...names: readonly string[]): FolderChange => ({
  folder: CLAUDE,
  kind: 'link',
  add: [],
  remove: names,
});
const linksOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readlinkSync(path.join(folder, name))]));

describe('links for agents', () => {
  test('are relative, recorded, and made once', async () => {
    const { at, commit, locked } = await world();
    expect((await commit([add('alpha', 'beta')])).unplaced).toEqual([]);
    expect((await commit([add('alpha')])).unplaced).toEqual([]);
    expect(linksOf(at('.claude/skills'))).toEqual({
      alpha: '../../.agents/skills/alpha',
      beta: '../../.agents/skills/beta',
    });
    expect(await locked('alpha')).toEqual({ links: [CLAUDE] });
  });

  test('follow an update, go with an uninstall, and come back with restore', async () => {
    const { root, at, commit, locked } = await world();
    await commit([add('alpha', 'beta')]);
    await commit([], (open) => [staged(open, 'alpha', { version: '2', existing: 'replace' })]);
    expect(readFileSync(at('.claude/skills/alpha/references/notes.md'), 'utf8')).toBe('notes of 2\n');
    expect(await locked('alpha')).toEqual({ links: [CLAUDE] });
    await commit([], () => [{ type: 'remove', name: 'alpha', to: 'trash' }]);
    expect(readdirSync(at('.claude/skills'))).toEqual(['beta']);
    committed(await bringBack(root, 'trash', 'alpha'));
    expect(linksOf(at('.claude/skills'))['alpha']).toBe('../../.agents/skills/alpha');
    expect(await locked('alpha')).toEqual({ links: [CLAUDE] });
  });

  test('leave no empty folder behind, and no folder of others is removed', async () => {
    const { project, at, commit, locked } = await world();
    await commit([add('alpha')]);
    await commit([remove('alpha')]);
    expect(readdirSync(project)).toEqual(['.agents']);
    expect(await locked('alpha')).toEqual({});
    await commit([add('alpha')]);
    writeFileSync(at('.claude/settings.json'), '{}');
    await commit([remove('alpha')]);
    expect(readdirSync(at('.claude'))).toEqual(['settings.json']);
  });

  test('take over a link that leads to the skill already', async () => {
    const { root, at, commit, locked } = await world();
    mkdirSync(at('.claude/skills'), { recursive: true });
    symlinkSync(path.join(root, 'alpha'), at('.claude/skills/alpha'));
    expect((await commit([add('alpha')])).unplaced).toEqual([]);
    expect(await locked('alpha')).toEqual({ links: [CLAUDE] });
    await commit([remove('alpha')]);
    expect(isPresent(at('.claude/skills/alpha'))).toBe(false);
  });

  test('need nothing where the folder of the agent is a link to the root', async () => {
    const { at, commit, locked } = await world();
    mkdirSync(at('.claude'));
    symlinkSync('../.agents/skills', at('.claude/skills'));
    expect((await commit([add('alpha')])).unplaced).toEqual([]);
    expect(await locked('alpha')).toEqual({});
    expect(readlinkSync(at('.claude/skills'))).toBe('../.agents/skills');
  });

  test('go into a folder that a link inside the project leads to', async () => {
    const { at, commit } = await world();
    mkdirSync(at('tools/claude'), { recursive: true });
    symlinkSync('tools/claude', at('.claude'));
    expect((await commit([add('alpha')])).unplaced).toEqual([]);
    expect(linksOf(at('tools/claude/skills'))).toEqual({ alpha: '../../../.agents/skills/alpha' });
    await commit([remove('alpha')]);
    expect(readdirSync(at('tools/claude'))).toEqual([]);
    expect(readlinkSync(at('.claude'))).toBe('tools/claude');
  });
});

describe('entries of others', () => {
  test.each([
    ['a folder', (place: string) => mkdirSync(place)],
    ['a file', (place: string) => writeFileSync(place, 'mine')],
    ['a link elsewhere', (place: string) => symlinkSync('/etc', place)],
    ['a broken link', (place: string) => symlinkSync('nowhere', place)],
  ])('%s with the name of a skill stays, and the other skills are linked', async (_, make) => {
    const { project, at, commit, locked } = await world();
    mkdirSync(at('.claude/skills'), { recursive: true });
    make(at('.claude/skills/alpha'));
    const before = treeOf(at('.claude/skills'));
    const { unplaced } = await commit([add('alpha', 'beta')]);
    expect(unplaced).toEqual([
      {
        folder: at('.claude/skills'),
        name: 'alpha',
        message: `"${project}/.claude/skills/alpha" exists and was not created by skillwright: move it away first`,
      },
    ]);
    expect(treeOf(at('.claude/skills'))).toEqual({ ...before, beta: '-> ../../.agents/skills/beta' });
    expect(await locked('alpha')).toEqual({});
    expect(await locked('beta')).toEqual({ links: [CLAUDE] });
    const end = await commit([], () => [{ type: 'remove', name: 'alpha', to: 'nowhere' }]);
    expect(end.unplaced).toEqual([]);
    expect(treeOf(at('.claude/skills'))).toMatchObject(before);
  });

  test('that replaced a link stay when the skill is uninstalled', async () => {
    const { at, commit } = await world();
    await commit([add('alpha')]);
    rmSync(at('.claude/skills/alpha'));
    mkdirSync(at('.claude/skills/alpha'));
    writeFileSync(at('.claude/skills/alpha/notes.md'), 'mine');
    const { unplaced } = await commit([], () => [{ type: 'remove', name: 'alpha', to: 'trash' }]);
    expect(unplaced.map(({ message }) => message)).toEqual([
      expect.stringContaining('was changed after the install and was kept'),
    ]);
    expect(readFileSync(at('.claude/skills/alpha/notes.md'), 'utf8')).toBe('mine');
  });
});

describe('a folder of an agent that cannot be used', () => {
  test.each([
    ['is a file', 'is a file or below a file, not a folder', (at: World['at']) => writeFileSync(at('.claude'), '')],
    [
      'is a link out of the project',
      'is a link that leads out of',
      (at: World['at']) => {
        mkdirSync(at('../outside/skills'), { recursive: true });
        symlinkSync('../outside', at('.claude'));
      },
    ],
    [
      'is a broken link out of the project',
      'is a link that leads out of',
      (at: World['at']) => symlinkSync('/nowhere', at('.claude')),
    ],
    [
      'is a link to itself',
      'is a link that leads to itself',
      (at: World['at']) => symlinkSync('.claude', at('.claude')),
    ],
    [
      'leads into a skill',
      'leads into',
      (at: World['at']) => symlinkSync('.agents', at('.claude')),
      '../../.claude/skills/alpha',
    ],
  ])('because it %s, is named, and nothing is written to it', async (_, reason, make, folder = CLAUDE) => {
    const { project, root, at, commit, locked } = await world();
    make(at);
    const before = treeOf(path.dirname(project));
    const { unplaced } = await commit([{ ...add('alpha'), folder, within: project }]);
    expect(unplaced).toMatchObject([{ name: 'alpha', folder: path.resolve(root, folder) }]);
    expect(unplaced[0]?.message).toContain(reason);
    expect(treeOf(path.dirname(project))).toEqual(before);
    expect(await locked('alpha')).toEqual({});
  });

  test('does not keep a new skill from being installed', async () => {
    const { at, commit } = await world();
    writeFileSync(at('.claude'), '');
    const { unplaced } = await commit([add('gamma')], (open) => [staged(open, 'gamma')]);
    expect(unplaced).toHaveLength(1);
    expect(isPresent(at('.agents/skills/gamma/SKILL.md'))).toBe(true);
  });

  test('is refused where a lock or a journal names a folder of no agent', async () => {
    const { at, commit } = await world();
    mkdirSync(at('node_modules'));
    for (const folder of ['../../node_modules', '../../../outside', '../../.git/hooks']) {
      const { unplaced } = await commit([{ ...add('alpha'), folder }]);
      expect(unplaced).toMatchObject([{ message: expect.stringContaining('is not the folder of a known agent') }]);
    }
    expect(readdirSync(at('node_modules'))).toEqual([]);
    expect(readdirSync(at('..'))).toEqual(['project']);
  });
});

describe('copies for agents', () => {
  test('are whole, renewed by an update, and removed with the skill', async () => {
    const { project, at, commit, locked } = await world();
    await commit([copy('alpha')]);
    expect(treeOf(at('.claude/skills/alpha'))).toEqual(treeOf(at('.agents/skills/alpha')));
    expect(await locked('alpha')).toEqual({ copies: [CLAUDE] });
    await commit([], (open) => [staged(open, 'alpha', { version: '2', existing: 'replace' })]);
    expect(treeOf(at('.claude/skills/alpha'))).toEqual(treeOf(at('.agents/skills/alpha')));
    expect(readdirSync(at('.claude/skills'))).toEqual(['alpha']);
    await commit([], () => [{ type: 'remove', name: 'alpha', to: 'trash' }]);
    expect(readdirSync(project)).toEqual(['.agents']);
  });

  test('that were edited are kept by an update and by an uninstall', async () => {
    const { at, commit } = await world();
    await commit([copy('alpha')]);
    writeFileSync(at('.claude/skills/alpha/SKILL.md'), 'mine');
    const updated = await commit([], (open) => [staged(open, 'alpha', { version: '2', existing: 'replace' })]);
    expect(updated.unplaced).toMatchObject([
      { message: `"${at('.claude/skills/alpha')}" was edited after it was copied and was kept: move it away first` },
    ]);
    const { unplaced } = await commit([], () => [{ type: 'remove', name: 'alpha', to: 'trash' }]);
    expect(unplaced).toMatchObject([
      { message: expect.stringContaining('was changed after the install and was kept') },
    ]);
    expect(readFileSync(at('.claude/skills/alpha/SKILL.md'), 'utf8')).toBe('mine');
  });
});

describe('checkCopies', () => {
  test('tells apart what is there, missing, changed, broken and edited', async () => {
    const { project, root, at, commit } = await world();
    await commit([add('alpha', 'beta'), { ...copy('alpha', 'beta'), folder: '../../.roo/skills' }]);
    rmSync(at('.claude/skills/beta'));
    writeFileSync(at('.roo/skills/beta/SKILL.md'), 'mine');
    const base = findAgentBase(root, { cwd: project, home: path.join(project, '../home'), env: {} });
    const check = async () =>
      withRoot(root, {}, ({ lock }) =>
        Promise.resolve(
          [...lock.skills.values()].flatMap((skill) =>
            checkCopies(skill, root, base).map((one) => `${one.name} ${one.kind} ${one.agents.join()} ${one.status}`),
          ),
        ),
      );
    expect(await check()).toEqual([
      'alpha link claude-code same',
      'alpha copy roo same',
      'beta link claude-code missing',
      'beta copy roo edited',
    ]);
    execFileSync('mv', [at('.agents/skills/alpha'), at('moved')]);
    writeFileSync(at('.claude/skills/beta'), 'mine');
    expect(await check()).toMatchObject([
      'alpha link claude-code broken',
      'alpha copy roo same',
      'beta link claude-code changed',
      'beta copy roo edited',
    ]);
  });
});
