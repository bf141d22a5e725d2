import path from 'node:path';
import { expect, test } from 'vitest';

import { openRules } from '../../src/model/rules/rules.ts';
import { runAgent } from '../../src/agent/agent.ts';
import { createRuntime } from '../../src/runtime/runtime.ts';
import { scratch } from '../skills/registry/support.ts';
import { SKILLS } from '../built-in-skills/support.ts';
import { eventsOf, ofType } from './support.ts';

test.each([
  ['Are there missing values in this CSV file?', ['csv-report']],
  ['What will the weather be like tomorrow?', []],
] as const)(
  'the rule model accepts what convinces and rejects the rest, where it is forced to choose: %s',
  async (request, loaded) => {
    const runtime = await createRuntime({
      cwd: scratch(),
      home: undefined,
      env: {},
      roots: [SKILLS],
      onlyRoots: true,
      cache: false,
    });
    const result = await runAgent({
      runtime,
      model: openRules(),
      request,
      activation: 'forced',
      files: [path.join(SKILLS, 'csv-report/evals/files/orders.csv')],
      run: {
        directory: scratch(),
        execution: { executor: 'local', artifacts: false },
        approve: async () => ({ verdict: 'yes', scope: 'once', by: 'callback' }),
      },
    });
    expect(result.outcome).toBe('done');
    expect(result.answer).toContain(loaded.length > 0 ? '- Rows: 12\n' : 'No skill fits this request');
    const observed = ofType(eventsOf(result), 'observation').map(({ observation }) => observation);
    expect(observed.flatMap((one) => (one.type === 'skill-loaded' ? [one.skill.name] : []))).toEqual(loaded);
  },
);
