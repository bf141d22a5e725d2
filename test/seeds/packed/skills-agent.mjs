// Documents 001 and 004 in an empty project: their files, their configuration, their actions, and the acceptance criteria of section 13.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { buildIndex } from 'skillwright';
import { openSkillTools } from 'skillwright/tools';

const repo = path.resolve('repo');
const home = path.resolve('user');
const write = (file, text) => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const inRepo = (file, text) => write(path.join(repo, file), text);
const command = path.resolve(
  'node_modules/skillwright',
  JSON.parse(readFileSync('node_modules/skillwright/package.json')).bin.skillwright,
);
const skillwright = (...args) => {
  const env = { PATH: process.env.PATH, HOME: home };
  const ended = spawnSync(process.execPath, [command, ...args], { cwd: repo, env, encoding: 'utf8', input: '' });
  return { status: ended.status, out: ended.stdout, err: ended.stderr };
};

// 001, sections 5 and 6: the project. 004, section 2.2: the skills.
const skill = path.join(repo, '.agent/skills/pdf-form-filler');
const description = 'Extract and fill PDF form fields using Python';
inRepo(
  '.agent/skills/pdf-form-filler/SKILL.md',
  `---\nname: pdf-form-filler\ndescription: ${description}\nversion: 1.0.0\nauthor: team\ndisable-model-invocation: false\nuser-invocable: true\nallowed-tools: ["read_file", "run_script"]\n---\n\nBODY\n`,
);
inRepo(
  '.agent/skills/pdf-form-filler/reference/kpi.md',
  '# KPI\n\nINTRO\n\n## 指标定义\n\nRevenue is money.\n\n## Rest\n\nREST\n',
);
inRepo('.agent/skills/pdf-form-filler/scripts/aggregate.sh', 'echo "aggregated $*"\n');
write(
  path.join(home, '.agent/skills/code-review/SKILL.md'),
  '---\nname: code-review\ndescription: Review a Python codebase with our standards\n---\n\nREVIEW\n',
);
const source = 'project';
const pdf = { name: 'pdf-form-filler', source };
const PLAN = {
  goal: '完成用户任务',
  steps: [
    { id: 's1', title: '选择并加载相关技能', status: 'pending' },
    { id: 's2', title: '按技能流程执行脚本或读取资源', status: 'pending' },
    { id: 's3', title: '自检并输出最终结果', status: 'pending' },
  ],
  assumptions: [],
  constraints: { max_turns: 12, max_tool_calls: 30 },
};
const SELECT = { type: 'select_skills', skills: [pdf], reason: '表单' };
const LOAD = { type: 'load_resource', skill: pdf, relative_path: 'reference/kpi.md', section_hint: '## 指标定义' };
const RUN = { type: 'run_script', skill: pdf, relative_path: 'scripts/aggregate.sh', args: ['--input', '...'] };
const ANSWER = { type: 'final_answer', answer: '完成' };
/** `.agent/config.json` of section 3.3, with the vocabulary. */
const configure = (turns) => {
  inRepo(
    '.agent/config.json',
    JSON.stringify({
      vocabulary: 'skills-agent',
      skill_roots: ['.agent/skills', '~/.agent/skills'],
      model: { provider: 'mock' },
      execution: { require_approval_for: ['write_file', 'run_script', 'network'] },
      security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true },
    }),
  );
  // A project cannot decide what the model does.
  writeFileSync(path.join(home, '.agent/config.json'), JSON.stringify({ model: { params: { turns } } }));
};
const lastRun = () => {
  const runs = path.join(repo, '.agent/runs');
  const folder = path.join(
    runs,
    readdirSync(runs)
      .filter((name) => /^\d{8}T/.test(name))
      .toSorted()
      .at(-1),
  );
  const read = (file) => readFileSync(path.join(folder, file), 'utf8');
  return { record: JSON.parse(read('run.json')), events: read('events.jsonl') };
};

// 13: in an empty project with some skill folders, the agent lists the index from metadata.
configure([PLAN, SELECT, LOAD, ANSWER]);
const { skills: index, report } = JSON.parse(skillwright('list', '--json', '--format', 'seed').out);
const { skill_id: id, ...entry } = index.find(({ name }) => name === 'pdf-form-filler');
assert.equal(id, 'project/pdf-form-filler@1.0.0');
assert.deepEqual(entry, {
  name: 'pdf-form-filler',
  description,
  source,
  path: skill,
  controls: { disable_model_invocation: false, user_invocable: true, allowed_tools: ['read_file', 'run_script'] },
  meta: { version: '1.0.0', author: 'team' },
});
assert.equal(index.find(({ name }) => name === 'code-review').source, 'user');
assert.deepEqual(report.ignored, []);
const roots = [
  { source, path: path.join(repo, '.agent/skills') },
  { source: 'user', path: path.join(home, '.agent/skills') },
];
assert.deepEqual(
  (await buildIndex(roots, { mode: 'strict' })).skills.map(({ name }) => name),
  ['code-review', 'pdf-form-filler'],
);
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

// 13: only the body of the triggered skill is in the context, and a resource only after load_resource.
const first = skillwright('run', '  完成用户任务 ', '--trust-project', '--executor', 'none');
assert.deepEqual([first.status, first.out], [0, '完成\n'], first.err);
const { record, events } = lastRun();
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
assert.deepEqual(
  record.resources.map((one) => one.path),
  ['reference/kpi.md'],
);
assert.match(events, /BODY/);
assert.match(events, /Revenue is money/);
assert.doesNotMatch(events, /REVIEW|INTRO|REST/);

// 13: a tool that the skill does not allow cannot be called, and high risk needs approval; a script that does not exist costs nothing.
configure([SELECT, { type: 'write_file', path: 'x.txt', content: 'x' }, ANSWER]);
const denied = skillwright('run', '写文件', '--trust-project', '--yes', '--executor', 'none');
assert.equal(denied.status, 3);
assert.match(denied.err, /not in allowed-tools/);
configure([{ ...RUN, relative_path: 'scripts/agregate.sh' }, RUN, ANSWER]);
const asked = skillwright('run', '执行', '--trust-project');
assert.equal(asked.status, 3);
assert.match(asked.err, /has no script/);
assert.match(asked.err, /to approve exactly this once, run: skillwright runs resume/);
assert.deepEqual(
  lastRun().record.programs.map(({ reason }) => reason),
  ['script/unknown', 'approval/needed'],
);

// 13: a zip of skills installs; path traversal, no SKILL.md and, in strict mode, no name are refused. 004, section 5: newer wins.
const head = (name) => strToU8(`---\nname: ${name}\ndescription: One.\n---\n\nBody\n`);
write(
  path.join(repo, 'skills-pack.zip'),
  zipSync({
    'skill-name-1/SKILL.md': head('skill-name-1'),
    'skill-name-2/SKILL.md': strToU8('---\ndescription: Two.\n---\n\nBody\n'),
    'skill-name-3/readme.txt': strToU8('x'),
  }),
);
skillwright('install', 'skills-pack.zip', '--yes');
assert.deepEqual(
  [1, 2, 3].map((n) => existsSync(path.join(repo, `.agent/skills/skill-name-${n}`))),
  [true, false, false],
);
write(
  path.join(repo, 'evil.zip'),
  zipSync({ 'skill-name-4/SKILL.md': head('skill-name-4'), '../evil.txt': strToU8('x') }),
);
assert.notEqual(skillwright('install', 'evil.zip', '--yes').status, 0);
assert.ok(!existsSync(path.join(repo, '.agent/skills/skill-name-4')) && !existsSync(path.resolve('evil.txt')));
assert.match(skillwright('verify').out, /skill-name-1 {2}sha256-tree:[0-9a-f]{64}/);
assert.equal(skillwright('uninstall', 'skill-name-1', '--source', source, '--yes').status, 0);
for (const folder of ['old', 'new'])
  inRepo(`.agent/skills/${folder}/SKILL.md`, `---\nname: twice\ndescription: The ${folder} one\n---\n\nBody\n`);
utimesSync(path.join(repo, '.agent/skills/old/SKILL.md'), 1, 1);
const again = JSON.parse(skillwright('list', '--json', '--format', 'seed').out);
assert.equal(again.skills.find(({ name }) => name === 'twice').description, 'The new one');
assert.equal(again.report.conflicts.length, 1);
inRepo('.agent/config.toml', 'skill_roots = [".agent/skills"]\n');
assert.match(skillwright('doctor').out, /config\.toml is ignored/);

// 13: evaluations run offline with the mock model, and give a report.
inRepo(
  '.agent/evals/form.json',
  JSON.stringify({
    input: '填表',
    skills: { target: 'pdf-form-filler', folders: ['../skills/pdf-form-filler'] },
    expect: {
      skills_all_of: ['pdf-form-filler'],
      sequence: ['must_occur select_skills before load_resource'],
      output: { contains: '完成' },
    },
    constraints: { max_tool_calls: 5, forbid_tools: ['network_request'] },
    config: { vocabulary: 'skills-agent' },
    mock: { turns: [SELECT, LOAD, ANSWER] },
  }),
);
const evaluated = skillwright('eval', '.agent/evals/form.json');
assert.equal(evaluated.status, 0, `${evaluated.out}${evaluated.err}`);
