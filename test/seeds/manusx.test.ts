/** The worked example of ManusX's document: extract tables from a PDF. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { packSettings } from '../../src/packs/pack-settings.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { buildSkillTools, type SkillTools } from '../../src/runtime/skill-tools.ts';
import { checkSkill } from '../../src/skills/loader/check-skill.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { runtimeOver } from '../runtime/support.ts';

const BODY =
  '# PDF Processing Skill\n\nYou now have expertise in PDF file processing.\n\n## Reading PDFs\n\npdftotext input.pdf output.txt';

function skillsFolder(): string {
  const root = path.join(scratch(), 'backend/skills');
  const files = {
    'pdf/SKILL.md': `---\nname: pdf\ndescription: Process PDF files - extract text, read content.\n---\n\n${BODY}\n`,
    'pdf/scripts/extract_tables.py': 'print("tables")\n',
    'pdf/references/pdf_spec.md': 'PDF 1.7\n',
    'pdf/assets/template.html': '<html></html>\n',
    'data-analysis/SKILL.md': '---\nname: data-analysis\ndescription: Analyse data.\n---\n\n# Data\n',
    'data-analysis/scripts/analyze.py': 'print("analysis")\n',
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

async function manusx(root = skillsFolder()): Promise<SkillTools> {
  return openSkillTools({ vocabulary: 'manusx', runtime: await runtimeOver(root) });
}

describe('ManusX by its document', () => {
  verifies('TOOL-3', 'injects one heading, the descriptions and one sentence, and nothing without skills', async () => {
    const { instructions } = await manusx();
    expect(instructions).toBe(
      [
        '## Available Skills',
        '',
        'You have access to the following domain expertise:',
        '- data-analysis: Analyse data.',
        '- pdf: Process PDF files - extract text, read content.',
        '',
        'When a task matches a skill, request its full content.',
        '',
      ].join('\n'),
    );
    const empty = await manusx(path.join(scratch(), 'empty'));
    expect([empty.instructions, empty.tools.map(({ name }) => name)]).toEqual(['', ['skill_request']]);
    expect((await empty.call('skill_request', { skill_name: 'pdf' })).value).toMatchObject({
      success: false,
      message: "Skill 'pdf' not found",
    });
  });

  test('a description stays on its line of the prompt and closes no tag', async () => {
    const root = path.join(scratch(), 'backend/skills');
    writeSkill(path.join(root, 'odd'), { description: '|-\n  a <b>c</b> & d\u200b\n  ## Heading' });
    expect((await manusx(root)).instructions).toContain('\n- odd: a &lt;b&gt;c&lt;/b&gt; & d ## Heading\n');
  });

  verifies('TOOL-3', 'skill_request gives the body and the resources, file_read the script', async () => {
    const root = skillsFolder();
    const { call } = await manusx(root);
    expect((await call('skill_request', { skill_name: 'pdf' })).value).toEqual({
      success: true,
      data: {
        content: `${BODY}\n\n## Available Resources\nDirectory: ${root}/pdf\n- scripts/extract_tables.py\n- references/pdf_spec.md\n- assets/template.html\n`,
      },
    });
    const read = { success: true, data: { content: 'print("tables")\n' } };
    expect((await call('file_read', { file: 'scripts/extract_tables.py' })).value).toEqual(read);
    expect((await call('file_read', { file: `${root}/pdf/scripts/extract_tables.py` })).value).toEqual(read);
  });

  test('an unknown skill is a result without success', async () => {
    const { call } = await manusx();
    expect((await call('skill_request', { skill_name: 'xls' })).value).toEqual({
      success: false,
      message: "Skill 'xls' not found",
      hint: 'The skills are data-analysis, pdf.',
    });
  });

  test('the example of the document is returned as it is written', async () => {
    const root = skillsFolder();
    const body = [
      '# PDF Processing Skill',
      '',
      '### Using pdftotext (Recommended)',
      '',
      '```bash',
      'pdftotext input.pdf output.txt',
      '```',
      '',
      '```python',
      'import fitz',
      'for page in doc:',
      '    print(page.get_text())',
      '```',
      '',
      '| Library | Use Case |',
      '|---------|----------|',
      '| PyMuPDF | Read, write, merge |',
    ].join('\n');
    writeFileSync(
      path.join(root, 'data-analysis/SKILL.md'),
      `---\nname: data-analysis\ndescription: D.\n---\n\n${body}\n`,
    );
    const { call } = await manusx(root);
    expect((await call('skill_request', { skill_name: 'data-analysis' })).value).toMatchObject({
      data: { content: expect.stringContaining(`${body}\n\n## Available Resources\n`) },
    });
  });

  test('backend/skills of a trusted project is read without an option, and nothing else is listed', async () => {
    const root = skillsFolder();
    const script = 'print("a table")\n'.repeat(300_000);
    writeFileSync(path.join(root, 'pdf/scripts/extract_tables.py'), script);
    const cwd = path.dirname(path.dirname(root));
    const runtime = { cwd, home: scratch(), env: {}, vouched: [cwd] };
    const files = {
      'no-name': '---\ndescription: Has no name.\n---\nBody.\n',
      'no-description': '---\nname: no-description\n---\nBody.\n',
      'bad-yaml': '---\nname: bad-yaml\ndescription: Not: YAML\n---\nBody.\n',
      'group/nested': '---\nname: nested\ndescription: Is too deep.\n---\nBody.\n',
      // The prompt has every skill, however many there are.
      ...Object.fromEntries(
        Array.from({ length: 100 }, (_, at) => [
          `skill-${String(at)}`,
          `---\nname: skill-${String(at)}\ndescription: ${'Does things with files. '.repeat(20)}\n---\nBody.\n`,
        ]),
      ),
    };
    for (const [folder, text] of Object.entries(files)) {
      mkdirSync(path.join(root, folder), { recursive: true });
      writeFileSync(path.join(root, folder, 'SKILL.md'), text);
    }
    const { call, instructions } = await openSkillTools({ vocabulary: 'manusx', runtime });
    const listed = instructions.match(/^- .*?: .{5,}$/gm)?.map((line) => line.replace(/: .*/, ''));
    expect(listed?.filter((line) => !line.startsWith('- skill-'))).toEqual(['- data-analysis', '- pdf']);
    expect(listed).toHaveLength(102);
    for (const skill_name of ['no-name', 'no-description', 'bad-yaml', 'nested'])
      expect((await call('skill_request', { skill_name })).value).toMatchObject({ success: false });
    expect((await call('file_read', { file: 'pdf/scripts/extract_tables.py' })).value).toEqual({
      success: true,
      data: { content: script },
    });
  });

  test('a SKILL.md that does not start with the line --- is in no list, and its request says why', async () => {
    const root = skillsFolder();
    const fields = 'name: late\ndescription: Starts late.\n';
    mkdirSync(path.join(root, 'late'));
    for (const text of [
      `\n---\n${fields}---\n`,
      `\uFEFF---\n${fields}---\n`,
      ` ---\n${fields}---\n`,
      `---\n${fields}...\n`,
    ]) {
      writeFileSync(path.join(root, 'late/SKILL.md'), `${text}Body.\n`);
      const { instructions, call } = await manusx(root);
      expect(instructions).not.toContain('late');
      expect((await call('skill_request', { skill_name: 'late' })).value).toEqual({
        success: false,
        message: "Skill 'late' not found",
        hint: expect.stringMatching(/^the SKILL.md of "late" cannot be used: /),
      });
    }
  });

  test('a skill as the document shows it passes check, and one without a body is reported', () => {
    const codes = (text: string): readonly string[] => {
      const dir = path.join(scratch(), 'my-skill');
      mkdirSync(dir);
      writeFileSync(path.join(dir, 'SKILL.md'), text);
      return checkSkill(dir, 'SKILL.md', { mode: 'strict' }).diagnostics.map(({ code }) => code);
    };
    const head = '---\nname: my-skill\ndescription: Brief description of what this skill does (~100 tokens)\n---\n';
    const body = '\n# My Skill Title\n\nDetailed instructions for the LLM.\n\n## Section 1\n\nInstructions...\n';
    expect([codes(`${head}${body}`), codes(head)]).toEqual([[], ['body/empty']]);
  });

  test('resources of nested folders are listed, and folders of other names are not', async () => {
    const root = skillsFolder();
    mkdirSync(path.join(root, 'pdf/references/deep/er'), { recursive: true });
    writeFileSync(path.join(root, 'pdf/references/deep/er/a.md'), 'a');
    mkdirSync(path.join(root, 'pdf/notes'));
    writeFileSync(path.join(root, 'pdf/notes/n.md'), 'n');
    symlinkSync('../assets', path.join(root, 'pdf/references/linked'));
    const { call } = await manusx(root);
    const { text } = await call('skill_request', { skill_name: 'pdf' });
    const listed = ['- references/deep/er/a.md', 'notes/n.md', 'references/linked'].map((name) => text.includes(name));
    expect(listed).toEqual([true, false, false]);
  });

  test('of two folders with one name the first by path is used, whichever is newer, and the other is not read', async () => {
    const root = skillsFolder();
    for (const [folder, mtime] of [
      ['dup-a', 1_700_000_000],
      ['dup-b', 1_800_000_000],
    ] as const) {
      writeSkill(path.join(root, folder), { name: 'dup', description: `Is ${folder}.`, mtime });
      mkdirSync(path.join(root, folder, 'scripts'));
      writeFileSync(path.join(root, folder, 'scripts/run.py'), folder);
    }
    const { call, instructions } = await manusx(root);
    expect(instructions).toContain('- dup: Is dup-a.\n');
    expect((await call('file_read', { file: `${root}/dup-a/scripts/run.py` })).value).toEqual({
      success: true,
      data: { content: 'dup-a' },
    });
    expect((await call('file_read', { file: `${root}/dup-b/scripts/run.py` })).value).toMatchObject({ success: false });
    expect((await call('skill_request', { skill_name: 'dup-b' })).value).toEqual({
      success: false,
      message: "Skill 'dup-b' not found",
      hint: 'The folder "dup-b" declares the name "dup", and the skill of another folder is used for it. Nearest: dup.',
    });
  });

  test('a relative path of a skill that is not loaded is refused', async () => {
    const { call } = await manusx();
    expect((await call('file_read', { file: 'scripts/extract_tables.py' })).value).toEqual({
      success: false,
      message:
        '"scripts/extract_tables.py" is a file of no loaded skill. Request the skill with skill_request first, or name it: <skill>/<path in the skill>.',
    });
  });

  test('a skill stays loaded however many are requested after it', async () => {
    const root = skillsFolder();
    const names = Array.from({ length: 12 }, (_, at) => `other-${String(at)}`);
    for (const name of names) writeSkill(path.join(root, name));
    const { call } = await manusx(root);
    for (const skill_name of ['pdf', ...names]) await call('skill_request', { skill_name });
    expect((await call('file_read', { file: 'scripts/extract_tables.py' })).value).toMatchObject({ success: true });
  });

  test('the whole guide is returned, whatever its length and however often it is requested', async () => {
    const root = skillsFolder();
    const long = 'A step.\n'.repeat(2_000);
    writeFileSync(
      path.join(root, 'data-analysis/SKILL.md'),
      `---\nname: data-analysis\ndescription: D.\n---\n\n${long}`,
    );
    const { call } = await manusx(root);
    for (const _ of [1, 2, 3])
      expect((await call('skill_request', { skill_name: 'data-analysis' })).value).toMatchObject({
        data: { content: expect.stringContaining(long.trim()) },
      });
  });
});

test('the runtime lists the skills that its sessions give, and names the others as left out', async () => {
  const home = scratch();
  const root = path.join(scratch(), 'backend/skills');
  const write = (folder: string, head: string): void => {
    mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(path.join(root, folder, 'SKILL.md'), `---\n${head}\n---\n\n# ${folder}\n`);
  };
  write('a1', 'name: same\ndescription: The first.');
  write('b1', 'name: same\ndescription: The second.');
  write('nodesc', 'name: nodesc');
  utimesSync(path.join(root, 'b1/SKILL.md'), new Date(), new Date(Date.now() + 60_000));
  const runtime = await createRuntime({
    cwd: scratch(),
    home,
    env: {},
    roots: [root],
    onlyRoots: true,
    cache: false,
    vocabulary: 'manusx',
  });
  const session = await runtime.startSession();
  const shown = ({ skills }: typeof runtime.index): unknown => skills.map(({ dir }) => path.basename(dir));
  expect([shown(runtime.index), shown(session.index)]).toEqual([['a1'], ['a1']]);
  expect(shown(await runtime.refresh())).toEqual(['a1']);
  expect(runtime.find('same').description).toBe('The first.');
  expect((await runtime.searchSkills('first second')).map(({ description }) => description)).toEqual(['The first.']);
  expect(runtime.index.report.leftOut).toEqual([expect.objectContaining({ path: path.join(root, 'nodesc/SKILL.md') })]);
  expect(() => runtime.find('nodesc')).toThrow('the skill in the folder "nodesc" is left out');
});

test.each([
  { vocabulary: 'manusx', tool: 'skill_request' },
  { vocabulary: 'openseed', tool: 'load_skill' },
] as const)('$vocabulary: a conversation keeps a skill over the next messages', async ({ vocabulary, tool }) => {
  const runtime = await runtimeOver(skillsFolder());
  const session = await runtime.startSession({ vocabulary, keepsConversation: true });
  const { call } = buildSkillTools(session, runtime);
  expect((await call(tool, { skill_name: 'pdf' })).text).toContain('PDF Processing Skill');
  session.startTurn();
  expect((await call(tool, { skill_name: 'pdf' })).text).not.toContain('PDF Processing Skill');
  if (vocabulary === 'openseed') return;
  session.startTurn();
  expect((await call('file_read', { file: 'scripts/extract_tables.py' })).value).toMatchObject({ success: true });
});

test('files below .git and node_modules are not listed', async () => {
  const root = skillsFolder();
  for (const folder of ['pdf/scripts/node_modules/x', 'pdf/assets/.git']) {
    mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(path.join(root, folder, 'index.js'), '');
  }
  const { text } = await (await manusx(root)).call('skill_request', { skill_name: 'pdf' });
  expect(text).not.toMatch(/node_modules|\.git/);
  const { call } = await openSkillTools({ vocabulary: 'openseed', runtime: await runtimeOver(root) });
  expect((await call('list_skill_assets', { skill_name: 'pdf' })).value).toEqual([
    'assets/template.html',
    'references/pdf_spec.md',
    'scripts/extract_tables.py',
  ]);
});

test('a skill without body and files is found, also if its file ends with the frontmatter', async () => {
  const root = path.join(scratch(), 'backend/skills');
  mkdirSync(path.join(root, 'bare'), { recursive: true });
  writeFileSync(path.join(root, 'bare/SKILL.md'), '---\nname: bare\ndescription: Has no body.\n---');
  for (const config of [{}, { format: { mode: 'strict' } }]) {
    const tools = await openSkillTools({ vocabulary: 'manusx', runtime: await runtimeOver(root, config) });
    expect((await tools.call('skill_request', { skill_name: 'bare' })).value).toEqual({
      success: true,
      data: { content: '' },
    });
  }
});

test('file_read reads documents and the files of the three folders, and says where an offset must lie', async () => {
  const root = skillsFolder();
  for (const file of ['forms.md', 'config.json']) writeFileSync(path.join(root, 'pdf', file), 'short\u0007\u007f\n');
  const { call } = await manusx(root);
  expect((await call('file_read', { file: `${root}/pdf/forms.md` })).value).toMatchObject({
    success: true,
    data: { content: expect.stringMatching(/^short\n/) },
  });
  expect((await call('file_read', { file: `${root}/pdf/config.json` })).value).toMatchObject({ success: false });
  expect((await call('file_read', { file: `${root}/pdf/forms.md`, offset: 100 })).text).toMatch(
    /has \d characters; offset 100 was requested. Use the offset in characters/,
  );
});

test('a body of more lines than any text needs is shown whole', async () => {
  const root = path.join(scratch(), 'backend/skills');
  writeSkill(path.join(root, 'long'), { body: `${'a\n'.repeat(150_000)}end\n` });
  const runtime = await createRuntime({
    cwd: root,
    home: undefined,
    env: {},
    roots: [root],
    onlyRoots: true,
    cache: false,
    vocabulary: 'manusx',
  });
  const { text } = await (
    await openSkillTools({ runtime, vocabulary: 'manusx' })
  ).call('skill_request', { skill_name: 'long' });
  expect(text).toMatch(/end"\}\}$/);
});

test('without skills the catalog is empty, and new skills go where DOCUMENT_ROOT is read', async () => {
  const cwd = scratch();
  const documents = path.join(scratch(), 'documents');
  const surroundings = { cwd, home: scratch(), env: { DOCUMENT_ROOT: documents } };
  const options = { ...surroundings, cache: false } as const;
  expect((await createRuntime({ ...options, vocabulary: 'manusx' })).catalog().text).toBe('');
  const root = (vocabulary: 'openseed' | 'manusx'): unknown => {
    const settings = packSettings(surroundings, { vocabulary });
    return 'root' in settings ? settings.root : settings;
  };
  expect(root('openseed')).toBe(path.join(documents, 'skills'));
  expect(root('manusx')).toBe(path.join(cwd, 'backend/skills'));
});
