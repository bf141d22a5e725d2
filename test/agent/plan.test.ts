import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  PLAN_LIMITS,
  STEP_STATES,
  applyPlanUpdate,
  planText,
  startPlan,
  type PlanUpdate,
} from '../../src/agent/plan.ts';
import type { Plan } from '../../src/core/plan.ts';
import { findHidden } from '../../src/core/text/text.ts';
import { runs } from '../property-runs.ts';

const plan: Plan = {
  goal: 'Sum the table',
  steps: [
    { id: 's1', title: 'Choose a skill', status: 'completed' },
    { id: 's2', title: 'Run its script', status: 'in_progress' },
    { id: 's3', title: 'Answer', status: 'pending' },
  ],
  assumptions: ['the file is UTF-8'],
  constraints: { max_turns: 12 },
};

describe('a plan', () => {
  test('starts with its goal and nothing else', () => {
    expect(startPlan('  Sum\tthe \u001b[31mtable\n')).toEqual({
      goal: 'Sum the table',
      steps: [],
      assumptions: [],
      constraints: {},
    });
    expect(startPlan('x'.repeat(10_000)).goal).toBe(`${'x'.repeat(499)}…`);
  });

  test('is replaced whole, and keeps its goal where the new one has none', () => {
    const next: Plan = { ...plan, goal: ' ', steps: plan.steps.slice(2), assumptions: [] };
    expect(applyPlanUpdate(plan, { mode: 'replace', plan: next })).toEqual({
      plan: { ...next, goal: 'Sum the table' },
      problems: [],
    });
  });

  test('is patched: steps are changed, added, removed and put in order, the rest stays', () => {
    const change = applyPlanUpdate(plan, {
      mode: 'patch',
      steps: [
        { id: 's2', status: 'completed' },
        { id: 's4', title: 'Check the sum' },
        { id: 's3', title: 'Answer with the sum' },
      ],
      remove: ['s1'],
      order: ['s4'],
      constraints: { max_tool_calls: 30 },
    });
    expect(change).toEqual({
      plan: {
        goal: 'Sum the table',
        steps: [
          { id: 's4', title: 'Check the sum', status: 'pending' },
          { id: 's2', title: 'Run its script', status: 'completed' },
          { id: 's3', title: 'Answer with the sum', status: 'pending' },
        ],
        assumptions: ['the file is UTF-8'],
        constraints: { max_turns: 12, max_tool_calls: 30 },
      },
      problems: [],
    });
  });

  test('is not changed by a patch to steps that are not there, and the model is told', () => {
    const change = applyPlanUpdate(plan, {
      mode: 'patch',
      steps: [{ id: 's9', status: 'completed' }],
      remove: ['S3 ', 'other'],
      order: ['s33'],
    });
    expect(change).toEqual({
      plan,
      problems: [
        'there is no step "S3 " to remove; similar ids: "s3", "s1", "s2"',
        'there is no step "other" to remove',
        'there is no step "s9" to change; similar ids: "s1", "s2", "s3"; a new step needs a title',
        'there is no step "s33" to put in order; similar ids: "s3"',
      ],
    });
  });

  test('takes no step twice, and none without a name', () => {
    const steps: Plan['steps'] = [
      { id: 'a', title: 'one', status: 'pending' },
      { id: 'a', title: 'two', status: 'pending' },
      { id: ' ', title: 'three', status: 'pending' },
      { id: 'b', title: '\u200b', status: 'pending' },
      { id: 'c', title: 'four', status: 'pending' },
    ];
    expect(applyPlanUpdate(plan, { mode: 'replace', plan: { ...plan, steps } })).toEqual({
      plan: {
        ...plan,
        steps: [
          { id: 'a', title: 'one', status: 'pending' },
          { id: 'c', title: 'four', status: 'pending' },
        ],
      },
      problems: ['the id "a" is used twice; the first step was kept', 'a step has no id', 'step "b" has no title'],
    });
  });

  test('keeps to its limits and says so', () => {
    const steps = Array.from({ length: 1000 }, (_, index) => ({ id: `t${index}`, title: 'x' }));
    const change = applyPlanUpdate(plan, { mode: 'patch', steps });
    expect([change.plan.steps.length, change.problems]).toEqual([
      50,
      ['1000 step changes; only the first 50 were used', '53 steps; only the first 50 were used'],
    ]);
  });
});

describe('laws of plans', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', minLength: 200, maxLength: 900 }));
  const id = fc.oneof(fc.constantFrom('s1', 's2', 's3', '__proto__', ''), text);
  const status = fc.constantFrom(...STEP_STATES);
  const constraints = fc.dictionary(fc.oneof(fc.constant('__proto__'), text), fc.oneof(text, fc.double()));
  const anyPlan: fc.Arbitrary<Plan> = fc.record({
    goal: text,
    steps: fc.array(fc.record({ id, title: text, status }), { maxLength: 80 }),
    assumptions: fc.array(text, { maxLength: 30 }),
    constraints,
  });
  const patch: fc.Arbitrary<PlanUpdate> = fc
    .record(
      {
        goal: text,
        steps: fc.array(fc.record({ id, title: text, status }, { requiredKeys: ['id'] }), { maxLength: 80 }),
        remove: fc.array(id),
        order: fc.array(id, { maxLength: 80 }),
        assumptions: fc.array(text, { maxLength: 30 }),
        constraints,
      },
      { requiredKeys: [] },
    )
    .map((fields) => ({ mode: 'patch', ...fields }) as const);
  const update = fc.oneof(
    patch,
    anyPlan.map((whole) => ({ mode: 'replace', plan: whole }) as const),
  );

  test('whatever the updates are, it stays small, clean and valid', () => {
    fc.assert(
      fc.property(fc.array(update, { minLength: 1, maxLength: 4 }), (updates) => {
        const last = updates.reduce((before, next) => applyPlanUpdate(before, next).plan, startPlan('g'));
        expect(last.steps.length).toBeLessThanOrEqual(PLAN_LIMITS.steps);
        expect(last.assumptions.length).toBeLessThanOrEqual(PLAN_LIMITS.assumptions);
        expect(Object.keys(last.constraints).length).toBeLessThanOrEqual(PLAN_LIMITS.constraints);
        expect(new Set(last.steps.map((step) => step.id)).size).toBe(last.steps.length);
        expect(last.steps.every((step) => STEP_STATES.includes(step.status))).toBe(true);
        const longest = Math.max(0, ...last.steps.flatMap((step) => [step.title.length, step.id.length * 5]));
        expect(longest).toBeLessThanOrEqual(PLAN_LIMITS.titleCharacters);
        expect(findHidden(planText(last))).toBeUndefined();
        expect(planText(last).split('\n')).toHaveLength(
          1 + last.steps.length + last.assumptions.length + Object.keys(last.constraints).length,
        );
      }),
      { numRuns: runs(200) },
    );
  });

  test('an update that says what is already so changes nothing', () => {
    fc.assert(
      fc.property(anyPlan, (whole) => {
        const { plan: once } = applyPlanUpdate(startPlan('g'), { mode: 'replace', plan: whole });
        expect(applyPlanUpdate(once, { mode: 'replace', plan: once })).toEqual({ plan: once, problems: [] });
        expect(applyPlanUpdate(once, { mode: 'patch' })).toEqual({ plan: once, problems: [] });
      }),
      { numRuns: runs(200) },
    );
  });
});

test('a plan as text has a line a step', () => {
  expect(planText(plan)).toBe(
    [
      'Goal: Sum the table',
      '[x] s1: Choose a skill',
      '[>] s2: Run its script',
      '[ ] s3: Answer',
      'Assumed: the file is UTF-8',
      'Constraint: max_turns = 12',
    ].join('\n'),
  );
});
