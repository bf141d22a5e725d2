// The examples of documents 001 and 004: the index entry, the list for the model, and a run of structured actions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openSkillTools } from 'skillwright/tools';

const repo = path.resolve('repo');
const home = path.resolve('user');
const skill = path.join(repo, '.agent/skills/pdf-form-filler');
for (const folder of ['reference', 'scripts']) mkdirSync(path.join(skill, folder), { recursive: true });
mkdirSync(path.join(home, '.agent/skills/code-review'), { recursive: true });
const description = 'Extract and fill PDF form fields using Python';
writeFileSync(
  path.join(skill, 'SKILL.md'),
  `---\nname: pdf-form-filler\ndescription: ${description}\nversion: 1.0.0\nauthor: team\nallowed-tools: ["read_file", "run_script"]\n---\n\nBODY\n`,
);
writeFileSync(path.join(skill, 'reference/kpi.md'), '# KPI\n\nINTRO\n\n## 指标定义\n\nRevenue is money.\n');
writeFileSync(path.join(skill, 'scripts/aggregate.py'), 'print("aggregated")\n');
writeFileSync(
  path.join(home, '.agent/skills/code-review/SKILL.md'),
  '---\nname: code-review\ndescription: Review a Python codebase with our standards\n---\n\nREVIEW\n',
);
writeFileSync(
  path.join(repo, '.agent/config.json'),
  JSON.stringify({ skill_roots: ['.agent/skills', '~/.agent/skills'], model: { provider: 'mock', params: {} } }),
);
const action = (type, payload) => ({ text: JSON.stringify({ action: { type, payload } }) });
writeFileSync(
  path.join(repo, 'script.json'),
  JSON.stringify({
    turns: [
      action('select_skills', { skills: [{ name: 'pdf-form-filler', source: 'project' }], reason: 'a form' }),
      action('load_resource', {
        skill: { name: 'pdf-form-filler', source: 'project' },
        relative_path: 'reference/kpi.md',
        section_hint: '## 指标定义',
      }),
      action('final_answer', { answer: '完成' }),
    ],
  }),
);
const command = path.resolve(
  'node_modules/skillwright',
  JSON.parse(readFileSync('node_modules/skillwright/package.json')).bin.skillwright,
);
const skillwright = (...args) =>
  execFileSync(process.execPath, [command, ...args], {
    cwd: repo,
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });

const index = JSON.parse(skillwright('list', '--json', '--format', 'seed')).skills;
const { skill_id: id, ...entry } = index.find(({ name }) => name === 'pdf-form-filler');
assert.equal(id, 'project/pdf-form-filler@1.0.0');
assert.deepEqual(entry, {
  name: 'pdf-form-filler',
  description,
  source: 'project',
  path: skill,
  controls: { disable_model_invocation: false, user_invocable: true, allowed_tools: ['read_file', 'run_script'] },
  meta: { version: '1.0.0', author: 'team' },
});
assert.equal(index.find(({ name }) => name === 'code-review').source, 'user');

const { instructions, session } = await openSkillTools({
  vocabulary: 'skills-agent',
  runtime: { cwd: repo, home, env: {}, vouched: [repo], builtin: false, cache: false },
});
assert.ok(
  instructions.includes(
    `Available Skills:\n- name=code-review | source=user | description=Review a Python codebase with our standards\n- name=pdf-form-filler | source=project | description=${description}`,
  ),
  instructions,
);
await session.close();

const acting = ['--protocol', 'actions', '--vocabulary', 'skills-agent', '--executor', 'none', '--trust-project'];
const lines = skillwright('run', '  完成用户任务 ', '--model', 'scripted:script.json', '--json', ...acting)
  .trim()
  .split('\n');
const { result } = JSON.parse(lines.at(-1));
assert.equal(result.answer, '完成');
const [run] = JSON.parse(skillwright('runs', '--json')).runs;
const record = JSON.parse(readFileSync(path.join(repo, '.agent/runs', run.id ?? run.run, 'run.json'), 'utf8'));
assert.equal(record.request, '  完成用户任务 ');
assert.equal(record.normalizedRequest, '完成用户任务');
assert.deepEqual(record.phases, [
  'Init',
  'IndexSkills',
  'Decide',
  'LoadSkillBody',
  'Decide',
  'Act',
  'Observe',
  'Decide',
  'Final',
]);
assert.equal(record.resources[0].path, 'reference/kpi.md');
