/** The worked examples of the overview design of skills-agent, over real folders and through the public doors. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import type { AgentOptions, AgentResult } from '../../src/agent/agent-options.ts';
import { openModel } from '../../src/model/auto.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { acting, allText, eventsOf, ofType, played, type PlayedModel } from '../agent/support.ts';
import { completion, sendJson, serve, type LocalServer } from '../model/local-server.ts';
import { runCli } from '../cli/run-cli.ts';
import { place, type Place } from './skills-agent-place.ts';

async function act(
  model: PlayedModel,
  options: Partial<AgentOptions> = {},
  { runtime }: Place = place(),
): Promise<AgentResult> {
  return runAgent({
    runtime: await runtime(),
    request: '  完成用户任务\n now ',
    protocol: 'actions',
    model,
    ...options,
  });
}

const SELECT = acting('select_skills', {
  skills: [{ name: 'pdf-form-filler', source: 'project' }],
  reason: 'the request is about a form',
});
/** The plan of the document. */
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
const ANSWER = acting('final_answer', { answer: 'done' });
const runJson = ({ path: folder = '' }: AgentResult): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')) as Record<string, unknown>;

test('the configuration of the example is accepted: model, approvals, limits', async () => {
  const config = {
    skill_roots: ['.agent/skills', '~/.agent/skills'],
    model: { provider: 'mock', params: {} },
    execution: { require_approval_for: ['write_file', 'run_script', 'network'] },
    security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true },
  };
  const { project } = place({ '.agent/config.json': JSON.stringify(config) });
  for (const tool of ['write_file', 'run_script', 'network_request'])
    expect((await runCli(project, ['policy', tool])).out).toMatch(/^ask .*require_approval_for of /);
  const { err } = await runCli(project, ['run', 'hello', '--executor', 'none']);
  expect(err).toContain('model rules: it is configured');
});

test('the mock model of the configuration plays its turns: actions of the design, flat or with a payload, and a bare plan', async () => {
  const turns = [
    PLAN,
    { type: 'select_skills', skills: [{ name: 'pdf-form-filler', source: 'project' }], reason: '表单' },
    { action: { type: 'final_answer', payload: { answer: '完成' } } },
  ];
  const model = { provider: 'mock', params: { turns } };
  const { project, home } = place({ 'home/.agent/config.json': JSON.stringify({ model }) });
  const words = ['run', '完成用户任务', '--vocabulary', 'skills-agent', '--protocol', 'actions', '--trust-project'];
  const { out, err, status } = await runCli(project, [...words, '--executor', 'none'], { HOME: home });
  expect([out.trim(), status]).toEqual(['完成', 0]);
  expect(err).toContain('model scripted: it is configured');
  const wrong = place({
    'home/.agent/config.json': '{"model": {"provider": "mock", "params": {"turns": [{"txt": 1}]}}}',
  });
  expect((await runCli(wrong.project, ['run', 'x'], { HOME: wrong.home })).err).toContain(
    '"model.params" is not a script for the scripted model: unknown key "turns[0].txt"',
  );
  const cloned = place({ '.agent/config.json': JSON.stringify({ model }) });
  const refused = await runCli(cloned.project, [...words, '--executor', 'none'], { HOME: cloned.home });
  expect(refused.out).not.toContain('完成');
  expect(refused.err).toContain('model.params.turns');
  expect(refused.err).toContain('model rules: it is configured');
});

test('select_skills without a skill is refused', async () => {
  const { call, session } = await openSkillTools({ runtime: await place().runtime({ vocabulary: 'skills-agent' }) });
  for (const skills of [[], ''])
    expect((await call('select_skills', { skills })).value).toMatchObject({
      ok: false,
      error: { code: 'input/invalid', message: 'parameter "skills" is empty: expected 1 to 8 skills' },
    });
  await session.close();
});

test('a config.toml is named as ignored', async () => {
  const { runtime, project } = place({ '.agent/config.toml': 'skill_roots = []\n' });
  const { diagnostics } = await runtime();
  expect(
    diagnostics.filter(({ code }) => code.startsWith('config/')).map(({ code, message }) => [code, message]),
  ).toEqual([
    [
      'config/ignored-file',
      `${project}/.agent/config.toml is ignored: the configuration is ${project}/.agent/config.json`,
    ],
  ]);
});

test('a body over 500 lines is refused by default in the vocabulary', async () => {
  const { runtime } = place({
    '.agent/skills/long/SKILL.md': `---\nname: long\ndescription: x\n---\n${'line\n'.repeat(501)}`,
  });
  const { call } = await openSkillTools({ runtime: await runtime({ config: { vocabulary: 'skills-agent' } }) });
  expect((await call('select_skills', { skills: [{ name: 'long' }] })).value).toMatchObject({
    ok: false,
    error: { code: 'body/too-long' },
  });
});

test('a body comes with source and path, without hidden characters and with plain line ends', async () => {
  const { runtime, project } = place({
    '.agent/skills/crlf/SKILL.md': '---\r\nname: crlf\r\ndescription: x\r\n---\r\nA\u200bB\r\nC\r\n',
  });
  const { call } = await openSkillTools({ vocabulary: 'skills-agent', runtime: await runtime() });
  expect((await call('select_skills', { skills: [{ name: 'crlf' }] })).value).toMatchObject({
    ok: true,
    skills: [{ name: 'crlf', source: 'project', path: `${project}/.agent/skills/crlf`, body: 'AB\nC\n' }],
  });
});

test('load_resource and read_file read scripts and documents of a skill, and grep finds lines of its other files', async () => {
  const { runtime } = place({
    '.agent/skills/many/SKILL.md': '---\nname: many\ndescription: x\n---\n',
    '.agent/skills/many/scripts/go.py': 'print(1)\n',
    '.agent/skills/many/NOTES.md': 'notes\n',
    '.agent/skills/many/docs/more.txt': 'more\n',
    '.agent/skills/many/other/d.json': '{"canary": 1}\n',
    '.agent/skills/many/LICENSE': 'canary\n',
  });
  const { call } = await openSkillTools({ vocabulary: 'skills-agent', runtime: await runtime(), host: {} });
  const read = async (relative_path: string): Promise<unknown> =>
    (await call('load_resource', { skill: { name: 'many' }, relative_path })).value;
  expect(await read('scripts/go.py')).toMatchObject({ ok: true, content: 'print(1)\n' });
  expect(await read('NOTES.md')).toMatchObject({ ok: true, content: 'notes\n' });
  expect(await read('docs/more.txt')).toMatchObject({ ok: true, content: 'more\n' });
  await call('select_skills', { skills: [{ name: 'many' }] });
  for (const file of ['other/d.json', 'LICENSE']) {
    expect(await read(file)).toMatchObject({ ok: false, error: { code: 'path/not-offered' } });
    expect((await call('read_file', { path: `many/${file}` })).value).toMatchObject({
      ok: false,
      error: { code: 'path/not-offered' },
    });
  }
  expect((await call('list_dir', { path: 'many' })).text).toMatch(/LICENSE[^]*other\/d\.json/);
  expect((await call('grep', { path: 'many', pattern: 'canary' })).value).toMatchObject({
    matches: [{ path: 'skill://many/LICENSE' }, { path: 'skill://many/other/d.json' }],
  });
});

test('a file whose name no path can spell is not listed, and a note names it', async () => {
  const { runtime } = place({
    '.agent/skills/many/SKILL.md': '---\nname: many\ndescription: x\n---\n',
    '.agent/skills/many/assets/back\\slash.md': '',
    '.agent/skills/many/assets/tab\t.md': '',
    '.agent/skills/many/assets/plain.md': '',
  });
  const { call } = await openSkillTools({ vocabulary: 'skills-agent', runtime: await runtime() });
  expect((await call('select_skills', { skills: [{ name: 'many' }] })).value).toMatchObject({
    skills: [{ resources: ['assets/plain.md'], notes: [/back/, /tab/].map((name) => expect.stringMatching(name)) }],
  });
});

describe('the agent by its design', () => {
  test('metadata first, the body after select_skills, a section after load_resource', async () => {
    const model = played([
      SELECT,
      acting('load_resource', {
        skill: { name: 'pdf-form-filler', source: 'project' },
        relative_path: 'reference/kpi.md',
        section_hint: '## 指标定义',
      }),
      ANSWER,
    ]);
    const result = await act(model);
    expect(result).toMatchObject({ outcome: 'done', answer: 'done' });
    const [first, second, third] = model.requests.map(allText);
    expect(first).toContain('- name=pdf-form-filler | source=project | description=Extract and fill');
    expect(first).not.toMatch(/canary/);
    expect(second?.match(/canary-pdf-body/g)).toHaveLength(1);
    expect(second).toContain('\\"source\\":\\"project\\"'.replaceAll('\\"', '"'));
    expect(second).not.toMatch(/canary-(?:intro|other|review)/);
    expect(third).toContain('Revenue is money.');
    expect(third).not.toMatch(/canary-(?:intro|other|review)/);
  });

  test('the resources of a loaded skill are files that can be loaded', async () => {
    const model = played([SELECT, ANSWER]);
    await act(model);
    expect(allText(model.requests[1] ?? expect.fail())).toContain(
      '"resources":["reference/kpi.md","scripts/aggregate.py"]',
    );
  });

  test('the plan of the example is kept, updated and enforced', async () => {
    const plan = PLAN;
    const model = played([
      { text: JSON.stringify({ ...JSON.parse(SELECT.text ?? ''), plan_update: { mode: 'replace', plan } }) },
      acting(
        'select_skills',
        { skills: [{ name: 'code-review' }] },
        {
          plan_update: {
            mode: 'patch',
            steps: [{ id: 's1', status: 'completed' }],
            constraints: { max_turns: 50, max_tool_calls: 2, mood: 'calm' },
          },
        },
      ),
      acting('select_skills', { skills: [{ name: 'csv-report' }] }),
    ]);
    const result = await act(model);
    expect(result.plan).toEqual({
      ...plan,
      steps: plan.steps.map((step) => (step.id === 's1' ? { ...step, status: 'completed' } : step)),
      constraints: { max_turns: 12, max_tool_calls: 2, mood: 'calm' },
    });
    expect(result).toMatchObject({
      outcome: 'degraded',
      reason: 'the budget of tool calls is exhausted (2 of 2), as the plan of the model constrains it',
    });
    const told = allText(model.requests[2] ?? expect.fail());
    expect(told).toContain('max_turns = 50 was refused: the run allows 12');
    expect(told).toContain('"mood" is noted, not enforced');
  });

  test('a constraint that is refused leaves the earlier one in force', async () => {
    const select = { skills: [{ name: 'code-review' }] };
    const plan = { goal: 'g', steps: [], constraints: { max_turns: 2 } };
    const model = played([
      acting('select_skills', select, { plan_update: { mode: 'replace', plan } }),
      acting('select_skills', select, {
        plan_update: { mode: 'patch', constraints: { max_turns: 99, max_tool_calls: 'few' } },
      }),
      acting('select_skills', { skills: [{ name: 'csv-report' }] }),
    ]);
    const { plan: kept, outcome, reason } = await act(model);
    expect([kept?.constraints, outcome, reason]).toEqual([
      { max_turns: 2 },
      'degraded',
      'the budget of turns is exhausted (2 of 2), as the plan of the model constrains it',
    ]);
  });

  test.each([
    ['a JSON Patch', { patch: [{ op: 'remove', path: '/steps/0' }] }, 'plan_update.patch is unknown and was ignored'],
    ['a list', ['a', 'b'], 'plan_update must be an object'],
    ['an unknown status', { steps: [{ id: 's1', title: 'x', status: 'done' }] }, 'plan_update.steps[0].status must be'],
  ])('a plan update that is not understood is told to the model: %s', async (_, update, problem) => {
    const model = played([
      acting('select_skills', { skills: [{ name: 'code-review' }] }, { plan_update: update }),
      acting('final_answer', { answer: 'done' }),
    ]);
    await act(model);
    expect(allText(model.requests[1] ?? expect.fail())).toContain(`plan: ${problem}`);
  });

  test('a plan alone is kept, and the model is asked for the next action; flat actions are performed', async () => {
    const flat = (action: object): { text: string } => ({ text: JSON.stringify(action) });
    const model = played([
      flat(PLAN),
      flat({ type: 'select_skills', skills: [{ name: 'pdf-form-filler' }], reason: 'a form', plan: { steps: [] } }),
      flat({ type: 'load_resource', skill: { name: 'pdf-form-filler' }, relative_path: 'reference/kpi.md' }),
      flat({ type: 'final_answer', answer: 'done' }),
    ]);
    const result = await act(model);
    expect(result).toMatchObject({ outcome: 'done', answer: 'done', plan: PLAN, used: { toolCalls: 2, turns: 4 } });
    expect(allText(model.requests[1] ?? expect.fail())).toContain('The plan is kept. Answer with the next action');
    expect(runJson(result)).toMatchObject({ invalidCalls: 0 });
  });

  test('a run records its scan, phases, resources, tools and the normalized request', async () => {
    const model = played([
      SELECT,
      acting('load_resource', { skill: { name: 'pdf-form-filler' }, relative_path: 'reference/kpi.md' }),
      ANSWER,
    ]);
    const result = await act(model, {}, place({ '.agent/skills/broken/SKILL.md': 'nothing\n' }));
    expect(runJson(result)).toMatchObject({
      request: '  完成用户任务\n now ',
      normalizedRequest: '完成用户任务 now',
      phases: ['Init', 'IndexSkills', 'Decide', 'LoadSkillBody', 'Decide', 'Act', 'Observe', 'Decide', 'Final'],
      skills: [{ id: 'project/pdf-form-filler@1.0.0', source: 'project' }],
      resources: [{ skill: 'project/pdf-form-filler@1.0.0', path: 'reference/kpi.md', truncated: false }],
      tools: [
        { tool: 'select_skills', calls: 1, failed: 0 },
        { tool: 'load_resource', calls: 1, failed: 0 },
        { tool: 'final_answer', calls: 1, failed: 0 },
      ],
    });
    const [scan] = ofType(eventsOf(result), 'scan');
    const { type: _, ...report } = scan ?? expect.fail();
    expect(report).toMatchObject({ valid: 5, found: 6, ignored: [{ code: 'frontmatter/missing' }], conflicts: [] });
    expect(JSON.parse(readFileSync(path.join(result.path ?? '', 'scan.json'), 'utf8'))).toEqual(report);
    expect(path.relative(path.join(result.path ?? '', '../../..'), result.path ?? '')).toMatch(
      /^\.agent\/runs\/\d{8}T\d{6}Z-[0-9a-f]{8}$/,
    );
  });

  test('unknown tools and invalid payloads are counted, recorded and answered with the payload', async () => {
    const model = played([
      acting('select_skillz', {}),
      acting('load_resource', { skill: { name: 'pdf-form-filler' } }),
      ANSWER,
    ]);
    const result = await act(model);
    expect(result.used.toolCalls).toBe(2);
    expect(runJson(result)['invalidCalls']).toBe(2);
    expect(ofType(eventsOf(result), 'call-invalid').map(({ tool }) => tool)).toEqual([
      'select_skillz',
      'load_resource',
    ]);
    expect(allText(model.requests[2] ?? expect.fail())).toContain(
      '{skill: {name: string, source?: string}, relative_path: string, section_hint?: string, offset?: integer}',
    );
  });

  test('the body is in the context once, however often it is loaded, and identical turns end the run', async () => {
    const model = played(Array.from({ length: 10 }, () => SELECT));
    const result = await act(model);
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('with the same result') as string,
    });
    expect(result.used.turns).toBe(5);
    expect(allText(model.requests.at(-1) ?? expect.fail()).match(/canary-pdf-body/g)).toHaveLength(1);
    expect(allText(model.requests.at(-1) ?? expect.fail())).toContain('do something else, or answer');
  });

  test('three resources that do not exist end the run, unless one that does is loaded between them', async () => {
    const load = (relative_path: string): typeof SELECT =>
      acting('load_resource', { skill: { name: 'pdf-form-filler' }, relative_path });
    const missing = ['reference/a.md', 'reference/b.md', 'assets/c.md'].map(load);
    expect(await act(played([SELECT, ...missing, ANSWER]))).toMatchObject({
      outcome: 'failed',
      reason: 'load_resource failed three times in the same way (file/missing)',
    });
    const turns = [SELECT, ...missing.slice(0, 2), load('reference/kpi.md'), ...missing.slice(2), ANSWER];
    expect(await act(played(turns))).toMatchObject({ outcome: 'done' });
  });

  test('a streamed answer that is not the answer is withdrawn by an event', async () => {
    const broken = { text: '{"action": {"type": "final_answer", "payload": {"answer": "half"}}, oops' };
    const events: string[] = [];
    const sinks = [({ event }: { event: { type: string } }) => void events.push(event.type)];
    const result = await act(played([broken, ANSWER]), { run: { sinks } });
    expect(result.outcome).toBe('done');
    expect(events.filter((type) => type.startsWith('answer-')).join(' ')).toMatch(
      /^(?:answer-delta )+answer-withdraw(?: answer-delta)+$/,
    );
  });
});

describe('a server that knows no schemas', () => {
  let server: LocalServer;
  beforeAll(async () => {
    server = await serve((response, turn) =>
      sendJson(response, completion(turn === 0 ? '{"action": {"type": "select_skills"}}' : (ANSWER.text ?? ''))),
    );
  });
  afterAll(() => server.close());

  test('is told every action with its payload, and corrections name the payload', async () => {
    const model = await openModel({
      provider: 'openai-compatible',
      baseUrl: server.url,
      model: 'm',
      apiKey: 'k-12345678',
    });
    const { runtime } = place();
    const result = await runAgent({ runtime: await runtime(), request: 'x', protocol: 'actions', model });
    expect(result.outcome).toBe('done');
    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain('json_object');
    expect(first).toMatch(
      /- select_skills \{skills: \{name: [^}]*, source\?: string\}\[\], reason\?: string\}: Select the skills/,
    );
    expect(first).toContain('- final_answer {answer: string}: ');
    expect(second).toMatch(/select_skills[\\"]+, [\\"]+payload[\\"]+: \{skills: \{name: /);
  });
});
