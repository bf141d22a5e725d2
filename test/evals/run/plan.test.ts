import { expect, test } from 'vitest';

import { buildPlan } from '../../../src/evals/run/plan.ts';
import { thinking, topicCases } from '../eval-world.ts';

test('a plan counts recorded cases if they are recorded again', () => {
  const cases = topicCases({ answers: { type: 'cassette', file: 'a.jsonl' } });
  const model = thinking(() => ({ text: '' }));
  const runs = (updateCassettes: boolean): number =>
    buildPlan({ cases, model, arms: 2, detect: 0.2, hasJudge: false, updateCassettes, earlier: [] }).runs;
  expect([runs(false), runs(true)]).toEqual([0, 24]);
});
