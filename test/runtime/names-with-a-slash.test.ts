/** Names with a namespace (`org/tool`), in each vocabulary: listed whole, and two that differ in it are two skills. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { sourcesFor } from '../../src/runtime/secrets/secrets-config.ts';
import { buildIndex } from '../../src/skills/registry/registry.ts';
import { resolveSkill } from '../../src/skills/registry/resolve-skill.ts';
import { scratch } from '../skills/registry/support.ts';

function skillsNamed(names: Readonly<Record<string, string>>): string {
  const root = scratch();
  for (const [folder, name] of Object.entries(names)) {
    mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(
      path.join(root, folder, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Does ${name}\n---\nI am ${name}.\n`,
    );
  }
  return root;
}

test.each([
  ['skillwright', 'load_skill', (skill: string) => ({ skill })],
  ['trpc', 'skill_load', (skill: string) => ({ skill })],
  ['manusx', 'skill_request', (skill: string) => ({ skill_name: skill })],
  ['skills-agent', 'select_skills', (skill: string) => ({ skills: [skill] })],
] as const)('%s lists and loads both skills by their whole names', async (vocabulary, tool, input) => {
  const root = skillsNamed({ o1: 'org1/tool', 'org2-tool': 'org2/tool' });
  const tools = await openSkillTools({
    vocabulary,
    execution: false,
    runtime: { cwd: root, home: root, env: {}, roots: [root], onlyRoots: true, builtin: false },
  });
  try {
    const listed = tools.instructions.match(/(org\d\/tool)[^D]{1,60}Does \1/g) ?? [];
    const answers = [];
    for (const name of ['org1/tool', 'org2/tool', 'org1/tool']) {
      const { text } = await tools.call(tool, input(name));
      answers.push([/I am (\S+)\./.exec(text)?.[1], text.includes('changed since')]);
    }
    const { isError } = await tools.call(tool, input('tool'));
    expect([listed.map((line) => line.slice(0, 9)), answers.slice(0, 2), answers[2]?.[1], isError]).toEqual([
      ['org1/tool', 'org2/tool'],
      [
        ['org1/tool', false],
        ['org2/tool', false],
      ],
      false,
      true,
    ]);
  } finally {
    await tools.session.close();
  }
});

test('a skill whose name looks like source/name takes neither the references nor the secrets of that skill', async () => {
  const [user, project] = [skillsNamed({ pdf: 'pdf' }), skillsNamed({ other: 'user/pdf' })];
  const index = await buildIndex({
    roots: [
      { path: user, source: 'user', priority: 1, explicit: true },
      { path: project, source: 'project', priority: 2, explicit: true },
    ],
  });
  const references = ['user/pdf', 'pdf', 'project/user/pdf', 'other'];
  expect(references.map((reference) => resolveSkill(index, reference)?.id)).toEqual([
    'user/pdf',
    'user/pdf',
    'project/user/pdf',
    'project/user/pdf',
  ]);
  const config = { 'user/pdf': { KEY: { env: 'A' } }, 'project/user/pdf': { KEY: { env: 'B' } } };
  expect(
    ['project', 'elsewhere'].map((source) => [...sourcesFor(config, { name: 'user/pdf', source }).values()]),
  ).toEqual([[{ env: 'B' }], []]);
});
