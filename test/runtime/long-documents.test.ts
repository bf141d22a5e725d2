import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { Config } from '../../src/core/config/config.ts';
import { SHARED_CACHE } from '../cli/run-cli.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { trpcState } from '../../src/tools/trpc-state.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

/** Numbered lines, so that a gap or a repeated part is seen. */
function lines(name: string, characters: number): string {
  return Array.from({ length: characters / 10 }, (_, line) => `${name}${String(line).padStart(8, '0')}\n`).join('');
}

const LONG = lines('l', 60_000);

async function open(
  documents: Readonly<Record<string, string>>,
  security: Config['security'] = {},
  placement: 'system' | 'tool-results' = 'tool-results',
): Promise<SkillTools> {
  const [root, home] = [scratch(), scratch()];
  writeSkill(path.join(root, 'k'), { body: 'Body of k.' });
  for (const [name, text] of Object.entries(documents)) writeFileSync(path.join(root, 'k', name), text);
  mkdirSync(path.join(home, '.agent'));
  writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify({ security }));
  const tools = await openSkillTools({
    vocabulary: 'trpc',
    placement,
    runtime: { cwd: root, home, env: SHARED_CACHE, roots: [root], onlyRoots: true },
  });
  onTestFinished(() => tools.session.close());
  return tools;
}

const selection = ({ session }: SkillTools): unknown => trpcState(session.state)['temp:skill:docs:k'];

test('a document that is named is shown whole, also beyond the limit of all documents of an answer', async () => {
  const text = `loaded: k\n\n[Loaded] k\n\nBody of k.\nDocs loaded: long.md\n\n[Doc] long.md\n\n${LONG.trimEnd()}`;
  const loading = await open({ 'long.md': LONG });
  expect((await loading.call('skill_load', { skill: 'k', docs: ['long.md'] })).text).toBe(text);
  const selecting = await open({ 'long.md': LONG });
  expect((await selecting.call('skill_select_docs', { skill: 'k', docs: ['long.md'] })).value).toMatchObject({
    content: text,
  });
  const system = await open({ 'long.md': LONG }, {}, 'system');
  await system.call('skill_load', { skill: 'k', docs: ['long.md'] });
  expect(system.session.startRequest()).toContain(LONG.trimEnd());
});

test.each([
  [{ max_resource_characters: 50_000 }, { docs: ['long.md'] }],
  [{ max_documents_characters: 50_000 }, { docs: ['long.md'] }],
  [{ max_documents_characters: 50_000 }, { include_all_docs: true }],
])('with %j, a long document is cut and the note names the call for the rest', async (security, asked) => {
  const { call } = await open({ 'long.md': LONG }, security);
  const { text } = await call('skill_load', { skill: 'k', ...asked });
  expect(text).toContain(`[Doc] long.md\n\n${LONG.slice(0, 50_000).trimEnd()}\n`);
  expect(text).toContain('continue with skill_select_docs(skill=k, docs=[long.md], mode=add, offset=50000)');
  const rest = await call('skill_select_docs', { skill: 'k', docs: ['long.md'], mode: 'add', offset: 50_000 });
  expect(rest.value).toMatchObject({ content: `[Doc] long.md\n\n${LONG.slice(50_000).trimEnd()}` });
});

test('a requested document that does not fit stays selected, and the named call shows it', async () => {
  const documents = { 'a.md': lines('a', 30_000), 'b.md': lines('b', 30_000), 'c.md': lines('c', 30_000) };
  const tools = await open(documents);
  const { call } = tools;
  const loaded = (await call('skill_load', { skill: 'k', docs: ['a.md', 'b.md', 'c.md'] })).text;
  expect(loaded).toContain('Docs loaded: a.md\n');
  expect(loaded).toContain(
    '[note] not shown, because the answer is full: b.md, c.md; continue with skill_select_docs(skill=k, docs=[b.md], mode=add)',
  );
  expect(selection(tools)).toBe('["a.md","b.md","c.md"]');
  const next = await call('skill_select_docs', { skill: 'k', docs: ['b.md'], mode: 'add' });
  expect(next.value).toMatchObject({
    selected_docs: ['a.md', 'b.md', 'c.md'],
    content: `[Doc] b.md\n\n${documents['b.md'].trimEnd()}`,
  });
  // What was shown is not sent again; what was not is.
  const all = await call('skill_select_docs', { skill: 'k', docs: ['a.md', 'b.md', 'c.md'] });
  expect(all.value).toMatchObject({ content: `[Doc] c.md\n\n${documents['c.md'].trimEnd()}` });
  const again = await call('skill_select_docs', { skill: 'k', docs: ['a.md', 'b.md', 'c.md', 'none.md'] });
  expect(again.value).toMatchObject({
    selected_docs: ['a.md', 'b.md', 'c.md'],
    content: expect.stringMatching(/^\[note\] there is no document "none\.md"/),
  });
});

test('in the system message a continuation follows the first part, and a cut document says so', async () => {
  const tools = await open({ 'long.md': LONG }, { max_resource_characters: 25_000 }, 'system');
  const { call, session } = tools;
  const shown = (): string => /\[Doc\] long\.md\n\n([^]*)$/.exec(session.startRequest())?.[1] ?? '';
  const more = (offset: number): Promise<unknown> =>
    call('skill_select_docs', { skill: 'k', docs: ['long.md'], mode: 'add', offset });
  await call('skill_load', { skill: 'k', docs: ['long.md'] });
  expect(shown()).toBe(`${LONG.slice(0, 25_000)}\n[long.md continues at offset 25000]`);
  await more(25_000);
  expect(shown()).toBe(`${LONG.slice(0, 50_000)}\n[long.md continues at offset 50000]`);
  await more(25_000);
  expect(shown()).toBe(`${LONG.slice(0, 50_000)}\n[long.md continues at offset 50000]`);
  await more(50_000);
  expect(shown()).toBe(LONG.trimEnd());
  expect(selection(tools)).toBe('["long.md"]');
  expect(session.compact({ ceiling: 100_000 }).text).toContain(LONG.trimEnd());
});

test('a part that does not follow the known one is marked with its place', async () => {
  const tools = await open({ 'long.md': LONG }, { max_resource_characters: 10_000 }, 'system');
  const { call, session } = tools;
  await call('skill_load', { skill: 'k', docs: ['long.md'] });
  await call('skill_select_docs', { skill: 'k', docs: ['long.md'], mode: 'add', offset: 50_000 });
  expect(session.startRequest()).toContain(
    `${LONG.slice(0, 10_000)}\n[from character 50000 on]\n${LONG.slice(50_000).trimEnd()}`,
  );
});
