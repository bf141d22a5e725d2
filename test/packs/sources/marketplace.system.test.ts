import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { indexSource } from '../../../src/packs/browse/index-source.ts';
import { installSkills } from '../../../src/packs/install.ts';
import { restoreLock } from '../../../src/packs/lock/restore-lock.ts';
import { isRefusal, type PackRefusal } from '../../../src/packs/problems.ts';
import { findOutdated } from '../../../src/packs/update/outdated.ts';
import { updateSkills } from '../../../src/packs/update/update.ts';
import { verifyRoot } from '../../../src/packs/verify-root.ts';
import { verifies } from '../../conformance/verifies.ts';
import { plant, type Tree } from '../../platform/fs/tree-support.ts';
import { skillText } from './bring-support.ts';
import { repository, serveSmartly } from './git-world.ts';
import { AT, packWorld, type PackWorld } from '../support.ts';

const FILE = '.claude-plugin/marketplace.json';

function marketplace(plugins: readonly object[], more: object = {}): Tree {
  return { [FILE]: JSON.stringify({ name: 'shop', owner: { name: 'o' }, plugins, ...more }) };
}

/** Names of what went in, or the code and message of the refusal. */
async function installed(world: PackWorld, source: string, ...skills: readonly string[]) {
  const done = await world.install(source, { skills });
  return isRefusal(done) ? `${done.code} ${done.message}` : done.plan.skills.map(({ skill: { name } }) => name);
}

const locked = (world: PackWorld) =>
  Object.entries(JSON.parse(readFileSync(path.join(world.root, 'skills.lock.json'), 'utf8')).skills as object).map(
    ([name, { source, revision, folder }]) => ({ name, source, revision, folder }),
  );

/** In the shape of a large public marketplace: own folders, other repositories by URL, subfolder and commit. */
async function largeShop() {
  const whole = repository({
    'skills/deploy/SKILL.md': skillText('deploy'),
    'skills/deploy/run.sh': { program: '#!/bin/sh\n' },
    'vendor/skills/other/SKILL.md': skillText('other'),
    '.claude-plugin/plugin.json': '{"name": "whole"}',
    '.mcp.json': '{"mcpServers": {"cloud": {"command": "cloud"}}}',
    'hooks/hooks.json': '{"hooks": {}}',
  });
  const pinned = whole.git('rev-parse', 'HEAD');
  whole.commit({ 'skills/deploy/SKILL.md': skillText('deploy-newer') });
  const many = repository({
    'plugins/report/.codex-plugin/plugin.json': '{"name": "report", "skills": "./my-skills/"}',
    'plugins/report/my-skills/tables/SKILL.md': skillText('tables'),
    'plugins/other/skills/no/SKILL.md': skillText('no'),
  });
  many.git('tag', 'v1.5.5');
  const [wholeUrl, manyUrl] = [await serveSmartly(whole), await serveSmartly(many)];
  const plugins = [
    { name: 'own', source: './plugins/own', strict: true },
    { name: 'whole', source: { source: 'url', url: wholeUrl, sha: pinned } },
    { name: 'report', source: { source: 'git-subdir', url: manyUrl, path: 'plugins/report', ref: 'v1.5.5' } },
    { name: 'lost', source: { source: 'url', url: wholeUrl, sha: 'f'.repeat(40) } },
    { name: 'bad', source: { source: 'url', url: 'file:///etc' } },
  ];
  const shop = repository({
    ...marketplace(plugins, { renames: { former: 'report' } }),
    'plugins/own/skills/mine/SKILL.md': skillText('mine'),
    'plugins/own/.claude/skills/draft/SKILL.md': skillText('draft'),
  });
  return { shop, url: `git+${await serveSmartly(shop)}`, pinned, many, whole };
}

describe('a marketplace with plugins in other repositories', () => {
  verifies(
    'INST-5',
    'installs each by its name, at the commit that it names, with the skills of the plugin only',
    async () => {
      const { url, pinned, shop, many } = await largeShop();
      const world = packWorld();
      expect([
        await installed(world, url, 'own'),
        await installed(world, url, 'whole'),
        await installed(world, url, 'former'),
      ]).toEqual([['mine'], ['deploy'], ['tables']]);
      expect(locked(world)).toEqual([
        { name: 'deploy', source: `plugin:whole@${url}`, revision: pinned, folder: 'skills/deploy' },
        { name: 'mine', source: `plugin:own@${url}`, revision: shop.git('rev-parse', 'HEAD'), folder: 'skills/mine' },
        {
          name: 'tables',
          source: `plugin:former@${url}`,
          revision: many.git('rev-parse', 'HEAD'),
          folder: 'my-skills/tables',
        },
      ]);
      expect((await verifyRoot(world.root)) as object).toMatchObject({ isIntact: true });
    },
  );

  test('shows what of a plugin is not installed, and what the marketplace has elsewhere', async () => {
    const { url } = await largeShop();
    const world = packWorld();
    const plugin = await world.install(url, { skills: ['whole'], dryRun: true });
    expect(!isRefusal(plugin) && plugin.plan.leftOut).toEqual([
      '.mcp.json: MCP servers are not installed: "cloud"',
      'hooks/hooks.json: hooks are not installed',
    ]);
    const all = await world.install(url, { dryRun: true });
    expect(!isRefusal(all) && [all.plan.skills.map(({ skill }) => skill.name), all.plan.notes.at(-1)]).toEqual([
      ['draft', 'mine'],
      'the marketplace lists 4 plugins in other repositories; install one by its name',
    ]);
  });

  verifies(
    'INST-5',
    'is refused for a commit that does not exist, a file address and unknown names; nothing is written',
    async () => {
      const { url } = await largeShop();
      const world = packWorld();
      expect([
        await installed(world, url, 'lost'),
        await installed(world, url, 'bad'),
        await installed(world, url, 'no-such'),
        await installed(world, url, 'own', 'whole'),
        await installed(world, `plugin:no-such@${url}`),
      ]).toEqual([
        `source/revision the repository has no branch, tag or commit "${'f'.repeat(40)}"`,
        `source/marketplace the plugin "bad" in ${FILE} has the address "file:///etc", which is not a repository on a server`,
        'pack/unknown-skill no skill and no plugin is called "no-such"; the plugins are "own", "whole", "report", "lost", "bad", "former"',
        'pack/unknown-skill "own" is a plugin: install one plugin at a time',
        'pack/unknown-skill the marketplace has no plugin "no-such"; it has "own", "whole", "report", "lost", "bad"',
      ]);
      expect(readdirSync(world.root)).toEqual(['.skillwright']);
      const left = ['staging', 'trash', 'previous'].map((part) =>
        readdirSync(path.join(world.root, '.skillwright', part)),
      );
      expect(left).toEqual([[], [], []]);
    },
  );

  verifies('INST-5', 'is followed by outdated, update and install --frozen', async () => {
    const { url, shop, whole, pinned } = await largeShop();
    const world = packWorld();
    await installed(world, url, 'own');
    await installed(world, url, 'whole');
    const status = async () => {
      const looked = await findOutdated({ settings: world.settings });
      return isRefusal(looked) ? looked.message : looked.skills.map(({ name, outdated }) => [name, outdated.status]);
    };
    expect(await status()).toEqual([
      ['deploy', 'current'],
      ['mine', 'current'],
    ]);
    const before = readFileSync(path.join(world.root, 'skills.lock.json'), 'utf8');
    // The plugin moves on, and the marketplace follows it.
    const newer = whole.commit({ 'skills/deploy/SKILL.md': `${skillText('deploy')}More.\n` });
    const list = readFileSync(path.join(shop.folder, FILE), 'utf8').replace(pinned, newer);
    shop.commit({ [FILE]: list });
    expect(await status()).toEqual([
      ['deploy', 'outdated'],
      ['mine', 'current'],
    ]);
    // The lock still gives the bytes that it names.
    const other = packWorld();
    mkdirSync(other.root, { recursive: true });
    writeFileSync(path.join(other.root, 'skills.lock.json'), before);
    expect(await restoreLock({ settings: other.settings })).toMatchObject({
      brought: ['deploy', 'mine'],
      isDone: true,
    });
    expect(readFileSync(path.join(other.root, 'deploy/SKILL.md'), 'utf8')).toBe(skillText('deploy'));
    const updated = await updateSkills({ settings: world.settings, confirm: async () => true, at: AT });
    expect(isRefusal(updated) ? updated.message : updated.skills.map(({ name, status: to }) => [name, to])).toEqual([
      ['deploy', 'update'],
      ['mine', 'current'],
    ]);
    expect(locked(world)[0]?.revision).toBe(newer);
  });

  verifies(
    'INST-4',
    'is browsed: its plugins are found by name and description, and no repository of theirs is read',
    async () => {
      const shop = repository({
        ...marketplace([
          { name: 'clouds', description: 'Deploys to clouds.', source: { source: 'github', repo: 'none/none' } },
          { name: 'Not Valid', source: './x' },
        ]),
      });
      const { settings } = packWorld();
      const read = await indexSource(`git+${await serveSmartly(shop)}`, { settings, name: 'shop', now: AT });
      expect(isRefusal(read) ? read.message : read.index.skills).toEqual([
        { name: 'clouds', description: 'Deploys to clouds.' },
      ]);
    },
  );
});

describe('a marketplace of one repository of skills', () => {
  const skills = { a: 'skills/a', b: 'skills/b', c: 'skills/c' };
  const tree = (): Tree => ({
    ...marketplace([
      { name: 'letters', source: './', strict: false, skills: ['./skills/a', './skills/b', './skills/lost'] },
      { name: 'all', source: './', strict: false },
    ]),
    ...Object.fromEntries(Object.entries(skills).map(([name, at]) => [`${at}/SKILL.md`, skillText(name)])),
  });

  verifies('INST-5', 'installs the skills that the plugin lists, from a folder and a repository', async () => {
    const [world, other] = [packWorld(), packWorld()];
    plant(path.join(world.project, 'shop'), tree());
    const plan = await world.install('./shop', { skills: ['letters'] });
    expect(
      isRefusal(plan) ? plan.message : [plan.plan.skills.map(({ skill }) => skill.name), plan.plan.leftOut],
    ).toEqual([['a', 'b'], ['skills/lost: the marketplace lists it for "letters", and no skill is there']]);
    expect(locked(world)[0]).toEqual({ name: 'a', source: 'plugin:letters@../../shop', folder: 'skills/a' });
    // Relative to the root, so it is the same from any folder.
    expect(await findOutdated({ settings: world.settings })).toMatchObject({ isCurrent: true });
    const repo = repository(tree());
    expect(await installed(other, `plugin:all@git+${repo.url}`)).toEqual(['a', 'b', 'c']);
  });

  verifies('INST-1', 'loses one damaged skill of a plugin, not the others', async () => {
    const world = packWorld();
    plant(path.join(world.project, 'shop'), { ...tree(), 'skills/b/SKILL.md': '# no frontmatter\n' });
    const done = await world.install('./shop', { skills: ['all'] });
    expect(isRefusal(done) ? done.message : done.plan.skills.map(({ skill }) => skill.name)).toEqual(['a', 'c']);
  });

  verifies('INST-5', 'is refused if a folder of it is a link that leads out, or its list is damaged', async () => {
    const world = packWorld();
    const shop = plant(path.join(world.project, 'shop'), {
      ...marketplace([{ name: 'out', source: './out' }]),
      'skills/a/SKILL.md': skillText('a'),
    });
    plant(path.join(world.project, 'secret'), { 'SKILL.md': skillText('secret') });
    symlinkSync('../secret', path.join(shop, 'out'));
    expect(await installed(world, './shop', 'out')).toBe(
      'source/marketplace "out" is a link that leads out of the marketplace',
    );
    writeFileSync(path.join(shop, FILE), '{');
    expect([await installed(world, './shop', 'out'), await installed(world, './shop', 'a')]).toEqual([
      `source/marketplace ${FILE} is not a JSON object`,
      ['a'],
    ]);
    expect(existsSync(path.join(world.root, 'secret'))).toBe(false);
  });
});

test('a marketplace over the size limit is refused', async () => {
  const world = packWorld();
  const shop = path.join(world.project, 'shop');
  plant(shop, { ...marketplace([]), 'skills/a/SKILL.md': skillText('a') });
  writeFileSync(path.join(shop, FILE), ' '.repeat(9 * 1024 * 1024));
  const done: PackRefusal | object = await installSkills({
    settings: world.settings,
    source: 'plugin:x@./shop',
    confirm: async () => true,
  });
  expect(done).toMatchObject({ code: 'source/marketplace' });
});
