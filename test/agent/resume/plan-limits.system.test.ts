import { expect, test } from 'vitest';

import { resumeAgent, type Resumed } from '../../../src/agent/resume/resume.ts';
import type { Budget } from '../../../src/core/budget.ts';
import type { Model, ModelRequest } from '../../../src/core/model.ts';
import { allText, eventsOf, ofType, played, world, type Line } from '../support.ts';

const RUN = { execution: { executor: 'local', artifacts: false } } as const;
const LOAD = { calls: [['load_skill', { skill: 'report' }]] } as const;
const COUNT = { calls: [['run_script', { skill: 'report', script: 'count.sh' }]] } as const;

const planned = (constraints: object, ...calls: readonly (readonly [string, object])[]): Line => ({
  calls: [['update_plan', { goal: 'g', steps: [], constraints }], ...calls],
});
const [load] = LOAD.calls;
const [count] = COUNT.calls;
const readsPlan = (result: { readonly path: string | undefined }): readonly object[] =>
  ofType(eventsOf(result), 'plan').map(({ plan }) => plan.constraints);

test.each<readonly [string, Line, Partial<Budget>, string]>([
  ['turns', planned({ max_turns: 1 }, load), { turns: 30 }, 'max_turns = 1'],
  ['tool calls', planned({ max_tool_calls: 1 }, load, load), { toolCalls: 20 }, 'max_tool_calls = 1'],
  ['script runs', planned({ max_script_runs: 0 }, count), { scriptRuns: 3 }, 'max_script_runs = 0'],
  ['tokens', planned({ max_tokens: 1 }, load), { tokens: 1_000_000 }, 'max_tokens = 1'],
])('the budget of %s that the user sets outranks the plan of the model', async (_name, first, budget, constraint) => {
  const { agent, runtime } = await world();
  const ended = await agent({ model: played([first]) });
  expect(ended).toMatchObject({
    outcome: 'degraded',
    reason: expect.stringContaining('as the plan of the model constrains it'),
  });
  const resume = (path: string | undefined, model: Model, more: Partial<Budget> = {}): Promise<Resumed> =>
    resumeAgent({ runtime, model, path: path ?? '', run: RUN, budget: more });
  // Other budgets leave the constraint as it is.
  const same = await resume(ended.path, played([{ text: 'no' }]), { wallMs: 500_000 });
  expect(same).toMatchObject({ type: 'resumed', result: { outcome: 'degraded', reason: ended.reason } });
  if (same.type !== 'resumed') return;
  // The model repeats its plan, the run is interrupted, and a second resume sets no budget.
  const stopped = played([first, LOAD, new Error('the server said 500')]);
  const resumed = await resume(same.result.path, stopped, budget);
  expect(resumed).toMatchObject({ type: 'resumed', result: { outcome: 'failed' } });
  if (resumed.type !== 'resumed') return;
  expect(readsPlan(resumed.result)).toEqual([{}, {}]);
  expect(allText(stopped.requests[0] as ModelRequest)).toContain(`${constraint} no longer holds: the user allowed `);
  const last = await resume(resumed.result.path, played([{ text: 'There are 42 rows.' }]));
  expect(last).toMatchObject({ type: 'resumed', result: { outcome: 'done', plan: { constraints: {} } } });
});

test('a constraint that the model sets after the resume holds, also in the next one', async () => {
  const { agent, runtime } = await world();
  const ended = await agent({ model: played([planned({ max_turns: 1 }, load)]) });
  const path = ended.path ?? '';
  const model = played([planned({ max_turns: 2 }, load)]);
  const resumed = await resumeAgent({ runtime, model, path, run: RUN, budget: { turns: 30 } });
  const reason = 'the budget of turns is exhausted (2 of 2), as the plan of the model constrains it';
  expect(resumed).toMatchObject({ type: 'resumed', result: { outcome: 'degraded', reason } });
  if (resumed.type !== 'resumed') return;
  expect(readsPlan(resumed.result)).toEqual([{}, {}, { max_turns: 2 }]);
  const again = await resumeAgent({ runtime, model: played([]), path: resumed.result.path ?? '', run: RUN });
  expect(again).toMatchObject({ type: 'resumed', result: { outcome: 'degraded', reason } });
});
