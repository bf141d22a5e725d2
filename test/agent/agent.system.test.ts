import { describe, expect } from 'vitest';

import { verifyRun } from '../../src/journal/verify.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { verifies } from '../conformance/verifies.ts';
import { acting, allText, eventsOf, ofType, played, world } from './support.ts';

describe('native tool calls', () => {
  verifies(
    ['AGT-1', 'AGT-2'],
    'a skill is loaded, its script is run, and the answer is given; all of it is in the record',
    async () => {
      const { agent } = await world();
      const model = played([
        { calls: [['load_skill', { skill: 'report' }]] },
        { calls: [['run_script', { skill: 'report', script: 'count.sh', args: ['a b'] }]] },
        { text: 'There are 42 rows.', usage: { inputTokens: 900, outputTokens: 7 } },
      ]);
      const result = await agent({ model });
      expect(result).toEqual({
        outcome: 'done',
        answer: 'There are 42 rows.',
        reason: '',
        plan: { goal: 'count the rows', steps: [], assumptions: [], constraints: {} },
        used: {
          turns: 3,
          toolCalls: 2,
          scriptRuns: 1,
          contextTokens: expect.any(Number),
          tokens: expect.any(Number),
          wallMs: expect.any(Number),
        },
        run: expect.any(String),
        path: expect.any(String),
      });
      const folder = result.path ?? '';
      expect(verifyRun(folder).status).toBe('intact');
      expect(readFileSync(path.join(folder, 'final.md'), 'utf8')).toBe('There are 42 rows.');
      const events = eventsOf(result);
      expect(ofType(events, 'turn').map(({ turn }) => turn)).toEqual([1, 2, 3]);
      expect(ofType(events, 'model-answer')).toHaveLength(3);
      expect(ofType(events, 'activation')).toEqual([{ type: 'activation', skill: 'option/report', reason: 'model' }]);
      const [first, second, third] = model.requests;
      expect([first?.system, third?.system]).toEqual([second?.system, second?.system]);
      expect(allText(first ?? expect.fail())).not.toContain('canary');
      expect(allText(second ?? expect.fail())).toContain('canary-report-body');
      expect(allText(third ?? expect.fail())).toContain('rows: 42 a b');
      expect(allText(third ?? expect.fail())).not.toMatch(/canary-other|canary-report-kpi/);
    },
  );
});

describe('structured actions', () => {
  verifies(['AGT-2', 'AGT-3'], 'the same work with objects instead of tool calls', async () => {
    const { agent } = await world();
    const model = played([
      acting(
        'select_skills',
        { skills: [{ name: 'report' }], reason: 'it counts' },
        {
          plan_update: {
            mode: 'replace',
            plan: {
              goal: 'rows',
              steps: [{ id: 's1', title: 'Count', status: 'in_progress' }],
              assumptions: [],
              constraints: {},
            },
          },
        },
      ),
      acting('run_script', { skill: { name: 'report' }, relative_path: 'scripts/count.sh', args: [] }),
      acting(
        'final_answer',
        { answer: '42' },
        { plan_update: { mode: 'patch', steps: [{ id: 's1', status: 'completed' }] } },
      ),
    ]);
    const result = await agent({ model, protocol: 'actions' });
    expect(result).toMatchObject({
      outcome: 'done',
      answer: '42',
      plan: { goal: 'rows', steps: [{ id: 's1', title: 'Count', status: 'completed' }] },
      used: { turns: 3, toolCalls: 2, scriptRuns: 1 },
    });
    expect(verifyRun(result.path ?? '').status).toBe('intact');
    expect(ofType(eventsOf(result), 'plan').map(({ turn }) => turn)).toEqual([1, 3]);
    expect(model.requests.map(({ tools }) => tools)).toEqual([[], [], []]);
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'user',
    ]);
  });
});
