/** Working directories behind symbolic links: usable inside, refused where they lead out. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { openSkillTools } from '../../../src/packs/open-runtime.ts';
import { removeTree } from '../../../src/platform/fs/remove-tree.ts';

const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-links-')));
afterAll(() => removeTree(base));
chmodSync(base, 0o755);
const project = path.join(base, 'real/project');
const linked = path.join(base, 'link/project');
mkdirSync(path.join(project, 'sub'), { recursive: true });
mkdirSync(path.join(base, 'outside'));
mkdirSync(path.join(base, 'temporary'));
symlinkSync('real', path.join(base, 'link'));
symlinkSync('temporary', path.join(base, 'temporary-link'));
symlinkSync('sub', path.join(project, 'inside-link'));
symlinkSync('../../outside', path.join(project, 'outside-link'));
const skill = path.join(project, 'skills/demo');
mkdirSync(skill, { recursive: true });
writeFileSync(path.join(skill, 'SKILL.md'), '---\nname: demo\ndescription: Demo.\n---\nText.\n');

const OUTSIDE = /is a link that leads out of the workspace/;

test('in the workspace, which itself is behind a link', async () => {
  const env = { ...process.env, TMPDIR: path.join(base, 'temporary-link') };
  const runtime = { cwd: linked, home: base, env, roots: [path.join(linked, 'skills')], builtin: false };
  const skills = await openSkillTools({ vocabulary: 'trpc', execution: { executor: 'local' }, runtime });
  try {
    const make =
      'mkdir d; ln -s d relative; ln -s "$PWD/d" absolute; ln -s relative chain; ln -s loop loop; ' +
      'ln -s /etc etc; ln -s ../../.. up; ln -s ../out out; touch file';
    await skills.call('workspace_exec', { command: make, cwd: 'work' });
    const answer = async (cwd: string, tool = 'workspace_exec'): Promise<string> => {
      const { text, isError } = await skills.call(tool, { skill: 'demo', command: 'basename "$(pwd -P)"', cwd });
      if (isError) return text;
      return /"(?:output|stdout)":"(\w+)/.exec(text)?.[1] ?? text;
    };
    expect(await answer('work/relative')).toBe('d');
    expect(await answer('work/absolute')).toBe('d');
    expect(await answer('work/chain')).toBe('d');
    expect(await answer('work/out')).toBe('out');
    expect(await answer('work/../work', 'skill_run')).toMatch(/cannot start/);
    expect(await answer('work/chain', 'skill_run')).toBe('d');
    expect(await answer('.', 'skill_run')).toBe('demo');
    for (const tool of ['workspace_exec', 'skill_run'])
      for (const cwd of ['work/etc', 'work/up', '$WORK_DIR/etc']) expect(await answer(cwd, tool)).toMatch(OUTSIDE);
    for (const cwd of ['work/loop', 'work/file', 'work/none']) expect(await answer(cwd)).toMatch(/does not exist/);
    expect((await skills.call('workspace_exec', { command: 'ls', cwd: '.' })).isError).toBe(false);
  } finally {
    await skills.session.close();
  }
});

test('in a project that is behind a link', async () => {
  const runtime = { cwd: linked, home: base, env: process.env, roots: [path.join(linked, 'skills')], builtin: false };
  const mounts = [{ folder: linked, access: 'read' as const, isProject: true }];
  const skills = await openSkillTools({ execution: { executor: 'local', mounts, startsInProject: true }, runtime });
  try {
    const answer = async (cwd: string): Promise<string> => {
      const { text, isError } = await skills.call('run_command', { command: 'pwd -P', cwd });
      return isError ? text : (/"stdout":"([^"\\]+)/.exec(text)?.[1] ?? text);
    };
    const sub = path.join(project, 'sub');
    for (const cwd of [
      'sub',
      'inside-link',
      '$PROJECT_DIR/sub',
      path.join(linked, 'sub'),
      path.join(project, 'inside-link'),
    ])
      expect([cwd, await answer(cwd)]).toEqual([cwd, sub]);
    for (const cwd of ['outside-link', path.join(project, 'outside-link'), '$PROJECT_DIR/outside-link'])
      expect(await answer(cwd)).toMatch(OUTSIDE);
    expect(await answer('none')).toMatch(/does not exist/);
    for (const cwd of [path.join(base, 'outside'), path.join(linked, 'outside-link')])
      expect(await answer(cwd)).toMatch(/cannot start in/);
  } finally {
    await skills.session.close();
  }
});
