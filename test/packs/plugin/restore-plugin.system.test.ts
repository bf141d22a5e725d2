import path from 'node:path';
import { expect } from 'vitest';

import { runCli, temporaryFolder } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';
import { plant } from '../../platform/fs/tree-support.ts';
import { skillText } from '../sources/bring-support.ts';

const MANIFEST = JSON.stringify({
  $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
  name: 'desk',
  version: '1.0.0',
});

/** A project with the installed plugin `desk` and the installed skill `own`. */
async function world() {
  const base = temporaryFolder();
  const project = path.join(base, 'project');
  plant(project, {
    '.git/HEAD': 'ref: refs/heads/main\n',
    'source/plugin.json': MANIFEST,
    'source/skills/sort/SKILL.md': skillText('sort'),
    'own/SKILL.md': skillText('own'),
    'other/desk/SKILL.md': skillText('desk'),
  });
  const home = plant(path.join(base, 'home'), {});
  const sw = (...words: readonly string[]) => runCli(project, words, { HOME: home });
  for (const source of ['./source', './own']) expect((await sw('install', source, '--yes')).status).toBe(0);
  return sw;
}

verifies('PLUG-2', 'an uninstalled plugin is listed in the trash, restored by its name, and deleted', async () => {
  const sw = await world();
  const listed = async () => (await sw('restore', '--list')).out.split('\n').map((line) => line.split(' ')[0]);
  await sw('uninstall', 'desk', '--yes');
  expect(await listed()).toEqual(['desk', '']);
  expect(await sw('restore', 'desk', '--yes')).toMatchObject({ status: 0, out: 'restored desk\n' });
  await sw('uninstall', '--all', '--yes');
  expect(await listed()).toEqual(['own', 'desk', '']);
  expect((await sw('restore', '--yes')).out).toBe('restored own\nrestored desk\n');
  await sw('uninstall', 'desk', '--yes');
  expect((await sw('restore', '--empty-trash', '--yes')).out).toBe('deleted desk\n');
  expect(await listed()).toEqual(['']);
  expect((await sw('restore', 'desk', '--yes')).status).not.toBe(0);
});

verifies('PLUG-2', 'a name of a skill and of a plugin is not guessed', async () => {
  const sw = await world();
  expect((await sw('install', './other', '--yes')).status).toBe(0);
  const refused = await sw('uninstall', 'desk', '--yes');
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('"desk" is a skill and a plugin')]);
  expect(await sw('uninstall', 'desk', '--to', '.agents/plugins', '--yes')).toMatchObject({
    out: 'uninstalled desk\n',
  });
  expect((await sw('uninstall', 'desk', '--yes')).out).toBe('uninstalled desk\n');
  expect((await sw('restore', 'desk', '--yes')).status).toBe(2);
});

verifies('PLUG-2', 'sbom lists plugins too', async () => {
  const sw = await world();
  const names = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await sw('sbom', ...words)).out).components.map(({ name }: { readonly name: string }) => name);
  expect(await names()).toEqual(['desk', 'own']);
  expect(await names('desk')).toEqual(['desk']);
  await sw('uninstall', 'own', '--yes');
  expect(await names()).toEqual(['desk']);
});
