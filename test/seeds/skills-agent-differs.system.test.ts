/** Where skills-agent is not what its documents say: each sentence of those rows and choices. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { expect, onTestFinished, test } from 'vitest';

import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import { runCli } from '../cli/run-cli.ts';
import { scratch } from '../skills/registry/support.ts';
import { place, write, type Place } from './skills-agent-place.ts';

type Answer = readonly [status: number | null, out: string, err: string];

async function call(
  { project, home }: Place,
  tool: string,
  input: object,
  ...flags: readonly string[]
): Promise<Answer> {
  const words = ['call', tool, JSON.stringify(input), '--vocabulary', 'skills-agent', '-q', ...flags];
  const { status, out, err } = await runCli(project, words, { HOME: home });
  return [status, out, err];
}

test('read_file asks about ignored files and .env, grep leaves both out unless they are named, list_dir leaves out the ignored ones', async () => {
  const files = { 'a.local': 'level 1\n', '.env': 'level 2\n', 'a.txt': 'level 3\n' };
  const here = place({ '.gitignore': '*.local\n', ...files });
  const outcomes = async (tool: string, parameter: object, ...flags: readonly string[]): Promise<unknown> => {
    const statuses: unknown[] = [];
    for (const file of Object.keys(files))
      statuses.push((await call(here, tool, { path: file, ...parameter }, ...flags))[0]);
    return statuses;
  };
  const inAll = async (): Promise<unknown> => [
    (await call(here, 'grep', { pattern: 'level', path: '.' }, '--yes'))[1].match(/level \d/g),
    (await call(here, 'list_dir', { path: '.' }, '--yes'))[1].match(/a\.local|\.env|a\.txt/g),
  ];
  const pattern = { pattern: 'level' };
  const left = [['level 3'], ['.env', 'a.txt']];
  expect(await inAll()).toEqual(left);
  expect([await outcomes('read_file', {}), await outcomes('read_file', {}, '--yes')]).toEqual([
    [3, 3, 0],
    [0, 0, 0],
  ]);
  expect(await outcomes('grep', pattern)).toEqual([3, 3, 0]);
  const allow = ['read_file(**)', 'grep(**)', 'list_dir(**)'];
  write(here.home, '.agent/config.json', JSON.stringify({ policy: { allow } }));
  expect([await outcomes('read_file', {}), await outcomes('grep', pattern), await inAll()]).toEqual([
    [0, 3, 0],
    [0, 3, 0],
    left,
  ]);
});

test('trust means the skills of a project as they are; runtime.catalog() has the others too, unless they are passed to it', async () => {
  const here = place();
  const select = async (name: string): Promise<unknown> =>
    (await call(here, 'select_skills', { skills: [{ name }] }))[0];
  expect(await select('pdf-form-filler')).toBe(3);
  expect((await runCli(here.project, ['trust', here.project, '--yes'], { HOME: here.home })).status).toBe(0);
  expect(await select('pdf-form-filler')).toBe(0);
  write(here.project, '.agent/skills/late/SKILL.md', '---\nname: late\ndescription: Late.\n---\n');
  expect([await select('late'), await select('pdf-form-filler')]).toEqual([3, 0]);
  write(here.project, '.agent/skills/pdf-form-filler/new.md', 'x');
  expect(await select('pdf-form-filler')).toBe(3);

  const runtime = await here.runtime({ vocabulary: 'skills-agent', vouched: [] });
  const without = await runtime.distrust(runtime.index.skills, { files: true });
  const listed = (text: string): readonly string[] => text.match(/late|pdf-form-filler|code-review/g) ?? [];
  expect(listed(runtime.catalog().text)).toEqual(['code-review', 'late', 'pdf-form-filler']);
  expect(listed(runtime.catalog({ without }).text)).toEqual(['code-review']);
});

test('a hidden file of a pack is not installed, which is said, but .env.example is', async () => {
  const project = scratch();
  const pack = path.join(project, 'pack.zip');
  const names = ['a.md', '.hidden', '.env.example'];
  const files = Object.fromEntries(names.map((name) => [`one/${name}`, strToU8('x')]));
  const skill = strToU8('---\nname: one\ndescription: One.\n---\n\nBody\n');
  writeFileSync(pack, zipSync({ 'one/SKILL.md': skill, ...files }));
  const { err } = await runCli(project, ['install', pack, '--yes', '--set', 'vocabulary=skills-agent']);
  expect(err).toContain('skipped: one/.hidden: hidden file\n');
  expect(names.filter((name) => existsSync(path.join(project, '.agent/skills/one', name)))).toEqual([
    'a.md',
    '.env.example',
  ]);
});

test('a script runs on a copy and sees of the project what is mounted; without isolation --yes does not start it', async () => {
  const data = 'data/rows.csv';
  const here = place({
    [data]: 'rows\n',
    '.agent/skills/pdf-form-filler/scripts/show.sh': '#!/bin/sh\ncat "$1"\necho changed > reference/kpi.md\n',
  });
  const input = {
    skill: { name: 'pdf-form-filler' },
    relative_path: 'scripts/show.sh',
    args: [path.join(here.project, data)],
  };
  const shown = async (execution: SkillToolsOptions['execution']): Promise<unknown> => {
    const runtime = await here.runtime();
    const tools = await openSkillTools({ vocabulary: 'skills-agent', runtime, execution });
    onTestFinished(() => tools.session.close());
    return ((await tools.call('run_script', input)).value as { readonly stdout: string }).stdout;
  };
  chmodSync(here.project, 0o755);
  const mounts = [{ folder: path.join(here.project, 'data'), access: 'read' }] as const;
  expect([await shown({ executor: 'auto' }), await shown({ executor: 'auto', mounts })]).toEqual(['', 'rows\n']);
  expect(readFileSync(path.join(here.project, '.agent/skills/pdf-form-filler/reference/kpi.md'), 'utf8')).not.toContain(
    'changed',
  );
  const local = await call(here, 'run_script', input, '--trust-project', '--yes', '--executor', 'local');
  expect(local).toEqual([
    3,
    '',
    expect.stringContaining('or every program with --yes and "unsafe_local" in policy.allow'),
  ]);
});
