import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import path from 'node:path';
import { verifies } from '../conformance/verifies.ts';
import { runs } from '../property-runs.ts';
import { acting, allText, eventsOf, ofType, played, world, type Line } from './support.ts';

const fork = {
  fields: ['run-mode: subagent'],
  body: 'canary-deep',
  files: { 'scripts/go.sh': '#!/bin/sh\necho went\n' },
};
const load = (skill: string): Line => ({ calls: [['load_skill', { skill }]] });

describe('a skill that runs as a subagent', () => {
  verifies('AGT-11', 'is run by a child with its instructions; the parent sees the summary alone', async () => {
    const { agent } = await world({ deep: fork, plain: {} });
    const model = played([
      load('deep'),
      { calls: [['run_script', { skill: 'deep', script: 'go.sh' }]] },
      { text: 'The child went.' },
      { text: 'All done.' },
    ]);
    const result = await agent({ model });
    expect(result).toMatchObject({
      outcome: 'done',
      answer: 'All done.',
      used: { turns: 2, scriptRuns: 1, toolCalls: 2 },
    });
    const [, child, , last] = model.requests.map(allText);
    expect(child).toContain('canary-deep');
    expect(child).toContain('count the rows');
    expect(last).toContain('The child went.');
    expect(last).not.toContain('canary-deep');
    const events = eventsOf(result);
    const [started] = ofType(events, 'subagent-start');
    expect(started).toMatchObject({ call: 1, skill: 'option/deep' });
    expect(ofType(events, 'subagent-end')).toEqual([
      {
        type: 'subagent-end',
        call: 1,
        run: started?.run,
        outcome: 'done',
        used: expect.objectContaining({ turns: 2, scriptRuns: 1 }),
      },
    ]);
    const folder = path.join(path.dirname(result.path ?? ''), started?.run ?? '');
    expect(verifyRun(folder).status).toBe('intact');
    expect([...readRun(folder).lines][0]?.event).toMatchObject({ type: 'run-start', parent: result.run });
  });

  test('at most four run for one request, and none deeper than two below it', async () => {
    const { agent } = await world({ deep: fork, more: fork, most: fork });
    const depth = played([load('deep'), load('more'), load('most'), { text: 'c' }, { text: 'b' }, { text: 'a' }]);
    const deep = await agent({ model: depth });
    expect(deep).toMatchObject({ outcome: 'done', answer: 'a' });
    expect(allText(depth.requests[3] ?? expect.fail())).toContain('subagents may be nested 2 levels deep');
    const many = played([
      ...Array.from({ length: 4 }, () => [load('deep'), { text: 'x' }]).flat(),
      load('deep'),
      { text: 'a' },
    ]);
    const result = await agent({ model: many });
    expect(ofType(eventsOf(result), 'subagent-start')).toHaveLength(4);
    expect(allText(many.requests.at(-1) ?? expect.fail())).toContain('the limit of 4 subagents is reached');
  });

  test('is not taken into the conversation among others', async () => {
    const { agent } = await world({ deep: fork, plain: { body: 'canary-plain' } });
    const skills = ['plain', 'deep'].map((name) => ({ name }));
    const model = played([acting('select_skills', { skills }), acting('final_answer', { answer: 'ok' })]);
    const result = await agent({ model, protocol: 'actions' });
    expect(ofType(eventsOf(result), 'activation').map(({ skill }) => skill)).toEqual(['option/plain']);
    const second = allText(model.requests[1] ?? expect.fail());
    expect(second).toContain('load it in a call of its own');
    expect(second).not.toContain('canary-deep');
  });

  test('has no more budget than is left', async () => {
    const { agent } = await world({ deep: fork });
    const script: Line = { calls: [['run_script', { skill: 'deep', script: 'go.sh' }]] };
    const model = played([load('deep'), script, script, script, { text: 'never' }]);
    const result = await agent({ model, budget: { scriptRuns: 2 } });
    expect(result.used.scriptRuns).toBe(2);
    const [ended] = ofType(eventsOf(result), 'subagent-end');
    expect(ended?.outcome).toBe('degraded');
  });

  test('that a model may not choose is not run', async () => {
    const { agent } = await world({
      deep: { ...fork, fields: ['run-mode: subagent', 'disable-model-invocation: true'] },
      plain: {},
    });
    const model = played([load('deep'), { text: 'ok' }]);
    const result = await agent({ model });
    expect(ofType(eventsOf(result), 'subagent-start')).toEqual([]);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('cannot be invoked by the model');
  });

  verifies('AGT-11', 'never has rights that its parent has not, whatever the rules are', async () => {
    const rule = fc.constantFrom(
      'run_script',
      'write_file',
      'read_file',
      'write_file(a/**)',
      'run_command(ls:*)',
      'read_file(secret/**)',
    );
    const config = fc.record({
      allow: fc.uniqueArray(rule, { maxLength: 3 }),
      ask: fc.uniqueArray(rule, { maxLength: 2 }),
      deny: fc.uniqueArray(rule, { maxLength: 2 }),
    });
    const tries: Line = {
      calls: [
        ['run_script', { skill: 'deep', script: 'go.sh' }],
        ['run_command', { command: 'ls' }],
      ],
    };
    const { agent } = await world({ deep: fork });
    await fc.assert(
      fc.asyncProperty(config, async (parent) => {
        const effects = async (lines: readonly Line[]): Promise<ReadonlyMap<string, string>> => {
          const result = await agent({ model: played(lines), run: { policy: parent } });
          const [nested] = ofType(eventsOf(result), 'subagent-start');
          const folder =
            nested === undefined ? (result.path ?? '') : path.join(path.dirname(result.path ?? ''), nested.run);
          const decided = [...readRun(folder).lines].flatMap(({ event }) =>
            event.type === 'decision' ? [event.decision] : [],
          );
          return new Map(decided.map(({ tool, effect }) => [tool, effect]));
        };
        const inParent = await effects([tries, { text: 'a' }]);
        const inChild = await effects([load('deep'), tries, { text: 'b' }, { text: 'a' }]);
        const rank = { deny: 0, ask: 1, allow: 2 } as const;
        for (const [tool, effect] of inChild) {
          const above = inParent.get(tool);
          if (above !== undefined)
            expect([tool, rank[effect as 'deny'] <= rank[above as 'deny']]).toEqual([tool, true]);
        }
      }),
      { numRuns: runs(15, 6) },
    );
  });
});
