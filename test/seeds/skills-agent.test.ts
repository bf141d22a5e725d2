/** The worked examples of the two designs of skills-agent (overview and registry), over real folders and through the public doors. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import type { AgentOptions, AgentResult } from '../../src/agent/agent-options.ts';
import { openModel } from '../../src/model/open-model.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import type { Runtime, RuntimeOptions } from '../../src/runtime/runtime.ts';
import { openSkillTools } from '../../src/runtime/skill-tools.ts';
import { acting, allText, eventsOf, ofType, played } from '../agent/support.ts';
import type { PlayedModel } from '../agent/support.ts';
import { completion, sendJson, serve } from '../model/local-server.ts';
import type { LocalServer } from '../model/local-server.ts';
import { scratch } from '../registry/support.ts';
import { runCli } from '../cli/run-cli.ts';

const PDF = `---
name: pdf-form-filler
description: Extract and fill PDF form fields using Python
version: 1.0.0
author: team
disable-model-invocation: false
user-invocable: true
allowed-tools: ["read_file", "run_script"]
---

# Goal

canary-pdf-body Read reference/kpi.md.
`;
const REVIEW =
  '---\nname: code-review\ndescription: Review a Python codebase with our standards\n---\n\ncanary-review-body\n';
const KPI = '# KPI\n\ncanary-intro\n\n## 指标定义\n\nRevenue is money.\n\n## Other\n\ncanary-other\n';

function write(root: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

interface Place {
  readonly project: string;
  readonly home: string;
  readonly runtime: (options?: RuntimeOptions) => Promise<Runtime>;
}

/** `<repo>/.agent/skills` and `~/.agent/skills` of the designs. */
function place(more: Readonly<Record<string, string>> = {}): Place {
  const project = scratch();
  const home = path.join(project, 'home');
  write(project, '.agent/skills/pdf-form-filler/SKILL.md', PDF);
  write(project, '.agent/skills/pdf-form-filler/reference/kpi.md', KPI);
  write(project, '.agent/skills/pdf-form-filler/scripts/aggregate.py', 'print("aggregated")\n');
  write(project, '.agent/skills/pdf-form-filler/extra.json', '{}\n');
  write(home, '.agent/skills/code-review/SKILL.md', REVIEW);
  for (const [file, text] of Object.entries(more)) write(project, file, text);
  return {
    project,
    home,
    runtime: (options) => createRuntime({ cwd: project, home, env: {}, cache: false, vouched: [project], ...options }),
  };
}

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
const ANSWER = acting('final_answer', { answer: 'done' });
const runJson = ({ path: folder = '' }: AgentResult): Record<string, unknown> =>
  JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')) as Record<string, unknown>;

describe('the registry by its design', () => {
  test('the index entry has the fields and values of the example', async () => {
    const { project } = place();
    const { out } = await runCli(project, ['list', '--json', '--format', 'seed', '--source', 'project']);
    const { skills, report } = JSON.parse(out) as { skills: unknown; report: Record<string, unknown> };
    expect(skills).toEqual([
      {
        skill_id: 'project/pdf-form-filler@1.0.0',
        name: 'pdf-form-filler',
        description: 'Extract and fill PDF form fields using Python',
        source: 'project',
        path: `${project}/.agent/skills/pdf-form-filler`,
        controls: { disable_model_invocation: false, user_invocable: true, allowed_tools: ['read_file', 'run_script'] },
        meta: { version: '1.0.0', author: 'team' },
      },
    ]);
    expect(Object.keys(report)).toEqual([
      'roots',
      'duration_ms',
      'found',
      'valid',
      'ignored',
      'conflicts',
      'index_hash',
    ]);
  });

  test('the list for the model is the text of the example', async () => {
    const { runtime } = place();
    const { catalog } = await runtime({ config: { skill_visibility: { 'builtin/*': 'disabled' } } });
    expect(catalog({ format: 'lines' }).text.trim()).toBe(
      [
        'Available Skills:',
        '- name=code-review | source=user | description=Review a Python codebase with our standards',
        '- name=pdf-form-filler | source=project | description=Extract and fill PDF form fields using Python',
      ].join('\n'),
    );
  });

  test('project, user, built-in: the higher root wins, and --source chooses another one', async () => {
    const here = place();
    write(here.home, '.agent/skills/pdf-form-filler/SKILL.md', PDF.replace('Extract', 'User: extract'));
    const { index } = await here.runtime();
    expect(index.report.roots.filter(({ skills }) => skills > 0).map(({ source }) => source)).toEqual([
      'project',
      'user',
      'builtin',
    ]);
    expect(index.skills.find(({ name }) => name === 'pdf-form-filler')?.source).toBe('project');
    expect(index.shadowed.map(({ name, source, reason }) => [name, source, reason])).toEqual([
      ['pdf-form-filler', 'user', 'higher-root'],
    ]);
    const user = await here.runtime({ source: 'user' });
    expect(user.index.skills.map(({ id }) => id)).toEqual(['user/code-review', 'user/pdf-form-filler@1.0.0']);
    await expect(here.runtime({ source: 'nobody' })).rejects.toThrow('no skill root has the source "nobody"');
    const wrong = await runCli(here.project, ['new', 'x', '--source', 'user']);
    expect([wrong.status, wrong.err]).toEqual([2, expect.stringContaining('new has no use for --source')]);
  });

  test('skill_roots of the example keep the labels project and user', async () => {
    const { runtime } = place();
    const { index } = await runtime({ config: { skill_roots: ['.agent/skills', '~/.agent/skills'] } });
    expect(index.report.roots.slice(0, 2).map(({ source, skills }) => [source, skills])).toEqual([
      ['project', 1],
      ['user', 1],
    ]);
  });

  test('hidden folders, files and folders without SKILL.md are ignored', async () => {
    const { runtime } = place({
      '.agent/skills/.hidden/SKILL.md': REVIEW,
      '.agent/skills/file.txt': 'x',
      '.agent/skills/empty/readme.txt': 'x',
    });
    const { index } = await runtime({ source: 'project' });
    expect(index.skills.map(({ name }) => name)).toEqual(['pdf-form-filler']);
  });

  const WRONG: Readonly<Record<string, readonly [code: string, text: string]>> = {
    noname: ['name/missing', 'description: x'],
    nodescription: ['description/missing', 'name: nodescription'],
    colon: ['frontmatter/unquoted-colon', 'name: colon\ndescription: Use when: asked'],
    angle: ['text/angle-brackets', 'name: angle\ndescription: x\nauthor: <team>'],
    'long-line': ['frontmatter/line-too-long', `name: long-line\ndescription: ${'x'.repeat(600)}`],
    'many-lines': ['frontmatter/too-many-lines', `name: many-lines\ndescription: x${'\n# note'.repeat(210)}`],
    nested: ['metadata/not-text', 'name: nested\ndescription: x\nmetadata:\n  a:\n    b: c'],
  };
  const wrong = (): Place =>
    place(
      Object.fromEntries(
        Object.entries(WRONG).map(([name, [, text]]) => [
          `.agent/skills/${name}/SKILL.md`,
          `---\n${text}\n---\n\nBody\n`,
        ]),
      ),
    );

  test('strict mode leaves out what the design refuses, each with its reason', async () => {
    const { index } = await await wrong().runtime({ source: 'project', config: { format: { mode: 'strict' } } });
    expect(
      Object.fromEntries(index.report.leftOut.map(({ path: at, code }) => [path.basename(path.dirname(at)), code])),
    ).toEqual(Object.fromEntries(Object.entries(WRONG).map(([name, [code]]) => [name, code])));
    expect(index.skills.map(({ name }) => name)).toEqual(['pdf-form-filler']);
  });

  test('lenient mode lists them with diagnostics; a missing description is an empty text', async () => {
    const { index } = await wrong().runtime({ source: 'project' });
    expect(index.report.leftOut).toEqual([]);
    expect(index.skills.find(({ name }) => name === 'nodescription')?.description).toBe('');
    expect(
      index.diagnostics.filter(({ code }) => code === 'description/missing').map(({ severity }) => severity),
    ).toEqual(['warning']);
  });

  test('the security settings of the example block angle brackets anywhere in the frontmatter', async () => {
    const { index } = await wrong().runtime({
      source: 'project',
      config: { security: { max_skill_body_lines: 500, block_angle_brackets_in_frontmatter: true } },
    });
    expect(index.report.leftOut.map(({ code, message }) => [code, message])).toEqual([
      ['text/angle-brackets', '< in author'],
    ]);
  });

  test('allowed-tools as a text is split at commas', async () => {
    const { runtime } = place({
      '.agent/skills/text-tools/SKILL.md':
        '---\nname: text-tools\ndescription: x\nallowed-tools: read_file,grep,run_script\n---\n',
    });
    const { index } = await runtime({ source: 'project' });
    expect(index.skills.find(({ name }) => name === 'text-tools')?.controls.allowedTools).toEqual([
      'read_file',
      'grep',
      'run_script',
    ]);
  });

  test('of two skills of one name in one root the newer one wins, and the conflict is reported', async () => {
    const here = place({
      '.agent/skills/old/SKILL.md': REVIEW.replace('code-review', 'twice'),
      '.agent/skills/new/SKILL.md': REVIEW.replace('code-review', 'twice'),
    });
    utimesSync(path.join(here.project, '.agent/skills/old/SKILL.md'), 1, 1);
    const { index } = await here.runtime({ source: 'project' });
    expect(index.skills.find(({ name }) => name === 'twice')?.dir).toBe(`${here.project}/.agent/skills/new`);
    expect(index.report.conflicts).toEqual([
      {
        name: 'twice',
        source: 'project',
        dir: `${here.project}/.agent/skills/old`,
        by: `${here.project}/.agent/skills/new`,
        reason: 'newer-in-root',
      },
    ]);
  });

  test('a name with a namespace is found by both of its names', async () => {
    const { runtime } = place({
      '.agent/skills/skill-name/SKILL.md': '---\nname: org/skill-name\ndescription: x\n---\n',
    });
    const { find } = await runtime();
    expect([find('org/skill-name').name, find('skill-name').name]).toEqual(['skill-name', 'skill-name']);
  });

  test('verify prints the hash of each skill and of each file, without a lock', async () => {
    const { project } = place();
    const text = await runCli(project, ['verify']);
    expect([text.status, text.out]).toEqual([
      0,
      expect.stringMatching(/^not-locked {2}pdf-form-filler {2}sha256-tree:[0-9a-f]{64}\n$/),
    ]);
    const { out } = await runCli(project, ['verify', 'pdf-form-filler', '--json']);
    const { skills } = JSON.parse(out) as { skills: { files: Record<string, string> }[] };
    expect(Object.keys(skills[0]?.files ?? {})).toEqual([
      'SKILL.md',
      'extra.json',
      'reference/kpi.md',
      'scripts/aggregate.py',
    ]);
  });
});

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
    const plan = {
      goal: '完成用户任务',
      steps: [
        { id: 's1', title: '选择并加载相关技能', status: 'pending' },
        { id: 's2', title: '按技能流程执行脚本或读取资源', status: 'pending' },
        { id: 's3', title: '自检并输出最终结果', status: 'pending' },
      ],
      assumptions: [],
      constraints: { max_turns: 12, max_tool_calls: 30 },
    };
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
      constraints: { max_tool_calls: 2, mood: 'calm' },
    });
    expect(result).toMatchObject({
      outcome: 'degraded',
      reason: 'the budget of tool calls is exhausted (2 of 2), as the plan of the model constrains it',
    });
    const told = allText(model.requests[2] ?? expect.fail());
    expect(told).toContain('max_turns = 50 was refused: the run allows 12');
    expect(told).toContain('"mood" is noted, not enforced');
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
        { tool: 'load_skill', calls: 1, failed: 0 },
        { tool: 'read_resource', calls: 1, failed: 0 },
        { tool: 'final_answer', calls: 1, failed: 0 },
      ],
    });
    const [scan] = ofType(eventsOf(result), 'scan');
    const { type: _, ...report } = scan ?? expect.fail();
    expect(report).toMatchObject({ valid: 5, found: 6, ignored: [{ code: 'frontmatter/missing' }], conflicts: [] });
    expect(JSON.parse(readFileSync(path.join(result.path ?? '', 'scan.json'), 'utf8'))).toEqual(report);
    expect(path.relative(path.join(result.path ?? '', '../../..'), result.path ?? '')).toMatch(
      /^\.agent\/runs\/\d{8}T\d{6}Z-/,
    );
  });

  test('unknown tools and invalid payloads are counted, recorded and answered with the payload', async () => {
    const model = played([
      { calls: [['select_skillz', {}]] },
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
    expect(result.used.turns).toBe(6);
    expect(allText(model.requests.at(-1) ?? expect.fail()).match(/canary-pdf-body/g)).toHaveLength(1);
    expect(allText(model.requests.at(-1) ?? expect.fail())).toContain('do something else, or answer');
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
