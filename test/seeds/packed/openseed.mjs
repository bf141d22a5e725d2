// The example of document 000: find a skill, load its SOP, load its specification, run its script by its path.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools } from 'skillwright/tools';

const DOCUMENT_ROOT = path.resolve('documents');
const skill = path.join(DOCUMENT_ROOT, 'skills/file-diff');
for (const folder of ['scripts', 'references']) mkdirSync(path.join(skill, folder), { recursive: true });
const SKILL_MD =
  '---\nname: file-diff\ndescription: 两文件 1:1 比对, compare two files.\n---\n\n# SOP\n\n1. compare.py\n';
writeFileSync(path.join(skill, 'SKILL.md'), SKILL_MD);
writeFileSync(path.join(skill, 'references/SPEC.md'), '# 文档规范\n');
writeFileSync(
  path.join(skill, 'scripts/compare.py'),
  'import sys\nprint(open(sys.argv[1]).read() == open(sys.argv[2]).read())\n',
);
mkdirSync(path.join(DOCUMENT_ROOT, 'skills/no-description'));
writeFileSync(path.join(DOCUMENT_ROOT, 'skills/no-description/SKILL.md'), '---\nname: no-description\n---\nBody\n');

const { call, session } = await openSkillTools({
  vocabulary: 'openseed',
  runtime: {
    cwd: process.cwd(),
    env: { DOCUMENT_ROOT, PATH: process.env.PATH },
    home: path.resolve('home'),
    builtin: false,
  },
  execution: { executor: 'local', artifacts: false },
});
const value = async (name, input) => (await call(name, input)).value;
assert.deepEqual(await value('list_skills', {}), ['file-diff']);
assert.deepEqual(await value('search_skills', { query: '比对' }), [
  { name: 'file-diff', description: '两文件 1:1 比对, compare two files.' },
]);
assert.equal(await value('load_skill', { skill_name: 'File-Diff' }), SKILL_MD);
assert.equal(
  await value('load_skill_asset', { skill_name: 'file-diff', relative_path: 'references/SPEC.md' }),
  '# 文档规范\n',
);
assert.deepEqual(await value('list_skill_assets', { skill_name: 'file-diff' }), [
  'references/SPEC.md',
  'scripts/compare.py',
]);
const script = path.join(skill, 'scripts/compare.py');
assert.equal(await value('get_skill_script_path', { skill_name: 'file-diff', script_name: 'compare.py' }), script);
const ran = await call('run_shell_command', {
  command: `echo a > file1; cp file1 file2; python3 ${script} file1 file2`,
});
assert.match(ran.text, /True/);
for (const relative_path of ['../no-description/SKILL.md', '/etc/passwd'])
  assert.equal((await call('load_skill_asset', { skill_name: 'file-diff', relative_path })).isError, true);
assert.match((await call('load_skill', { skill_name: 'xxx' })).text, /^Skill not found: xxx/);
await session.close();
