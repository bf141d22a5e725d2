// Document 003 from its start to its end, in an empty project: prompt, skill_request, file_read, pip, file_write, shell, answer.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools } from 'skillwright/tools';

const project = path.resolve('manusx-project');
const home = path.resolve('manusx-home');
const skills = path.join(project, 'backend/skills');
const write = (file, text) => {
  mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
  writeFileSync(path.join(project, file), text);
};

const description = 'Process PDF files - extract text, read content, create PDFs, merge or split documents.';
const body = [
  '# PDF Processing Skill',
  'You now have expertise in PDF file processing.',
  '## Reading PDFs',
  '### Using pdftotext (Recommended)',
  '```bash\npdftotext input.pdf output.txt\n```',
  '### Using Python PyMuPDF',
  '```python\nimport fitz\ndoc = fitz.open("input.pdf")\nfor page in doc:\n    print(page.get_text())\n```',
  '## Key Libraries',
  '| Library | Use Case |\n|---------|----------|\n| PyMuPDF | Read, write, merge |\n| pdfplumber | Table extraction |',
].join('\n\n');
write('backend/skills/pdf/SKILL.md', `---\nname: pdf\ndescription: ${description}\n---\n\n${body}\n`);
write('backend/skills/pdf/scripts/extract_tables.py', 'print("tables")\n');
write('backend/skills/pdf/references/pdf_spec.md', '# Spec\n');
write('backend/skills/pdf/assets/template.html', '<html>...</html>\n');
write('backend/skills/data-analysis/SKILL.md', '---\nname: data-analysis\ndescription: Analyse data.\n---\n\n# Data\n');
write('backend/skills/data-analysis/scripts/analyze.py', 'print("analysis")\n');
// `SkillLoader(skills_dir)`: the program names its folder.
// Packages are kept here, and programs of another user can reach them.
mkdirSync(home, { recursive: true });
chmodSync('.', 0o755);
const runtime = { cwd: project, home, roots: [skills], env: { PATH: process.env.PATH, TMPDIR: home } };
const open = (more) => openSkillTools({ vocabulary: 'manusx', runtime, ...more });

const local = await open({ execution: { executor: 'local', artifacts: false } });
assert.equal(
  local.instructions.trim(),
  `## Available Skills\n\nYou have access to the following domain expertise:\n- data-analysis: Analyse data.\n- pdf: ${description}\n\nWhen a task matches a skill, request its full content.`,
);
assert.deepEqual(
  local.tools.map(({ name }) => name),
  ['skill_request', 'file_read', 'shell_exec', 'file_write'],
);
const content = `${body}\n\n## Available Resources\nDirectory: ${skills}/pdf\n- scripts/extract_tables.py\n- references/pdf_spec.md\n- assets/template.html\n`;
for (const _ of [1, 2, 3])
  assert.deepEqual((await local.call('skill_request', { skill_name: 'pdf' })).value, {
    success: true,
    data: { content },
  });
for (const file of ['scripts/extract_tables.py', `${skills}/pdf/scripts/extract_tables.py`])
  assert.deepEqual((await local.call('file_read', { file })).value, {
    success: true,
    data: { content: 'print("tables")\n' },
  });
const written = await local.call('file_write', { file: 'extract.py', content: 'print("extracted")\n' });
assert.equal(written.value.success, true, written.text);
assert.equal((await local.call('shell_exec', { command: 'python extract.py' })).value.data.stdout, 'extracted\n');
const byPath = await local.call('shell_exec', { command: `python ${skills}/pdf/scripts/extract_tables.py` });
assert.equal(byPath.value.data.stdout, 'tables\n');
const missing = (await local.call('skill_request', { skill_name: 'x' })).value;
assert.equal(missing.success, false);
assert.match(missing.message, /^Skill 'x' not found/);
await local.session.close();

// The flow chart with a sandbox, if there is one: `pip install` installs for the session, from a wheel, so without a network.
const flow = [
  ['skill_request', { skill_name: 'pdf' }],
  ['shell_exec', { command: 'pip install pdfplumber' }],
  ['file_write', { file: 'extract.py', content: 'import pdfplumber\nprint(pdfplumber.tables("input.pdf"))\n' }],
  ['shell_exec', { command: 'python extract.py' }],
];
if (process.argv.includes('--sandbox')) {
  const wheels = path.join(project, 'wheels');
  mkdirSync(wheels);
  const wheel = 'pdfplumber-0.11.4-py3-none-any.whl';
  execFileSync('python3', [
    '-c',
    `import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1], 'w')
wheel.writestr('pdfplumber.py', 'def tables(path): return [[path, 1], [2, 3]]\\n')
info = 'pdfplumber-0.11.4.dist-info/'
wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: pdfplumber\\nVersion: 0.11.4\\n')
wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
wheel.writestr(info + 'RECORD', '')
wheel.close()`,
    path.join(wheels, wheel),
  ]);
  assert.deepEqual(readdirSync(wheels), [wheel]);
  const unnamed = await open({ execution: { executor: 'bubblewrap', packages: { wheels } } });
  const refused = await unnamed.call(...flow[1]);
  assert.match(refused.value.message, /needs approval.*packages\.with/);
  await unnamed.session.close();

  const questions = [];
  const approve = async ({ tool, detail }) => {
    questions.push([tool, detail.requested]);
    return { verdict: 'yes', scope: 'once' };
  };
  for (const more of [
    { execution: { executor: 'bubblewrap', packages: { wheels } }, approve },
    // The one switch for a program without a person.
    { execution: { executor: 'bubblewrap', packages: { wheels, with: ['pdfplumber'] } } },
  ]) {
    const { call, session } = await open(more);
    const answers = [];
    for (const [name, input] of flow) answers.push(await call(name, input));
    assert.deepEqual(
      answers.map(({ value }) => value.success),
      [true, true, true, true],
      answers.map(({ text }) => text).join('\n'),
    );
    assert.match(answers[1].value.data.stdout, /pdfplumber/);
    assert.deepEqual(
      [answers[3].value.data.stdout, answers[3].value.data.exit_code],
      ["[['input.pdf', 1], [2, 3]]\n", 0],
      answers.map(({ text }) => text).join('\n'),
    );
    await session.close();
  }
  assert.deepEqual(questions, [['install_packages', ['pdfplumber']]]);
}

// The same from the command line: one setting, and a model that plays the part of the agent.
const turns = [flow[0], ['file_write', { file: 'extract.py', content: 'print([[1, 2]])\n' }], flow[3]];
const config = {
  vocabulary: 'manusx',
  model: {
    provider: 'mock',
    params: {
      turns: [
        ...turns.map(([name, input]) => ({ toolCalls: [{ name, input }] })),
        { expect: { contains: ['[[1, 2]]'] }, text: '表格：1, 2' },
      ],
    },
  },
  policy: { allow: ['run_command', 'unsafe_local'] },
};
mkdirSync(path.join(home, '.agent'), { recursive: true });
writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify(config));
const command = path.resolve('node_modules/skillwright/dist/command/skillwright.js');
const words = [command, 'run', '帮我提取这个 PDF 文件中的表格', '--executor', 'local', '--root', skills, '-q'];
const env = { ...process.env, HOME: home };
assert.match(execFileSync(process.execPath, words, { cwd: project, env, encoding: 'utf8' }), /表格：1, 2/);
assert.equal(readFileSync(path.join(skills, 'pdf/scripts/extract_tables.py'), 'utf8'), 'print("tables")\n');
