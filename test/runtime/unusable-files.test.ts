/** A skill with a file that cannot be used stays usable without it, whichever way it is used. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { VocabularyName } from '../../src/core/vocabulary-names.ts';
import { cli } from '../cli/run-cli.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runtimeOver } from './support.ts';

function brokenSkill(): string {
  const root = scratch();
  const dir = path.join(root, 'report');
  writeSkill(dir, { description: 'Makes reports.', body: '# Report\n' });
  mkdirSync(path.join(dir, 'references'));
  writeFileSync(path.join(dir, 'references/good.md'), 'good\n');
  symlinkSync('/etc/hostname', path.join(dir, 'references/outside.md'));
  symlinkSync('missing.md', path.join(dir, 'references/nowhere.md'));
  return root;
}

const NOTES = [
  '"references/nowhere.md" is not usable: it is a link to a file that does not exist',
  '"references/outside.md" is not usable: it is a link that leads outside the skill',
];

test.each([
  ['skillwright', 'load_skill', { skill: 'report' }],
  ['openseed', 'load_skill', { skill_name: 'report' }],
  ['trpc', 'skill_load', { skill: 'report', include_all_docs: true }],
  ['manusx', 'skill_request', { skill_name: 'report' }],
  ['skills-agent', 'select_skills', { skills: [{ name: 'report' }] }],
] as const satisfies readonly (readonly [VocabularyName, string, object])[])(
  '%s lists and loads the skill, and names the files that are not usable',
  async (vocabulary, tool, input) => {
    const root = brokenSkill();
    const runtime = await runtimeOver(root);
    const { call, instructions } = await openSkillTools({ vocabulary, runtime });
    expect(instructions).toContain('report');
    const answer = await call(tool, input);
    expect([answer.isError, answer.text.replaceAll('\\"', '"')]).toEqual([false, expect.stringContaining('# Report')]);
    for (const note of NOTES) expect(answer.text.replaceAll('\\"', '"')).toContain(note);
    const direct = await cli(root, ['call', tool, JSON.stringify(input), '--vocabulary', vocabulary, '--root', root]);
    expect([direct.status, direct.out.replaceAll('\\"', '"')]).toEqual([0, expect.stringContaining(NOTES[1] ?? '')]);
  },
);

test('a document that is not usable gets one note, whether a load or a selection names it', async () => {
  const { call } = await openSkillTools({ vocabulary: 'trpc', runtime: await runtimeOver(brokenSkill()) });
  const input = { skill: 'report', docs: ['references/outside.md'] };
  const note = '"references/outside.md" is not shown: it is a link that leads outside the skill';
  for (const tool of ['skill_load', 'skill_select_docs']) {
    const { text } = await call(tool, input);
    expect(text.replaceAll('\\"', '"').match(/.*references\/outside\.md".*/g)?.length).toBe(1);
    expect(text.replaceAll('\\"', '"')).toContain(note);
  }
});

test('check names each file', async () => {
  const root = brokenSkill();
  const { status, out } = await cli(root, ['check', path.join(root, 'report')]);
  expect(status).toBe(1);
  expect(out.match(/references\/\w+\.md: .* file\/unusable/g)).toEqual([
    'references/nowhere.md: it is a link to a file that does not exist file/unusable',
    'references/outside.md: it is a link that leads outside the skill file/unusable',
  ]);
});
