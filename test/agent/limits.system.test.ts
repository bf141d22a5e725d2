import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { AgentOptions } from '../../src/agent/agent-options.ts';
import type { Budget } from '../../src/core/budget.ts';
import { SkillError } from '../../src/core/errors.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { verifies } from '../conformance/verifies.ts';
import { acting, allText, eventsOf, ofType, played, world, type Line } from './support.ts';

const load = (...names: readonly string[]): Line => ({
  calls: names.map((skill) => ['load_skill', { skill }] as const),
});
const count: Line = { calls: [['run_script', { skill: 'report', script: 'count.sh' }]] };
const plan: Line = {
  calls: [
    [
      'update_plan',
      {
        steps: [
          { id: 'a', title: 'Count', status: 'completed' },
          { id: 'b', title: 'Write it down', status: 'pending' },
        ],
      },
    ],
    ['run_script', { skill: 'report', script: 'count.sh' }],
  ],
};

describe('the end of a budget', () => {
  test.each<readonly [string, Partial<Budget>, readonly Line[], number]>([
    ['turns', { turns: 2 }, [plan, count], 2],
    ['toolCalls', { toolCalls: 2 }, [plan, { calls: [...(count.calls ?? []), ...(count.calls ?? [])] }], 2],
    ['scriptRuns', { scriptRuns: 2 }, [plan, count, count], 2],
    ['tokens', { tokens: 9_000 }, [plan, { ...count, usage: { outputTokens: 8_000 } }], 2],
  ])('%s: the answer says what is done, what is next and why it stopped', async (name, budget, lines, done) => {
    const { agent } = await world();
    const result = await agent({ model: played(lines), budget });
    expect(result.outcome).toBe('degraded');
    expect(result.reason).toMatch(/^the budget of .* is exhausted/);
    expect(result.answer.split('\n')).toEqual(
      [
        `This answer is incomplete: ${result.reason}.`,
        '',
        'Done:',
        ...Array.from({ length: done }, () => '- run_script report scripts/count.sh: exit 0, not isolated'),
        '',
        'Next:',
        '- Write it down',
      ].map((line) => line.replace('scripts/', '')),
    );
    const events = eventsOf(result);
    expect(ofType(events, 'budget-end').map((event) => event.name)).toEqual([name]);
    expect(events.at(-1)).toEqual({ type: 'run-end', outcome: 'degraded', reason: result.reason });
  });

  verifies('AGT-4', 'time: a model that never answers is left, and so is one that ignores its signal', async () => {
    const { agent } = await world();
    const never = { id: 'never', call: () => new Promise<never>(() => undefined) };
    const result = await agent({ model: never, budget: { wallMs: 500 } });
    expect(result).toMatchObject({ outcome: 'degraded', reason: 'the run exceeded its time limit of 500 ms' });
    expect(ofType(eventsOf(result), 'budget-end')).toEqual([
      { type: 'budget-end', name: 'wallMs', used: 500, limit: 500 },
    ]);
  });

  test('time by a clock of the caller ends the run between turns', async () => {
    const { agent } = await world();
    let time = 0;
    const slow = played([
      () => {
        time += 70_000;
        return plan;
      },
      () => {
        time += 70_000;
        return count;
      },
    ]);
    const result = await agent({ model: slow, budget: { wallMs: 100_000 }, now: () => time });
    expect(result).toMatchObject({ outcome: 'degraded', used: { turns: 2, wallMs: 140_000 } });
  });

  test('context: what cannot be made smaller is not sent', async () => {
    const { agent } = await world();
    const model = played([]);
    const result = await agent({ model, budget: { contextTokens: 100 } });
    expect([result.outcome, model.requests.length]).toEqual(['degraded', 0]);
    expect(ofType(eventsOf(result), 'budget-end')[0]).toMatchObject({ name: 'contextTokens', limit: 100 });
  });
});

describe('several calls in one answer', () => {
  verifies('AGT-1', 'run in order, and each has its own result', async () => {
    const { agent } = await world();
    const model = played([
      {
        calls: [
          ...(load('report').calls ?? []),
          ...(count.calls ?? []),
          ['read_resource', { skill: 'report', path: 'references/kpi.md' }],
          ['nothing', {}],
        ],
      },
      { text: 'ok' },
    ]);
    const result = await agent({ model });
    const actions = ofType(eventsOf(result), 'action').map(({ action }) => action.type);
    expect(actions).toEqual(['load_skill', 'run_script', 'read_resource', 'final_answer']);
    const answers = model.requests[1]?.messages.filter(({ role }) => role === 'tool');
    expect(answers?.map((message) => (message.role === 'tool' ? [message.toolName, message.isError] : []))).toEqual([
      ['load_skill', false],
      ['run_script', false],
      ['read_resource', false],
      ['nothing', true],
    ]);
  });

  verifies(
    'AGT-5',
    'at most two bodies are loaded in a turn, workflow skills first; the rest is put off with a note',
    async () => {
      const { agent } = await world({
        one: { body: 'canary-one' },
        two: { body: 'canary-two' },
        way: { fields: ['metadata:', '  kind: workflow'], body: 'canary-way' },
      });
      const model = played([load('one', 'two', 'way'), load('two'), { text: 'ok' }]);
      const result = await agent({ model });
      expect(ofType(eventsOf(result), 'activation').map(({ skill }) => skill)).toEqual([
        'option/way',
        'option/one',
        'option/two',
      ]);
      const second = allText(model.requests[1] as ModelRequest);
      expect(second).toMatch(/canary-one[^]*"two" was not loaded: the limit is 2 skills per turn[^]*canary-way/);
      expect(second).not.toContain('canary-two');
    },
  );

  test('one action that selects three skills loads two of them, and says so', async () => {
    const { agent } = await world({ one: {}, two: {}, way: { fields: ['metadata:', '  kind: workflow'] } });
    const skills = ['one', 'two', 'way'].map((name) => ({ name }));
    const model = played([acting('select_skills', { skills }), acting('final_answer', { answer: 'ok' })]);
    const result = await agent({ model, protocol: 'actions' });
    expect(ofType(eventsOf(result), 'activation').map(({ skill }) => skill)).toEqual(['option/way', 'option/one']);
    expect(allText(model.requests[1] as ModelRequest)).toContain('load/too-many');
  });

  test.each(['openseed', 'manusx', 'trpc'] as const)(
    '%s: every skill that an answer loads is loaded, unless the project chose the vocabulary',
    async (vocabulary) => {
      const names = ['one', 'two', 'three'];
      const tool = { openseed: 'load_skill', manusx: 'skill_request', trpc: 'skill_load' }[vocabulary];
      const loads = { calls: names.map((name) => [tool, { skill: name, skill_name: name }] as const) };
      const here = await world({ one: {}, two: {}, three: {} });
      const count = async (options: Partial<AgentOptions>): Promise<number> => {
        const result = await here.agent({ model: played([loads, { text: 'ok' }]), ...options });
        return ofType(eventsOf(result), 'activation').length;
      };
      expect(await count({ vocabulary })).toBe(3);
      mkdirSync(path.join(here.project, '.agent'), { recursive: true });
      writeFileSync(path.join(here.project, '.agent/config.json'), JSON.stringify({ vocabulary }));
      const runtime = await createRuntime({
        cwd: here.project,
        home: path.join(here.root, 'home'),
        env: {},
        roots: [path.join(here.root, 'skills')],
        onlyRoots: true,
        cache: false,
      });
      expect(await count({ runtime })).toBe(2);
    },
  );

  test('calls beyond sixteen are answered and not done', async () => {
    const { agent } = await world();
    const model = played([
      { calls: Array.from({ length: 40 }, () => ['search_skills', { query: 'report' }] as const) },
      { text: 'ok' },
    ]);
    const result = await agent({ model });
    expect(result.used.toolCalls).toBe(16);
    expect(model.requests[1]?.messages.filter(({ role }) => role === 'tool')).toHaveLength(40);
  });
});

describe('failures', () => {
  verifies('AGT-7', 'the same failure three times ends the run with a reason, and nothing more is asked', async () => {
    const { agent } = await world();
    const model = played(
      Array.from({ length: 5 }, () => ({
        calls: [['run_script', { skill: 'report', script: 'missing.sh' }] as const],
      })),
    );
    const result = await agent({ model });
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'run_script failed three times in the same way (script/unknown)',
    });
    expect(model.requests).toHaveLength(3);
    expect(result.answer).toContain('run_script report missing.sh: failed, script/unknown');
  });

  test('three different mistakes are corrected; the sixth ends the run, named by the tool of the vocabulary', async () => {
    const wrong = [
      { skill: 'report', command: '' },
      { skill: 'report' },
      { skill: 'report', command: 'x', timeout: -1 },
    ];
    const mistakes = wrong.map((input): Line => ({ calls: [['skill_run', input]] }));
    const { agent } = await world();
    const corrected = await agent({ vocabulary: 'trpc', model: played([...mistakes, { text: 'ok' }]) });
    expect(corrected).toMatchObject({ outcome: 'done', answer: 'ok' });
    const ended = await agent({ vocabulary: 'trpc', model: played([...mistakes, ...mistakes, { text: 'ok' }]) });
    expect(ended).toMatchObject({ outcome: 'failed', reason: 'skill_run failed six times (input/invalid)' });
  });

  test('what a rule forbids three times ends as refused', async () => {
    const { agent } = await world(undefined, { policy: { deny: ['run_script'] } });
    const result = await agent({ model: played([count, count, count]) });
    expect(result).toMatchObject({
      outcome: 'refused',
      reason: 'run_script failed three times in the same way (policy/denied)',
    });
  });

  test.each([
    new SkillError({
      code: 'model/failed',
      message: 'the server said 500',
      hint: '',
      data: { model: 'm', status: 500, isRetryable: true },
    }),
    new Error('the server said 500'),
  ])('a model that gives up ends the run with a sentence', async (error) => {
    const { agent } = await world();
    const result = await agent({ model: played([plan, error]) });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'the model played gave no answer: the server said 500' });
    expect(eventsOf(result).at(-1)).toMatchObject({ type: 'run-end', outcome: 'failed' });
  });
});

describe('answers that cannot be read', () => {
  test('are asked for once more with the exact error; the second one counts', async () => {
    const { agent } = await world();
    const model = played([{ text: 'I will count.' }, acting('final_answer', { answer: '42' })]);
    const result = await agent({ model, protocol: 'actions' });
    expect(result).toMatchObject({ outcome: 'done', answer: '42', used: { turns: 2 } });
    expect(allText(model.requests[1] as ModelRequest)).toContain('Your last answer was not used');
  });

  test('twice in a row end the run, which says why', async () => {
    const { agent } = await world();
    const model = played([acting('jump', {}), { text: '{"action": ' }]);
    const result = await agent({ model, protocol: 'actions' });
    expect(result.outcome).toBe('failed');
    expect(result.reason).toMatch(/^the model gave two invalid answers in a row: /);
    expect(model.requests).toHaveLength(2);
  });

  test('an empty answer of a model that calls tools is one of them', async () => {
    const { agent } = await world();
    const model = played([{ text: ' ' }, { text: 'There are 42.' }]);
    expect(await agent({ model })).toMatchObject({ outcome: 'done', answer: 'There are 42.' });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
  });
});

describe('an agent that gets nowhere', () => {
  verifies(
    'AGT-7',
    'the same action with the same result, five times in a row, ends the run with the reason',
    async () => {
      const { agent } = await world();
      const search: Line = { calls: [['search_skills', { query: 'report' }]] };
      const other: Line = { calls: [['search_skills', { query: 'count' }]] };
      const result = await agent({
        model: played([search, search, other, ...Array.from({ length: 9 }, () => search)]),
      });
      expect(result).toMatchObject({ outcome: 'failed', used: { turns: 8 } });
      expect(result.reason).toMatch(/^the model repeated search_skills report 5 times in a row with the same result$/);
    },
  );

  test('programs that were refused do not use up the budget of script runs', async () => {
    const { agent } = await world();
    const other: Line = { calls: [['run_command', { command: 'true' }]] };
    const result = await agent({
      model: played([count, other, { text: 'Refused.' }]),
      budget: { scriptRuns: 1 },
      run: { policy: { deny: ['run_script', 'run_command'] } },
    });
    expect(result).toMatchObject({ outcome: 'refused', answer: 'Refused.', used: { toolCalls: 2, scriptRuns: 0 } });
  });
});
