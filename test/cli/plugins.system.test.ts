/** The commands about installed skills, with an Agent Plugin beside them. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { plant } from '../platform/fs/tree-support.ts';
import { skillText } from '../packs/sources/bring-support.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';

/** A project with sources of a plugin and of a skill, both called `desk`. */
function world() {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, '.git'));
  const plugin = plant(path.join(cwd, 'from/desk'), {
    'plugin.json': JSON.stringify({ $schema: SCHEMA, name: 'desk', version: '1.2.0', license: 'MIT' }),
    'skills/sort/SKILL.md': skillText('sort'),
    'notes.txt': 'notes\n',
  });
  const skill = plant(path.join(cwd, 'one/desk'), { 'SKILL.md': skillText('desk') });
  const sw = async (...words: string[]) => {
    const { status, out, err } = await runCli(cwd, words);
    return { status, out, err };
  };
  return { cwd, plugin, skill, sw, installed: path.join(cwd, '.agents/plugins/desk') };
}

test('update --merge refuses a merged plugin.json that is none, and changes nothing', async () => {
  const { plugin, installed, sw } = world();
  const lines = (more: string) => `{\n"$schema": "${SCHEMA}",\n\n"name": "desk"\n\n${more}\n}\n`;
  writeFileSync(path.join(plugin, 'plugin.json'), lines(''));
  expect((await sw('install', plugin, '--yes')).status).toBe(0);
  writeFileSync(path.join(plugin, 'plugin.json'), lines(', "version": "2.0.0"'));
  const mine = lines('').replace('"$schema"', '"version": "1.0.0",\n"$schema"');
  writeFileSync(path.join(installed, 'plugin.json'), mine);
  const { status, err } = await sw('update', 'desk', '--merge', '--yes');
  expect([status, err]).toEqual([1, expect.stringContaining('the key "version" occurs twice')]);
  expect(readFileSync(path.join(installed, 'plugin.json'), 'utf8')).toBe(mine);
});

describe('a plugin with a period in its name', () => {
  test('is addressed by this name and by that of its folder', async () => {
    const { cwd, plugin, sw } = world();
    writeFileSync(path.join(plugin, 'plugin.json'), JSON.stringify({ $schema: SCHEMA, name: 'acme.tools' }));
    const installed = path.join(cwd, '.agents/plugins/acme-tools');
    expect((await sw('install', plugin, '--yes')).status).toBe(0);
    for (const command of ['verify', 'outdated', 'update'])
      expect(await sw(command, 'acme.tools'), command).toMatchObject({ status: 0 });
    expect(await sw('uninstall', 'other.tools', '--yes')).toMatchObject({ status: 1 });
    expect(await sw('uninstall', 'acme.tools', '--yes')).toMatchObject({ status: 0 });
    expect(existsSync(installed)).toBe(false);
    expect(await sw('restore', 'acme.tools', '--yes')).toMatchObject({ status: 0 });
    expect(existsSync(installed)).toBe(true);
    // Another name with the same folder is not this plugin.
    expect(await sw('uninstall', 'acme..tools', '--yes')).toMatchObject({ status: 1 });
    expect(await sw('uninstall', 'acme-tools', '--yes')).toMatchObject({ status: 0 });
  });
});

describe('restore', () => {
  test('without a name restores skills and plugins, also where one of the roots has nothing to restore', async () => {
    const { cwd, plugin, skill, installed, sw } = world();
    await sw('install', skill, '--yes');
    await sw('install', plugin, '--yes');
    await sw('uninstall', '--all', '--yes');
    expect((await sw('restore', '--list')).out.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'desk',
      'desk',
      '',
    ]);
    expect(await sw('restore', '--yes')).toMatchObject({ status: 0 });
    expect([existsSync(path.join(cwd, '.agents/skills/desk')), existsSync(installed)]).toEqual([true, true]);
    await sw('uninstall', 'desk', '--to', '.agents/plugins', '--yes');
    // The trash keeps the copy of a skill that is installed again.
    await sw('uninstall', 'desk', '--yes');
    await sw('install', skill, '--yes');
    expect(await sw('restore', '--yes')).toMatchObject({ status: 0, out: 'restored desk\n' });
    expect(existsSync(installed)).toBe(true);
  });
});

describe('a skill and a plugin of one name', () => {
  const both = {
    status: 2,
    err: expect.stringMatching(
      /"desk" is a skill and a plugin[^]*--to: \.agents\/skills for the skill, \.agents\/plugins for the plugin/,
    ),
  };

  test.each(['lock', 'hand'])('are told apart by --to (skill by %s)', async (by) => {
    const { cwd, plugin, skill, installed, sw } = world();
    const there = path.join(cwd, '.agents/skills/desk');
    if (by === 'lock') await sw('install', skill, '--yes');
    else plant(there, { 'SKILL.md': skillText('desk') });
    await sw('install', plugin, '--yes');
    for (const words of [
      ['uninstall', 'desk'],
      ['rollback', 'desk'],
      ['update', 'desk'],
    ])
      expect(await sw(...words, '--yes'), words.join(' ')).toMatchObject(both);
    expect([existsSync(there), existsSync(installed)]).toEqual([true, true]);
    expect((await sw('uninstall', 'desk', '--to', '.agents/plugins', '--yes')).status).toBe(0);
    expect([existsSync(there), existsSync(installed)]).toEqual([true, false]);
    expect((await sw('uninstall', 'desk', '--yes')).status).toBe(0);
    expect(await sw('restore', 'desk', '--yes')).toMatchObject(both);
    expect((await sw('restore', 'desk', '--to', '.agents/skills', '--yes')).status).toBe(0);
    expect([existsSync(there), existsSync(installed)]).toEqual([true, false]);
  });
});

describe('sbom', () => {
  const components = (out: string) =>
    (JSON.parse(out) as { components: { 'bom-ref': string; version?: string; licenses?: unknown }[] }).components.map(
      ({ 'bom-ref': ref, version, licenses }) => [ref, version, licenses],
    );
  const license = [{ license: { id: 'MIT' } }];

  test('lists skills and plugins in one bill', async () => {
    const { plugin, skill, installed, sw } = world();
    expect(await sw('sbom')).toMatchObject({ status: 1, err: expect.stringContaining('lock/missing') });
    await sw('install', plugin, '--yes');
    expect(components((await sw('sbom')).out)).toEqual([['plugin:desk', '1.2.0', license]]);
    await sw('install', skill, '--yes');
    const all = [
      ['plugin:desk', '1.2.0', license],
      ['skill:desk', undefined, undefined],
    ];
    expect(components((await sw('sbom')).out)).toEqual(all);
    expect(components((await sw('sbom', 'desk')).out)).toEqual(all);
    expect(components((await sw('sbom', '--to', '.agents/plugins')).out)).toEqual(all.slice(0, 1));
    appendFileSync(path.join(installed, 'notes.txt'), 'mine\n');
    expect((await sw('sbom', 'desk')).err).toContain('"desk" was edited');
    expect(await sw('sbom', 'other')).toMatchObject({ status: 1, err: expect.stringContaining('"other"') });
  });
});
