import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { openSkills, type OpenSkillsOptions } from '../../src/library/open-skills.ts';
import type { Conversation } from '../../src/library/conversation.ts';
import { needs } from '../needs.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';

async function converse(options: Omit<OpenSkillsOptions, 'from'>, body = '# Demo\n'): Promise<Conversation> {
  const from = scratch();
  writeSkill(path.join(from, 'demo-skill'), { body });
  const library = await openSkills({ from, ...options });
  onTestFinished(() => library.close());
  return library.conversation();
}

const RUN = ['skill_run', { skill: 'demo-skill', command: 'echo ran' }] as const;

test('trpc: skill_run is there without an option, and runs isolated', needs('bubblewrap'), async () => {
  const { call } = await converse({ vocabulary: 'trpc' });
  expect((await call(...RUN)).value).toMatchObject({ stdout: 'ran\n', exit_code: 0 });
  expect((await call(...RUN)).value).not.toMatchObject({ isolation: 'none' });
});

test('trpc: without programs, or with an executor of another system, the tools that load remain', async () => {
  const foreign = process.platform === 'darwin' ? 'bubblewrap' : 'macos';
  for (const options of [{ execute: false }, { config: { execution: { executor: foreign } } }] as const) {
    const { tools, call } = await converse({ vocabulary: 'trpc', ...options });
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(['skill_load', 'skill_select_docs', 'skill_list_docs']);
    expect(await call(...RUN)).toMatchObject({
      isError: true,
      text: `skill_run is not available: the executor is not configured. The tools are ${names.join(', ')}.`,
    });
  }
});

test('a vocabulary by name brings its defaults: openseed shows a body of 600 lines whole', async () => {
  const long = 'line\n'.repeat(600);
  const shown = async (options: Omit<OpenSkillsOptions, 'from'>, tool: string, input: object): Promise<boolean> =>
    (await (await converse(options, long)).call(tool, input)).text.includes(long);
  expect(await shown({}, 'load_skill', { skill: 'demo-skill' })).toBe(false);
  expect(await shown({ vocabulary: 'openseed' }, 'load_skill', { skill_name: 'demo-skill' })).toBe(true);
});
