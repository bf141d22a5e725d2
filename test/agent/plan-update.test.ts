import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { checkJson } from '../../src/core/json/json-schema.ts';
import { PLAN_UPDATE_SCHEMA, readPlanUpdate } from '../../src/agent/plan-update.ts';
import { applyPlanUpdate, startPlan } from '../../src/agent/plan.ts';
import { runs } from '../property-runs.ts';

/** As the design of skills-agent writes it. */
const BARE = {
  goal: 'Do the task',
  steps: [
    { id: 's1', title: 'Choose skills', status: 'pending' },
    { id: 's2', title: 'Run the script', status: 'pending' },
  ],
  assumptions: [],
  constraints: { max_turns: 12, max_tool_calls: 30 },
};

describe('an update of the plan as models write it', () => {
  test.each([
    ['the bare plan', BARE],
    ['a plan that replaces', { mode: 'replace', plan: BARE }],
    ['a plan without its mode', { plan: BARE }],
    ['a plan beside its mode', { mode: 'replace', ...BARE }],
  ])('%s', (_, value) => {
    expect(readPlanUpdate(value)).toEqual({ update: { mode: 'replace', plan: BARE }, problems: [] });
  });

  test('titles alone, numbers for ids, and a status in other letters', () => {
    expect(
      readPlanUpdate({
        goal: 'g',
        steps: ['first', { id: 2, title: 'second', status: 'In Progress' }, { title: 'x' }],
      }),
    ).toEqual({
      update: {
        mode: 'replace',
        plan: {
          goal: 'g',
          steps: [
            { id: 's1', title: 'first', status: 'pending' },
            { id: '2', title: 'second', status: 'in_progress' },
            { id: 's3', title: 'x', status: 'pending' },
          ],
          assumptions: [],
          constraints: {},
        },
      },
      problems: [],
    });
  });

  test('a patch, with or without its mode', () => {
    const fields = { steps: [{ id: 's1', status: 'completed' }], remove: ['s2'], order: [1, 's1'], goal: null };
    const update = { mode: 'patch', steps: [{ id: 's1', status: 'completed' }], remove: ['s2'], order: ['1', 's1'] };
    expect(readPlanUpdate({ mode: 'patch', ...fields })).toEqual({ update, problems: [] });
    expect(readPlanUpdate(fields)).toEqual({ update, problems: [] });
  });

  test.each([
    ['a text', 'all done', 'plan_update must be an object, not "all done"'],
    ['a list', [{ op: 'replace' }], 'plan_update must be an object, not a list of 1'],
    ['another mode', { mode: 'merge', steps: [] }, 'plan_update.mode must be replace or patch, not "merge"'],
    ['no steps', { mode: 'replace', plan: { goal: 'g' } }, 'plan_update.steps must be a list of steps, not missing'],
    [
      'nothing',
      { mode: 'patch' },
      'plan_update changes nothing: give goal, steps, remove, order, assumptions or constraints',
    ],
  ])('%s is none', (_, value, problem) => {
    expect(readPlanUpdate(value)).toEqual({ problems: [problem] });
  });

  test('of one that is wrong in parts, the parts that are right are taken', () => {
    const value = {
      mode: 'patch',
      goal: [5],
      steps: [{ id: 's1', status: 'done', title: ['x'] }, { status: 'completed' }, 's2', null, { id: {}, title: 'x' }],
      remove: 's1',
      order: [{}],
      constraints: { turns: 3, no_weekend: true, deep: {} },
    };
    expect(readPlanUpdate(value)).toEqual({
      update: { mode: 'patch', steps: [{ id: 's1' }], order: [], constraints: { turns: 3, no_weekend: 'true' } },
      problems: [
        'plan_update.goal must be a string, not a list of 1',
        'plan_update.steps[0].title must be a string, not a list of 1',
        'plan_update.steps[0].status must be one of pending, in_progress, completed, not "done"',
        'plan_update.steps[1].id must be a string, not missing',
        'plan_update.steps[2] must be an object, not "s2"',
        'plan_update.steps[3] must be an object, not null',
        'plan_update.steps[4].id must be a string, not an object',
        'plan_update.constraints: "deep" must be a number, a string, true or false, not an object',
        'plan_update.remove must be a list, not "s1"',
        'plan_update.order[0] must be a string, not an object',
      ],
    });
  });

  test('anything at all is read without a throw, and what is read can be applied', () => {
    const keys = fc.constantFrom(
      'mode',
      'plan',
      'goal',
      'steps',
      'remove',
      'order',
      'assumptions',
      'constraints',
      'id',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('replace', 'patch', 's1', 'pending', 7, null, true),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const { update, problems } = readPlanUpdate(value);
        expect(problems.length).toBeLessThanOrEqual(10);
        if (update !== undefined) expect(applyPlanUpdate(startPlan('g'), update).plan.steps.length).toBeLessThan(51);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('what the schema asks for is taken without a problem', () => {
    const updates = [
      { mode: 'replace', plan: BARE },
      { mode: 'patch', steps: [{ id: 's1', status: 'completed' }], remove: ['s2'], order: ['s1'], goal: 'x' },
    ];
    expect(updates.flatMap((update) => checkJson(update, PLAN_UPDATE_SCHEMA))).toEqual([]);
    expect(updates.flatMap((update) => readPlanUpdate(update).problems)).toEqual([]);
  });
});
