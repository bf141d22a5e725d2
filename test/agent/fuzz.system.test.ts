import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { verifyRun } from '../../src/journal/verify.ts';
import type { Model, ModelAnswer, ModelRequest } from '../../src/core/model.ts';
import { runs } from '../property-runs.ts';
import { eventsOf, ofType, world } from './support.ts';

const SKILLS = {
  report: { body: 'canary', files: { 'references/r.md': '# R\n\ntext\n', 'scripts/s.sh': '#!/bin/sh\necho ok\n' } },
  deep: { fields: ['run-mode: subagent'], body: 'canary' },
  hidden: { fields: ['disable-model-invocation: true'], body: 'canary-hidden' },
};

const odd = fc.constantFrom(
  '../../etc/passwd',
  '/etc/passwd',
  'report',
  'hidden',
  'deep',
  'references/r.md',
  's.sh',
  '',
  '\u0000',
  '\uD800',
  '</skill_content>',
  'run://observations/x',
  'x'.repeat(30_000),
);
const value = fc.oneof(
  odd,
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.array(odd, { maxLength: 3 }),
  fc.record({ name: odd, source: odd }, { requiredKeys: [] }),
);
const key = fc.constantFrom(
  'skill',
  'skills',
  'script',
  'args',
  'path',
  'relative_path',
  'query',
  'answer',
  'reference',
  'steps',
  'command',
  '__proto__',
  'n',
);
const input = fc.dictionary(key, value, { maxKeys: 4 });
const name = fc.constantFrom(
  'load_skill',
  'select_skills',
  'search_skills',
  'read_resource',
  'load_resource',
  'list_resources',
  'get_script_path',
  'update_plan',
  'recall_output',
  'final_answer',
  'write_file',
  'no_such_tool',
  'constructor',
);
const planUpdate = fc.oneof(
  fc.record(
    { mode: fc.constantFrom('replace', 'patch', 'x'), plan: fc.anything(), steps: fc.anything() },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);
const decision = fc.oneof(
  fc.record(
    {
      action: fc.record({ type: name, payload: fc.oneof(input, fc.jsonValue()) }),
      plan_update: planUpdate,
      diagnostics: fc.jsonValue(),
    },
    { requiredKeys: ['action'] },
  ),
  fc.jsonValue(),
);
const noise = fc.oneof(
  fc.string(),
  odd,
  fc.constantFrom('```json\n', 'Sure! ', '{', '{"action": {"type": "final_answer"', 'I refuse.'),
);
const text = fc.oneof(
  { weight: 3, arbitrary: decision.map((thing) => JSON.stringify(thing) ?? '') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(noise, decision, noise)
      .map(([before, thing, after]) => `${before}${JSON.stringify(thing) ?? ''}${after}`),
  },
  { weight: 1, arbitrary: noise },
);
const call = fc.record({
  id: fc.oneof(fc.uuid(), fc.constant('same')),
  name: fc.oneof(name, fc.string()),
  input: fc.oneof(
    input.map((thing) => JSON.stringify(thing)),
    noise,
  ),
});
const usage = fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat(5000) }, { requiredKeys: [] });

const toolAnswer: fc.Arbitrary<ModelAnswer> = fc.record({
  text: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: noise }),
  toolCalls: fc.array(call, { minLength: 1, maxLength: 4 }),
  finish: fc.constantFrom('stop', 'tool-calls', 'length', 'filtered', 'other'),
  usage,
  retries: fc.nat(3),
});
const actionAnswer: fc.Arbitrary<ModelAnswer> = fc.record({
  text,
  toolCalls: fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(call, { maxLength: 2 }) },
  ),
  finish: fc.constantFrom('stop', 'tool-calls', 'length', 'filtered', 'other'),
  usage,
  retries: fc.nat(3),
});

const RUNS = runs(200);
const TURNS = 20;

/** What this model says is nobody's idea of an answer; when it has said all of it, it says so again. */
function babbler(answers: readonly ModelAnswer[], told: ModelRequest[]): Model {
  return {
    id: 'babbler',
    contextWindow: 24_000,
    call: (request) => Promise.resolve(answers[(told.push(request) - 1) % answers.length] ?? expect.fail()),
  };
}

describe('a model that says anything', () => {
  test.each([
    ['tools', toolAnswer, 10],
    ['actions', actionAnswer, 1.5],
  ] as const)(
    'breaks nothing, by %s: every run ends, inside its policy, with a good record',
    async (protocol, answer, turnsPerRun) => {
      const { agent } = await world(SKILLS);
      let turns = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(answer, { minLength: TURNS, maxLength: TURNS }), async (answers) => {
          const told: ModelRequest[] = [];
          const result = await agent({
            model: babbler(answers, told),
            protocol,
            budget: { turns: TURNS, tokens: 10_000_000 },
            run: {
              policy: { deny: ['run_script', 'run_command', 'write_file'] },
              execution: { executor: 'local', artifacts: false },
              host: {},
            },
          });
          turns += told.length;
          expect(['done', 'degraded', 'failed', 'refused']).toContain(result.outcome);
          expect(result.answer).not.toBe('');
          expect(verifyRun(result.path ?? '')).toMatchObject({ status: 'intact', problems: [] });
          const events = eventsOf(result);
          expect(events.at(-1)?.type).toBe('run-end');
          const wrong = ofType(events, 'observation').filter(({ observation }) =>
            ['program-ran', 'file-written'].includes(observation.type),
          );
          expect(wrong).toEqual([]);
          expect(told.some((request) => JSON.stringify(request).includes('canary-hidden'))).toBe(false);
        }),
        { numRuns: RUNS, seed: 20_261_115, endOnFailure: true },
      );
      expect(turns / RUNS).toBeGreaterThan(turnsPerRun);
    },
    300_000,
  );
});
