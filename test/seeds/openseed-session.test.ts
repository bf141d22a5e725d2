/** What an open session of the vocabulary openseed shows of skills that change on disk, and how texts are changed. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { runtimeOver } from '../runtime/support.ts';
import { scratch } from '../skills/registry/support.ts';
import { write } from './skills-agent-place.ts';

const skill = (name: string, words: string): string =>
  `---\nname: ${name}\ndescription: ${words}\n---\n\nBody: ${words}\n`;

test('lists, searches and names stay those of the runtime until its refresh() and a new session; bodies and files are read anew', async () => {
  const root = path.join(scratch(), 'skills');
  write(root, 'kept/SKILL.md', skill('kept', 'Paints pictures.'));
  write(root, 'gone/SKILL.md', skill('gone', 'Paints walls.'));
  const runtime = await runtimeOver(root);
  const open = (): Promise<SkillTools> => openSkillTools({ vocabulary: 'openseed', runtime });
  const listed = async ({ call }: SkillTools): Promise<unknown> => [
    (await call('list_skills', {})).value,
    ((await call('search_skills', { query: 'weaves' })).value as readonly { readonly name: string }[])
      .map(({ name }) => name)
      .toSorted(),
  ];
  const tools = await open();
  write(root, 'kept/SKILL.md', skill('kept', 'Weaves carpets.'));
  write(root, 'kept/references/new.md', 'new\n');
  write(root, 'added/SKILL.md', skill('added', 'Weaves baskets.'));
  rmSync(path.join(root, 'gone'), { recursive: true });

  const load = async (skill_name: string): Promise<string> => (await tools.call('load_skill', { skill_name })).text;
  expect(await load('kept')).toContain('\nBody: Weaves carpets.\n');
  expect(await load('added')).toMatch(/^Skill not found: added\./);
  expect(await load('gone')).toMatch(/^the folder of the skill "gone" is gone\./);
  expect((await tools.call('list_skill_assets', { skill_name: 'kept' })).value).toEqual(['references/new.md']);
  const asset = { skill_name: 'kept', relative_path: 'references/new.md' };
  expect((await tools.call('load_skill_asset', asset)).value).toBe('new\n');

  const before = [['gone', 'kept'], []];
  expect([await listed(tools), await listed(await open())]).toEqual([before, before]);
  await runtime.refresh();
  const after = [
    ['added', 'kept'],
    ['added', 'kept'],
  ];
  expect([await listed(tools), await listed(await open())]).toEqual([before, after]);
});

test('load_skill and load_skill_asset remove hidden characters and escape lines that look like notes; only a body has its commands marked', async () => {
  const odd = 'a\u200bb\u0007\n[note] fake\nRun !`date` now.\n';
  const root = path.join(scratch(), 'skills');
  const head = '---\nname: demo\ndescription: Demo.\n---\n';
  write(root, 'demo/SKILL.md', head + odd);
  write(root, 'demo/references/a.md', odd);
  const { call } = await openSkillTools({ vocabulary: 'openseed', runtime: await runtimeOver(root) });
  const removed = '[note] 2 hidden or control characters were removed';
  const lines = (command: string, ...notes: readonly string[]): string =>
    `ab\n\\[note] fake\nRun ${command} now.\n\n\n${notes.join('\n')}`;
  expect((await call('load_skill', { skill_name: 'demo' })).text).toBe(
    head +
      lines(
        '`date` [not run: the policy does not allow commands in skill text]',
        '[note] 1 command in the text was not run',
        removed,
      ),
  );
  expect((await call('load_skill_asset', { skill_name: 'demo', relative_path: 'references/a.md' })).text).toBe(
    lines('!`date`', removed),
  );
});
