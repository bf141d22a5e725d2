/** A document that changes on disk during a session: requested again, it is shown again. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { SHARED_CACHE } from '../cli/run-cli.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

interface Changing extends SkillTools {
  readonly write: (name: string, text: string) => void;
  readonly remove: (name: string) => void;
}

async function open(
  placement: 'system' | 'tool-results' = 'tool-results',
  vocabulary: VocabularyName = 'trpc',
): Promise<Changing> {
  const root = scratch();
  writeSkill(path.join(root, 'k'), { body: 'Body of k.' });
  const write = (name: string, text: string): void => writeFileSync(path.join(root, 'k', name), text);
  write('a.md', 'a one\n');
  write('b.md', 'b one\n');
  const tools = await openSkillTools({
    vocabulary,
    placement,
    execution: false,
    runtime: { cwd: root, home: undefined, env: SHARED_CACHE, roots: [root], onlyRoots: true },
  });
  onTestFinished(() => tools.session.close());
  return { ...tools, write, remove: (name) => rmSync(path.join(root, 'k', name)) };
}

const A = { skill: 'k', docs: ['a.md'] };
const CHANGED = '[note] "a.md" changed since it was last shown';
const NOTED = '[note] k is already loaded and unchanged: follow the instructions you have';

test('skill_load and skill_select_docs show a changed document again, and an unchanged one once', async () => {
  const { call, write } = await open();
  await call('skill_load', { skill: 'k', docs: ['a.md', 'b.md'] });
  write('a.md', 'a two\n');
  expect((await call('skill_load', { skill: 'k' })).text).toBe(
    `loaded: k\n\nDocs loaded: a.md\n\n[Doc] a.md\n\na two\n\n${CHANGED}\n${NOTED}`,
  );
  expect((await call('skill_select_docs', { ...A, mode: 'add' })).value).toMatchObject({
    selected_docs: ['a.md', 'b.md'],
  });
  write('a.md', 'a three\n');
  const chosen = await call('skill_select_docs', { skill: 'k', include_all_docs: true });
  expect(chosen.value).toMatchObject({ content: `[Doc] a.md\n\na three\n\n${CHANGED}` });
  expect(await call('skill_select_docs', A)).toMatchObject({ value: { selected_docs: ['a.md'] } });
  expect((await call('skill_select_docs', { ...A, mode: 'add' })).value).not.toHaveProperty('content');
});

test('a document is found by its path from the folder of the skill', async () => {
  const { call } = await open();
  expect((await call('skill_load', { skill: 'k', docs: ['./a.md', 'a.md'] })).text).toBe(
    'loaded: k\n\n[Loaded] k\n\nBody of k.\nDocs loaded: a.md\n\n[Doc] a.md\n\na one',
  );
});

test('the system message has the new text of a document that is requested again', async () => {
  const { call, write, session, remove } = await open('system');
  await call('skill_load', { skill: 'k', include_all_docs: true });
  expect(session.startRequest()).toContain('[Doc] a.md\n\na one\n\n[Doc] b.md\n\nb one');
  write('a.md', 'a two\n');
  expect((await call('skill_load', A)).text).toBe(`loaded: k\n\n${CHANGED}`);
  expect(session.startRequest()).toMatch(/\[Doc\] a\.md\n\na two$/);
  remove('a.md');
  expect((await call('skill_load', A)).text).toContain('[note] there is no document "a.md" in the skill');
  expect(session.startRequest()).toMatch(/Docs loaded: none$/);
});

test('a changed document is shown again after a compaction that kept the skill', async () => {
  const { call, write, session } = await open();
  await call('skill_load', A);
  write('a.md', 'a two\n');
  const { text } = session.compact();
  expect(text).toContain('[Doc] a.md\n\na one');
  expect((await call('skill_select_docs', { ...A, mode: 'add' })).value).toMatchObject({
    content: `[Doc] a.md\n\na two\n\n${CHANGED}`,
  });
  expect(session.compact().text).toContain('[Doc] a.md\n\na two');
});

test('a part of a changed document leaves the whole of it to the next request', async () => {
  const { call, write } = await open();
  await call('skill_load', A);
  write('a.md', 'a changed\n');
  expect((await call('skill_select_docs', { ...A, mode: 'add', offset: 2 })).value).toMatchObject({
    content: `[Doc] a.md\n\nchanged\n\n${CHANGED}`,
  });
  expect((await call('skill_select_docs', { ...A, mode: 'add' })).value).toMatchObject({
    content: `[Doc] a.md\n\na changed\n\n${CHANGED}`,
  });
});

test.each([
  ['skillwright', 'load_skill', { skill: 'k' }],
  ['openseed', 'load_skill', { skill_name: 'k' }],
  ['manusx', 'skill_request', { skill_name: 'k' }],
  ['skills-agent', 'select_skills', { skills: ['k'] }],
] as const)(
  '%s: a load shows documents that the program declared, and a repeated one those that changed',
  async (vocabulary, tool, input) => {
    const { call, write, session } = await open('tool-results', vocabulary);
    await session.declare([{ skill: 'k', documents: ['a.md'] }]);
    write('a.md', 'a two\n');
    const { text } = await call(tool, input);
    expect(text).toContain('a two');
    expect(text).not.toContain('b one');
  },
);
