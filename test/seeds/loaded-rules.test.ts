/** How long loaded skills, their rules and the overview hold, in the vocabularies of the four systems. */
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { openSkillTools, type SkillToolsOptions } from '../../src/packs/open-runtime.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { scratch } from '../skills/registry/support.ts';
import { write } from './skills-agent-place.ts';

const LOADS = {
  skillwright: ['load_skill', (name: string) => ({ skill: name })],
  openseed: ['load_skill', (name: string) => ({ skill_name: name })],
  trpc: ['skill_load', (name: string) => ({ skill: name })],
  manusx: ['skill_request', (name: string) => ({ skill_name: name })],
  'skills-agent': ['select_skills', (name: string) => ({ skills: [{ name }] })],
} as const satisfies Readonly<Record<VocabularyName, readonly [string, (name: string) => unknown]>>;
const VOCABULARIES = Object.keys(LOADS) as readonly VocabularyName[];
const NINE = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((letter) => `skill-${letter}`);

/** Tools over `reader`, which allows reading only, and other skills. */
async function open(
  vocabulary: VocabularyName,
  options: SkillToolsOptions = {},
  others: readonly string[] = NINE,
): Promise<SkillTools> {
  const root = path.join(scratch(), 'skills');
  const reader = 'name: reader\ndescription: Reads.\nallowed-tools: Read';
  write(root, 'reader/SKILL.md', `---\n${reader}\n---\n\nOnly read.\n`);
  for (const name of others)
    write(
      root,
      `${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${'Writes. '.repeat(40)}\n---\n\nBody of ${name}.\n`,
    );
  const settings = { cwd: path.dirname(root), home: undefined, env: {}, roots: [root], onlyRoots: true } as const;
  const runtime = await createRuntime({ ...settings, cache: false, vocabulary });
  const tools = await openSkillTools({ runtime, execution: false, ...options });
  onTestFinished(() => tools.session.close());
  return tools;
}

async function load({ call, session }: SkillTools, name: string): Promise<string> {
  const vocabulary = VOCABULARIES.find((one) => one === session.vocabulary.name) ?? 'skillwright';
  const [tool, input] = LOADS[vocabulary];
  return (await call(tool, input(name))).text;
}

const mayWrite = ({ session }: SkillTools): boolean =>
  session.decide([{ tool: 'write_file', subject: { kind: 'none' } }]).effect !== 'deny';

test.each(VOCABULARIES)('%s: allowed-tools of a skill holds however many skills are loaded after it', async (name) => {
  const tools = await open(name);
  expect(mayWrite(tools)).toBe(true);
  for (const skill of ['reader', ...NINE]) await load(tools, skill);
  expect(mayWrite(tools)).toBe(false);
});

test.each(['skills-agent', 'openseed', 'manusx'] as const)(
  '%s: a skill stays loaded in the next message of a conversation, and its rules with it',
  async (name) => {
    const tools = await open(name);
    await load(tools, 'reader');
    tools.session.startTurn();
    expect([mayWrite(tools), tools.session.state.loaded.map(({ skill }) => skill.name)]).toEqual([false, ['reader']]);
  },
);

test('trpc: the system message has the body of each loaded skill, of the first of nine too', async () => {
  const tools = await open('trpc', { placement: 'system' });
  for (const skill of NINE) await load(tools, skill);
  const message = tools.session.startRequest();
  expect(NINE.filter((skill) => !message.includes(`Body of ${skill}.`))).toEqual([]);
});

test('a load above session.max_loaded names the skill that makes room', async () => {
  const tools = await open('trpc', { placement: 'system', maxLoaded: 2 });
  const answers: string[] = [];
  for (const skill of ['skill-a', 'skill-b', 'skill-a', 'skill-c']) answers.push(await load(tools, skill));
  const note = '"skill-b" is no longer loaded: session.max_loaded is 2; load it again to use it';
  expect(answers.map((text) => text.includes(note))).toEqual([false, false, false, true]);
});

test.each(['openseed', 'trpc', 'manusx', 'skills-agent'] as const)(
  '%s: the overview has the whole description of each skill',
  async (name) => {
    const many = Array.from({ length: 120 }, (_, place) => `skill-${String(place)}`);
    const { session } = await open(name, {}, many);
    expect(session.catalog).toMatchObject({ shortened: [], nameOnly: [], omitted: [] });
    expect(session.catalog.full).toHaveLength(121);
  },
);

test('the key of a provider in the environment is shown by its name, in every vocabulary', async () => {
  const key = 'sk-canary-0123456789abcdef';
  const root = path.join(scratch(), 'skills');
  write(root, 'skill-a/SKILL.md', `---\nname: skill-a\ndescription: Calls.\n---\n\nUse ${key} here.\n`);
  const settings = { cwd: path.dirname(root), home: undefined, roots: [root], onlyRoots: true, cache: false } as const;
  for (const vocabulary of VOCABULARIES) {
    const runtime = await createRuntime({ ...settings, env: { OPENAI_API_KEY: key }, vocabulary });
    const tools = await openSkillTools({ runtime, execution: false });
    expect([vocabulary, await load(tools, 'skill-a')]).toEqual([
      vocabulary,
      expect.stringContaining('Use [secret OPENAI_API_KEY] here.'),
    ]);
    await tools.session.close();
  }
});
