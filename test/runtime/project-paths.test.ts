import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { scratch } from '../skills/registry/support.ts';
import { runtimeOver } from './support.ts';

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A project with a folder of the name of a skill. */
async function open(): Promise<SkillTools> {
  const [skills, project] = [scratch(), scratch()];
  write(path.join(skills, 's/SKILL.md'), '---\nname: s\ndescription: Does one thing.\n---\nbody\n');
  write(path.join(skills, 's/reference/k.md'), 'Revenue\n');
  write(path.join(project, 's/own.txt'), 'Revenue of the project\n');
  for (const name of ['d/a', 'd/b', 'd/c', '.git/config', '.git/HEAD', '.git/index'])
    write(path.join(project, name), 'x');
  const runtime = await runtimeOver(skills, { policy: { deny: ['read_file(d/**)'] } });
  const tools = await openSkillTools({ runtime, vocabulary: 'skills-agent', host: { project } });
  onTestFinished(() => tools.session.close());
  return tools;
}

test('grep finds a file of a loaded skill by <skill>/<path>, and says that others must be loaded', async () => {
  const { call } = await open();
  const grep = { pattern: 'Rev', path: 's/reference/k.md' };
  expect((await call('grep', grep)).value).toMatchObject({ ok: false, error: { code: 'skill/not-loaded' } });
  await call('select_skills', { skills: [{ name: 's' }] });
  expect((await call('grep', grep)).value).toMatchObject({
    ok: true,
    matches: [{ path: 'skill://s/reference/k.md', line: 1, text: 'Revenue' }],
  });
});

test('a project file wins over a skill of the name of its folder, in every tool', async () => {
  const { call } = await open();
  await call('select_skills', { skills: [{ name: 's' }] });
  expect((await call('read_file', { path: 's/own.txt' })).value).toMatchObject({ content: 'Revenue of the project\n' });
  expect((await call('grep', { pattern: 'Rev', path: 's/own.txt' })).value).toMatchObject({
    matches: [{ path: 's/own.txt' }],
  });
  expect((await call('list_dir', { path: 's' })).value).toMatchObject({ files: [{ path: 'own.txt' }] });
  expect((await call('read_file', { path: 's/reference/k.md' })).value).toMatchObject({ content: 'Revenue\n' });
  expect((await call('list_dir', { path: 'skill://s' })).value).toMatchObject({ skill: 's' });
});

/** Whether each call is the one too many. */
async function terminal({ call }: SkillTools, tool: string, inputs: readonly object[]): Promise<readonly boolean[]> {
  const found: boolean[] = [];
  for (const input of inputs) found.push((await call(tool, input)).isTerminal);
  return found;
}

const ABSENT = [{ path: 'n1' }, { path: 'n2' }, { path: 'n3' }];
const NEVER = [false, false, false];

test('what fails is counted since the same tool last worked, whatever its path leads to', async () => {
  for (const tool of ['list_dir', 'read_file']) {
    const tools = await open();
    await tools.call('select_skills', { skills: [{ name: 's' }] });
    const works = { path: tool === 'list_dir' ? 'skill://s' : 's/reference/k.md' };
    const mixed = ABSENT.flatMap((input) => [input, works]);
    expect(await terminal(tools, tool, mixed)).toEqual([...NEVER, ...NEVER]);
    expect(await terminal(tools, tool, ABSENT)).toEqual([false, false, true]);
  }
  const tools = await open();
  const answers = [{}, { answer: 'a' }, {}, { answer: 'b' }, {}];
  expect(await terminal(tools, 'final_answer', answers)).toEqual(answers.map(() => false));
});

test('refused paths, hosts and folders count one by one, and the same one three times is terminal', async () => {
  const inputs = (name: string, values: readonly string[]): readonly object[] =>
    values.map((value) => ({ [name]: value }));
  const cases: readonly (readonly [tool: string, input: readonly object[]])[] = [
    ['read_file', inputs('path', ['d/a', 'd/b', 'd/c'])],
    ['read_file', inputs('path', ['.git/config', '.git/HEAD', '.git/index'])],
    ['delete_file', inputs('path', ['s/own.txt', 'd/a', 'd/b'])],
    ['network_request', inputs('url', ['http://a.test/', 'http://b.test/', 'http://c.test/'])],
    ['write_file', inputs('path', ['one', 'two', 'three']).map((input) => ({ ...input, content: 'x' }))],
  ];
  for (const [tool, several] of cases) {
    expect([tool, await terminal(await open(), tool, several)]).toEqual([tool, NEVER]);
    const [one = {}] = several;
    expect([tool, await terminal(await open(), tool, [one, one, one])]).toEqual([tool, [false, false, true]]);
  }
});
