/** Files and settings of a skill about which ManusX's document says nothing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import type { SkillTools } from '../../src/runtime/skill-tools.ts';
import { runtimeOver } from '../runtime/support.ts';
import { scratch } from '../skills/registry/support.ts';

function skillsFolder(): string {
  const root = path.join(scratch(), 'backend/skills');
  for (const folder of ['scripts', 'references', 'assets'])
    mkdirSync(path.join(root, 'pdf', folder), { recursive: true });
  writeFileSync(path.join(root, 'pdf/SKILL.md'), '---\nname: pdf\ndescription: Process PDF files.\n---\n\n# PDF\n');
  writeFileSync(path.join(root, 'pdf/references/pdf_spec.md'), 'PDF 1.7\n');
  return root;
}

async function manusx(root: string): Promise<SkillTools> {
  return openSkillTools({ vocabulary: 'manusx', runtime: await runtimeOver(root) });
}

test('a skill with disable-model-invocation is in no list, and the model cannot load it', async () => {
  const root = skillsFolder();
  const hidden = '---\nname: hidden\ndescription: For people.\ndisable-model-invocation: true\n---\n\nHidden.\n';
  mkdirSync(path.join(root, 'hidden'));
  writeFileSync(path.join(root, 'hidden/SKILL.md'), hidden);
  for (const [vocabulary, tool] of [
    ['manusx', 'skill_request'],
    ['openseed', 'load_skill'],
  ] as const) {
    const { instructions, call } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).not.toContain('hidden');
    const { isError, text } = await call(tool, { skill_name: 'hidden' });
    expect([isError, text.includes('cannot be invoked by the model')]).toEqual([true, true]);
  }
});

test('file_read keeps a space at the end of a path that a loaded skill lists, and drops any other', async () => {
  const root = skillsFolder();
  writeFileSync(path.join(root, 'pdf/scripts/odd.py '), 'odd');
  const { call } = await manusx(root);
  const content = async (file: string): Promise<unknown> => (await call('file_read', { file })).value;
  await call('skill_request', { skill_name: 'pdf' });
  const odd = { success: true, data: { content: 'odd' } };
  for (const file of ['pdf/scripts/odd.py ', 'scripts/odd.py ', path.join(root, 'pdf/scripts/odd.py ')])
    expect(await content(file)).toEqual(odd);
  expect(await content('pdf/references/pdf_spec.md ')).toEqual({ success: true, data: { content: 'PDF 1.7\n' } });
});

test('file_read describes a binary file', async () => {
  const root = skillsFolder();
  writeFileSync(path.join(root, 'pdf/assets/logo.png'), Buffer.from('89504e470d0a1a0a0000', 'hex'));
  const { call } = await manusx(root);
  expect((await call('file_read', { file: 'pdf/assets/logo.png' })).value).toEqual({
    success: true,
    data: { content: '[note] assets/logo.png is a binary file (image/png, 10 B) and is not shown' },
  });
});
