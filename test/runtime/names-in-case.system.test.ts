/** Two folders of one root that differ only in case, in each vocabulary: listed both, found by their spelling, placed apart. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { removeTree } from '../../src/platform/fs/remove-tree.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-case-'));
afterAll(() => removeTree(folder));
const root = path.join(folder, 'skills');
for (const name of ['Demo', 'demo']) {
  mkdirSync(path.join(root, name), { recursive: true });
  writeFileSync(
    path.join(root, name, 'SKILL.md'),
    `---\nname: ${name}\ndescription: Does ${name}\n---\nI am ${name}.\n`,
  );
}
const runtime = {
  cwd: folder,
  home: folder,
  env: process.env,
  roots: [root],
  onlyRoots: true,
  builtin: false,
} as const;

test.each([
  ['skillwright', 'load_skill', (skill: string) => ({ skill })],
  ['openseed', 'load_skill', (skill: string) => ({ skill_name: skill })],
  ['trpc', 'skill_load', (skill: string) => ({ skill })],
  ['manusx', 'skill_request', (skill: string) => ({ skill_name: skill })],
  ['skills-agent', 'select_skills', (skill: string) => ({ skills: [skill] })],
] as const)('%s: each skill is loaded by its own spelling', async (vocabulary, tool, input) => {
  const skills = await openSkillTools({ vocabulary, execution: false, runtime });
  try {
    const answers = [];
    for (const name of ['demo', 'Demo', 'DEMO']) {
      const { text, isError } = await skills.call(tool, input(name));
      answers.push([isError, ...new Set(text.match(/I am \w+/g))]);
    }
    expect(answers).toEqual([[false, 'I am demo'], [false, 'I am Demo'], [true]]);
    expect((await skills.call(tool, input('DEMO'))).text).toMatch(/names Demo, demo differ only in case/);
  } finally {
    await skills.session.close();
  }
});

test('trpc: programs of both have a folder each, and documents are those of the skill that is named', async () => {
  const skills = await openSkillTools({ vocabulary: 'trpc', execution: { executor: 'local' }, runtime });
  try {
    const outputs = [];
    for (const skill of ['Demo', 'demo']) {
      const { value } = await skills.call('skill_run', { skill, command: 'tail -1 SKILL.md; basename "$PWD"' });
      outputs.push(value);
    }
    expect(outputs).toMatchObject([{ stdout: 'I am Demo.\nDemo\n' }, { stdout: 'I am demo.\ndemo\n' }]);
    await skills.call('skill_load', { skill: 'Demo' });
    const { text } = await skills.call('skill_select_docs', { skill: 'demo', docs: [] });
    expect(text).toContain('I am demo.');
  } finally {
    await skills.session.close();
  }
});
