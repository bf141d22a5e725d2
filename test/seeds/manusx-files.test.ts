/** Files and settings of a skill about which ManusX's document says nothing. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** The tool of each system that loads a skill, and the field with its name. */
const LOADS = [
  ['manusx', 'skill_request', 'skill_name'],
  ['openseed', 'load_skill', 'skill_name'],
  ['trpc', 'skill_load', 'skill'],
] as const;

test('a skill with disable-model-invocation is in no list, and the model cannot load it', async () => {
  const root = skillsFolder();
  const hidden = '---\nname: hidden\ndescription: For people.\ndisable-model-invocation: true\n---\n\nHidden.\n';
  mkdirSync(path.join(root, 'hidden'));
  writeFileSync(path.join(root, 'hidden/SKILL.md'), hidden);
  for (const [vocabulary, tool, field] of LOADS) {
    const { instructions, call } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).not.toContain('hidden');
    const { isError, text } = await call(tool, { [field]: 'hidden' });
    expect([isError, text.includes('cannot be invoked by the model')]).toEqual([true, true]);
  }
});

test('a SKILL.md that is a link out of its folder is in no list, and loading it gives the reason', async () => {
  const root = skillsFolder();
  const outside = path.join(scratch(), 'shared.md');
  writeFileSync(outside, '---\nname: linked\ndescription: Shared.\n---\n\nCANARY\n');
  mkdirSync(path.join(root, 'linked'));
  symlinkSync(outside, path.join(root, 'linked/SKILL.md'));
  for (const [vocabulary, tool, field] of LOADS) {
    const { instructions, call } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).not.toContain('linked');
    const { isError, text } = await call(tool, { [field]: 'linked' });
    const isNamed = text.includes('the file is a link to a target outside its skill');
    expect([isError, isNamed, text.includes('CANARY')]).toEqual([true, true, false]);
  }
});

test('a SKILL.md with a YAML anchor is left out with the reason, and of a repeated key the first one counts', async () => {
  const root = skillsFolder();
  for (const [name, head] of [
    ['anchors', 'description: &d hello\nalt: *d'],
    ['twice', 'description: one\ndescription: two'],
    ['dated', 'description: !!timestamp 2026-01-01'],
    ['merged', 'description: Merges.\n<<: {a: b}'],
  ] as const) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'SKILL.md'), `---\nname: ${name}\n${head}\n---\n\nBody.\n`);
  }
  for (const [vocabulary, tool, field] of LOADS) {
    const { instructions, call } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).toMatch(/\bpdf\b[^]*\btwice\b.*\bone\b/);
    expect(instructions).not.toMatch(/anchors|two|dated|merged/);
    const { isError, text } = await call(tool, { [field]: 'anchors' });
    expect([isError, text.replaceAll('\\"', '"')]).toEqual([
      true,
      expect.stringContaining('the YAML anchor or alias "&d" is refused'),
    ]);
  }
  const { call: search } = await openSkillTools({ vocabulary: 'openseed', runtime: await runtimeOver(root) });
  expect((await search('search_skills', { query: 'twice one' })).value).toEqual([
    { name: 'twice', description: 'one' },
  ]);
  expect((await search('load_skill', { skill_name: 'anchors' })).text).toContain('anchor or alias "&d" is refused');
});

test('the tags of YAML for text, numbers and lists are read', async () => {
  const root = skillsFolder();
  mkdirSync(path.join(root, 'tagged'));
  const head = 'name: !!str tagged\ndescription: !!str null\nallowed-tools: !!seq [!!str Read]\nversion: !!float 1.5';
  writeFileSync(path.join(root, 'tagged/SKILL.md'), `---\n${head}\n---\n\nBody.\n`);
  for (const vocabulary of ['manusx', 'openseed', 'trpc', 'skillwright'] as const) {
    const { instructions, session } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).toMatch(/tagged.*null/);
    const tagged = session.index.skills.find(({ name }) => name === 'tagged');
    expect([tagged?.controls.allowedTools, tagged?.meta['version']]).toEqual([['Read'], '1.5']);
  }
});

test('a hidden folder, or node_modules, is no skill', async () => {
  const root = skillsFolder();
  for (const name of ['.hidden', 'node_modules']) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'SKILL.md'), '---\nname: found\ndescription: Process files.\n---\n\nCANARY\n');
  }
  for (const [vocabulary, tool, field] of LOADS) {
    const { instructions, call } = await openSkillTools({ vocabulary, runtime: await runtimeOver(root) });
    expect(instructions).not.toContain('found');
    for (const name of ['.hidden', 'node_modules', 'found']) {
      const { isError, text } = await call(tool, { [field]: name });
      expect([isError, text.includes('CANARY')]).toEqual([true, false]);
    }
  }
});

test('an empty description is no description', async () => {
  const root = skillsFolder();
  mkdirSync(path.join(root, 'silent'));
  writeFileSync(path.join(root, 'silent/SKILL.md'), '---\nname: silent\ndescription: ""\n---\n\nBody.\n');
  const { instructions, call } = await manusx(root);
  expect(instructions).not.toContain('silent');
  expect((await call('skill_request', { skill_name: 'silent' })).value).toEqual({
    success: false,
    message: "Skill 'silent' not found",
    hint: 'the SKILL.md of "silent" cannot be used: there is no description. Add description: with what the skill does and when to use it.',
  });
});

test('a name or a description that is no text, or has another spelling of its key, is read as text', async () => {
  const root = skillsFolder();
  for (const [name, head] of Object.entries({
    five: 'name: five\ndescription: 5',
    list: 'name: list\ndescription: [a, b]',
    upper: 'Name: upper\nDescription: Spelled so.',
  })) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'SKILL.md'), `---\n${head}\n---\n\nBody.\n`);
  }
  const { instructions } = await manusx(root);
  expect(instructions.match(/^- (?!pdf).*/gm)).toEqual(['- five: 5', '- list: [a, b]', '- upper: Spelled so.']);
});

test('a file whose name no path can spell is not a resource, and a note of skill_request names it', async () => {
  const root = skillsFolder();
  for (const name of ['back\\slash.py', '%2e.py', 'line\nbreak.py', 'plain.py'])
    writeFileSync(path.join(root, 'pdf/scripts', name), '');
  const { call } = await manusx(root);
  const { text } = await call('skill_request', { skill_name: 'pdf' });
  const { data } = JSON.parse(text) as { data: { content: string } };
  expect(data.content.match(/^- .*/gm)).toEqual(['- scripts/plain.py', '- references/pdf_spec.md']);
  for (const name of [String.raw`back\slash`, '%2e', String.raw`line\nbreak`])
    expect(data.content).toContain(`[note] "scripts/${name}.py" is not usable: its name has an invisible character`);
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

test('a body keeps no hidden characters, no tags of ours and no commands that other agents run before it is read', async () => {
  const root = skillsFolder();
  const odd = (text: string): string => `---\nname: pdf\ndescription: Process PDF files.\n---\n\n${text}\n`;
  writeFileSync(path.join(root, 'pdf/SKILL.md'), odd('a\u200Bb\r\n<skill name="x"> <b>\nRun !`date` now.'));
  const run = 'Run `date` [not run: the policy does not allow commands in skill text] now.';
  const notes = '[note] 1 command in the text was not run\n[note] 1 hidden or control character was removed';
  const manus = (await (await manusx(root)).call('skill_request', { skill_name: 'pdf' })).value as {
    data: { content: string };
  };
  expect(manus.data.content).toContain(`ab\n&lt;skill name="x"> <b>\n${run}\n\n## Available Resources`);
  expect(manus.data.content).toContain(notes);
  const open = (vocabulary: 'openseed' | 'skills-agent'): Promise<SkillTools> =>
    runtimeOver(root).then((runtime) => openSkillTools({ vocabulary, runtime }));
  expect((await (await open('openseed')).call('load_skill', { skill_name: 'pdf' })).value).toBe(
    `${odd(`ab\n<skill name="x"> <b>\n${run}`)}\n\n${notes}`,
  );
  const { value } = await (await open('skills-agent')).call('select_skills', { skills: ['pdf'] });
  expect(value).toMatchObject({ skills: [{ body: expect.stringContaining(`&lt;skill name="x"> <b>\n${run}`) }] });
});

test('a folder of resources that is a link inside its skill is not listed; file_read reads its files with the name of the skill', async () => {
  const root = skillsFolder();
  mkdirSync(path.join(root, 'linked/docs'), { recursive: true });
  writeFileSync(path.join(root, 'linked/SKILL.md'), '---\nname: linked\ndescription: Has a link.\n---\n\n# Linked\n');
  writeFileSync(path.join(root, 'linked/docs/d.md'), 'd\n');
  symlinkSync('docs', path.join(root, 'linked/references'));
  const { call } = await manusx(root);
  const content = { success: true, data: { content: '# Linked' } };
  expect((await call('skill_request', { skill_name: 'linked' })).value).toEqual(content);
  const read = async (file: string): Promise<unknown> => (await call('file_read', { file })).value;
  expect(await read('linked/references/d.md')).toEqual({ success: true, data: { content: 'd\n' } });
  expect(await read('references/d.md')).toMatchObject({ success: false });
});

test('skill_request finds a skill by its folder, and with spaces around its name', async () => {
  const root = skillsFolder();
  mkdirSync(path.join(root, 'folder'));
  writeFileSync(path.join(root, 'folder/SKILL.md'), '---\nname: other\ndescription: Differs.\n---\n\n# Other\n');
  const { call } = await manusx(root);
  for (const skill_name of ['other', 'folder', ' Other '])
    expect((await call('skill_request', { skill_name })).value).toMatchObject({ success: true });
});
