// Document 000 from its start to its end, in an empty project: search, list, load, specification, script path, shell.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools } from 'skillwright/tools';

const project = path.resolve('openseed-project');
const home = path.resolve('openseed-home');
const DOCUMENT_ROOT = path.join(project, 'documents');
const skills = path.join(DOCUMENT_ROOT, 'skills');
const write = (file, text) => {
  mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
  writeFileSync(path.join(project, file), text);
};

const SKILL_MD = '---\nname: file-diff\ndescription: 两文件 1:1 比对，格式校验。\n---\n\n# SOP\n\n1. compare.py\n';
write('documents/skills/file-diff/SKILL.md', SKILL_MD);
write('documents/skills/file-diff/references/SPEC.md', '# 文档规范\n');
write('documents/skills/file-diff/references/FORMS.md', '一行规范。\n'.repeat(10_000));
write('documents/skills/file-diff/assets/template.md', '# 模板\n');
write(
  'documents/skills/file-diff/scripts/compare.py',
  'import sys\nprint(open(sys.argv[1]).read() == open(sys.argv[2]).read())\n',
);
write('documents/skills/data-analysis/SKILL.md', '---\nname: data-analysis\ndescription: 分析数据。\n---\n正文\n');
write('documents/skills/no-name/SKILL.md', '---\ndescription: 两文件比对。\n---\n正文\n');
write('documents/skills/no-description/SKILL.md', '---\nname: no-description\n---\n正文\n');
write('documents/skills/bad-yaml/SKILL.md', '---\nname: bad-yaml\ndescription: 比对: [两文件\n---\n正文\n');
write('documents/skills/notes/README.md', '没有 SKILL.md\n');
// Two folders that declare one name: each is a skill by its folder.
for (const folder of ['twin-a', 'twin-b']) {
  write(`documents/skills/${folder}/SKILL.md`, '---\nname: twin\ndescription: 打印名字。\n---\n正文\n');
  write(`documents/skills/${folder}/scripts/run.py`, `print('${folder}')\n`);
}
write('file1', 'a\n');
write('file2', 'a\n');
mkdirSync(home);
// Programs of another user see the project.
chmodSync('.', 0o755);

const runtime = { cwd: project, home, env: { DOCUMENT_ROOT, PATH: process.env.PATH } };
const execution = { executor: 'local', artifacts: false };
const { call, session, tools } = await openSkillTools({ vocabulary: 'openseed', runtime, execution });
const value = async (name, input) => (await call(name, input)).value;

assert.deepEqual(
  tools.map(({ name }) => name),
  [
    'search_skills',
    'load_skill',
    'load_skill_asset',
    'get_skill_script_path',
    'list_skill_assets',
    'list_skills',
    'run_shell_command',
  ],
);
const found = [{ name: 'file-diff', description: '两文件 1:1 比对，格式校验。' }];
for (const query of ['比对', '比对 file1 和 file2']) assert.deepEqual(await value('search_skills', { query }), found);
assert.deepEqual(await value('search_skills', { query: '格式校验', n: 1 }), found);
assert.deepEqual(await value('list_skills', {}), ['data-analysis', 'file-diff', 'twin-a', 'twin-b']);
assert.equal(await value('load_skill', { skill_name: 'File-Diff' }), SKILL_MD);
for (const skill_name of ['no-name', 'no-description'])
  assert.match(await value('load_skill', { skill_name }), /^---\n[^]*正文\n$/);
for (const [skill_name, reason] of [
  ['bad-yaml', /YAML|quotes/],
  ['notes', /^Skill not found: notes/],
  ['xxx', /^Skill not found: xxx/],
]) {
  const { isError, text } = await call('load_skill', { skill_name });
  assert.equal(isError, true, text);
  assert.match(text, reason);
}

const asset = (relative_path) => call('load_skill_asset', { skill_name: 'file-diff', relative_path });
assert.equal((await asset('references/SPEC.md')).value, '# 文档规范\n');
assert.equal((await asset('references/FORMS.md')).value.length, 60_000);
for (const refused of ['../data-analysis/SKILL.md', '/etc/passwd', 'references/../../x', 'references/missing.md'])
  assert.equal((await asset(refused)).isError, true, refused);
assert.deepEqual(await value('list_skill_assets', { skill_name: 'file-diff' }), [
  'assets/template.md',
  'references/FORMS.md',
  'references/SPEC.md',
  'scripts/compare.py',
]);
const script = await value('get_skill_script_path', { skill_name: 'file-diff', script_name: 'compare.py' });
assert.equal(script, path.join(skills, 'file-diff/scripts/compare.py'));
assert.equal((await call('get_skill_script_path', { skill_name: 'file-diff', script_name: 'x.py' })).isError, true);
const ran = await value('run_shell_command', { command: `python ${script} file1 file2` });
assert.deepEqual([ran.stdout, ran.exit_code], ['True\n', 0]);
for (const folder of ['twin-a', 'twin-b'])
  assert.equal(
    (await value('run_shell_command', { command: `python ${skills}/${folder}/scripts/run.py` })).stdout,
    `${folder}\n`,
  );
// The file is missing, not a program.
const missing = await value('run_shell_command', { command: `python ${script} file1 file3` });
assert.deepEqual([missing.exit_code, missing.warnings.filter((text) => text.includes('is missing'))], [1, []]);
await session.close();

// Without a root: empty lists, and "not found".
const empty = await openSkillTools({ vocabulary: 'openseed', runtime: { ...runtime, env: {} } });
assert.deepEqual((await empty.call('list_skills', {})).value, []);
assert.deepEqual((await empty.call('search_skills', { query: '比对' })).value, []);
assert.match((await empty.call('load_skill', { skill_name: 'file-diff' })).text, /^Skill not found: file-diff/);
await empty.session.close();

// The same from the command line: one setting, and a model that plays the part of the agent.
const turns = [
  ['search_skills', { query: '比对' }],
  ['load_skill', { skill_name: 'file-diff' }],
  ['get_skill_script_path', { skill_name: 'file-diff', script_name: 'compare.py' }],
  ['run_shell_command', { command: `python ${script} file1 file2` }],
].map(([name, input]) => ({ toolCalls: [{ name, input }] }));
const config = {
  vocabulary: 'openseed',
  model: {
    provider: 'mock',
    params: { turns: [...turns, { expect: { contains: ['True'] }, text: '两文件相同。' }] },
  },
  policy: { allow: ['run_command', 'unsafe_local'] },
};
mkdirSync(path.join(home, '.agent'));
writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify(config));
const command = path.resolve('node_modules/skillwright/dist/command/skillwright.js');
const words = [command, 'run', '比对 file1 和 file2', '--executor', 'local', '-q'];
const env = { ...process.env, HOME: home, DOCUMENT_ROOT };
assert.match(execFileSync(process.execPath, words, { cwd: project, env, encoding: 'utf8' }), /两文件相同。/);
