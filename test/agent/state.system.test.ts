import { describe, expect, test } from 'vitest';

import { FIRST_STATE, reduceAgent, type AgentState } from '../../src/agent/state.ts';
import type { Phase } from '../../src/core/phase.ts';
import { degradedAnswer, rulesText, stateText } from '../../src/agent/system-prompt.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { DEFAULT_BUDGET } from '../../src/core/budget.ts';
import { verifies } from '../conformance/verifies.ts';
import { acting, allText, played, world } from './support.ts';

describe('the state of an agent', () => {
  verifies(['AGT-1', 'AGT-3'], 'is made from the record alone, and goes through the phases in order', async () => {
    const { agent } = await world();
    const steps = [{ id: 'a', title: 'Count', status: 'in_progress' }];
    const model = played([
      {
        calls: [
          ['update_plan', { goal: 'rows', steps }],
          ['run_script', { skill: 'report', script: 'count.sh' }],
        ],
      },
      { text: 'There are 42 rows.' },
    ]);
    const result = await agent({ model });
    let state: AgentState = FIRST_STATE;
    const phases: Phase[] = [state.phase];
    for (const { event, elapsed } of readRun(result.path ?? '').lines) {
      state = reduceAgent(state, event, elapsed);
      if (phases.at(-1) !== state.phase) phases.push(state.phase);
    }
    expect(phases).toEqual(['Init', 'IndexSkills', 'Decide', 'Act', 'Observe', 'Decide', 'Final']);
    const { wallMs: _live, ...used } = result.used;
    expect(state).toMatchObject({
      turn: 2,
      used,
      plan: result.plan,
      done: ['run_script report count.sh: exit 0, not isolated', 'final_answer: 18 characters'],
      open: [],
    });
    expect(result.plan).toEqual({ goal: 'rows', steps, assumptions: [], constraints: {} });
  });
});

test('a plan without a goal keeps the one before it; what is wrong with a plan stops nothing', async () => {
  const { agent } = await world();
  const model = played([
    { calls: [['update_plan', { goal: 'rows', steps: [{ id: 'a', title: 'Count', status: 'pending' }] }]] },
    {
      calls: [
        ['update_plan', { steps: [{ id: 'b', title: 'Tell', status: 'pending' }] }],
        ['update_plan', 'no plan'],
        ['update_plan', { steps: 7 }],
      ],
    },
    { text: 'ok' },
  ]);
  const { plan, outcome } = await agent({ model });
  expect([outcome, plan.goal, plan.steps.map(({ id }) => id)]).toEqual(['done', 'rows', ['b']]);
  const results = model.requests[2]?.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
  expect(results?.slice(1)).toEqual([
    'plan saved',
    expect.stringMatching(/^plan saved with problems: plan_update/),
    expect.stringMatching(/^plan saved with problems: plan_update\.steps must be a list of steps, not/),
  ]);
});

test('the rejected parts of a plan are reported to the model', async () => {
  const { agent } = await world();
  const model = played([
    acting(
      'select_skills',
      { skills: [{ name: 'report' }] },
      { plan_update: { mode: 'patch', steps: [{ id: 'z', status: 'completed' }] } },
    ),
    acting('final_answer', { answer: 'ok' }),
  ]);
  expect(await agent({ model, protocol: 'actions' })).toMatchObject({ outcome: 'done' });
  expect(allText(model.requests[1] ?? expect.fail())).toContain('plan: there is no step "z" to change');
});

describe('the context of a model', () => {
  test('about the state: the plan and what is left', () => {
    const plan = {
      goal: 'rows',
      steps: [{ id: 'a', title: 'Count', status: 'pending' }],
      assumptions: [],
      constraints: {},
    } as const;
    const state = { ...FIRST_STATE, turn: 3, plan, used: { ...FIRST_STATE.used, toolCalls: 31, scriptRuns: 1 } };
    expect(stateText(state, DEFAULT_BUDGET)).toBe(
      '[state]\nGoal: rows\n[ ] a: Count\nBudget: turn 3 of 12, 0 tool calls left, 5 script runs left.',
    );
  });

  test('about the rules: of each protocol its own and nothing of the other', () => {
    expect(rulesText('tools')).not.toContain('"action"');
    expect(rulesText('actions')).not.toContain('update_plan');
  });
});

test('an answer by rule says what is done, what is next and why, also where there is nothing', () => {
  expect(degradedAnswer('the model is gone', { done: [], plan: undefined })).toBe(
    'This answer is incomplete: the model is gone.\n\nDone:\n- nothing\n\nNext:\n- the request as it was asked',
  );
  const done = Array.from({ length: 25 }, (_, place) => `step ${String(place)}`);
  const plan = { goal: 'rows', steps: [], assumptions: [], constraints: {} };
  const lines = degradedAnswer('it stopped', { done, plan }).split('\n');
  expect([lines[3], lines[4], lines.at(-1)]).toEqual([
    '- 5 earlier actions, see the run record',
    '- step 5',
    '- see whether the goal is met: rows',
  ]);
});
