import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';

import { locateInCommand, locateInSkills } from '../../src/runtime/locate.ts';
import { buildIndex } from '../../src/skills/registry/registry.ts';
import { rootsOf, scratch, writeSkill } from '../skills/registry/support.ts';

test('a path in a folder whose skill another one hides names no skill', async () => {
  const root = scratch();
  for (const folder of ['a', 'b']) writeSkill(`${root}/${folder}`, { name: 'dup' });
  symlinkSync(`${root}/b`, `${root}/link`);
  const index = await buildIndex({ roots: rootsOf(['t', root]) });
  const [winner, loser] = index.skills[0]?.dir === `${root}/a` ? ['a', 'b'] : ['b', 'a'];
  expect(locateInSkills(index, `${root}/${winner}/scripts/run.py`)).toEqual({ skill: 't/dup', path: 'scripts/run.py' });
  expect(locateInSkills(index, `${root}/${loser}/scripts/run.py`)).toBeUndefined();
});

test('a path names a skill by its folder, by its name or by an address, and nothing by a likeness', async () => {
  const root = scratch();
  writeSkill(`${root}/ab`);
  writeSkill(`${root}/a`);
  const index = await buildIndex({ roots: rootsOf(['t', root]) });
  const locate = (path: string): unknown => locateInSkills(index, path);
  expect(locate(`${root}/a/references/x.md`)).toEqual({ skill: 't/a', path: 'references/x.md' });
  expect(locate(`${root}/ab/x.md`)).toEqual({ skill: 't/ab', path: 'x.md' });
  expect(locate(`${root}/a`)).toEqual({ skill: 't/a', path: '' });
  expect(locate('a/x.md')).toEqual({ skill: 't/a', path: 'x.md' });
  expect(locate('t/a/x/y.md')).toEqual({ skill: 't/a', path: 'x/y.md' });
  expect(locate('skill://ab/x.md')).toEqual({ skill: 't/ab', path: 'x.md' });
  // What is above the skill is judged where the path is opened; here it is only told apart.
  expect(locate(`${root}/a/../../etc/passwd`)).toEqual({ skill: 't/a', path: '../../etc/passwd' });
  for (const path of [
    root,
    `${root}/abc/x`,
    '/etc/passwd',
    '',
    '/',
    'skill://',
    'b/x.md',
    'a'.repeat(10_000),
    '/a/'.repeat(9_000),
  ])
    expect(locate(path)).toBeUndefined();
});

test('a command names a skill by its folder in any quotes, and none by a likeness', async () => {
  const root = scratch();
  for (const folder of ['a', 'a/nested', 'ab', 'my docs (1)/文档'])
    writeSkill(`${root}/${folder}`, { name: folder.replaceAll(/\W/g, 'x') });
  const index = await buildIndex({ roots: rootsOf(['t', root], ['u', `${root}/my docs (1)`], ['v', `${root}/a`]) });
  const locate = (command: string): unknown => locateInCommand(index, command);
  for (const command of [
    `python '${root}/a/x.py'`,
    `cd "${root}/a"`,
    `P=${root}/a; ls $P`,
    `gcc -I${root}/a x.c`,
    `cat <${root}/a/x`,
  ])
    expect([command, locate(command)]).toEqual([command, 't/a']);
  expect(locate(`cat ${root}/ab/x ${root}/a/x`)).toBe('t/ab');
  expect(locate(`cat ${root}/a/nested/x`)).toBe('v/axnested');
  const spaced = `${root}/my docs (1)/文档`;
  const escaped = spaced.replaceAll(/[ ()]/g, String.raw`\$&`);
  for (const command of [`cat '${spaced}/x'`, `cat "${spaced}/x"`, `cat ${escaped}/x`])
    expect([command, locate(command)]).toEqual([command, expect.stringContaining('myxdocs')]);
  for (const command of [`cat ${root}/abc/x`, `cat ${root}/a-b`, `cat .${root}/a/x`, `cat x${root}/a/x`, 'echo a', ''])
    expect([command, locate(command)]).toEqual([command, undefined]);
});
