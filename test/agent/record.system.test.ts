import { describe, expect, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { serverSentEvents } from '../../src/server/server-sent-events.ts';
import { isRunEvent } from '../../src/journal/shape.ts';
import type { JournalLine } from '../../src/core/run-events.ts';
import { played, world } from './support.ts';

const recorded = async (): Promise<readonly JournalLine[]> => {
  const { agent } = await world();
  const model = played([
    {
      text: 'I load it.',
      calls: [
        ['load_skill', { skill: 'report' }],
        ['run_script', { skill: 'report', script: 'count.sh' }],
      ],
      usage: { inputTokens: 10, outputTokens: 3, cachedInputTokens: 4 },
    },
    { text: 'There are 42 rows.', usage: { inputTokens: 20, outputTokens: 5 } },
  ]);
  const { path = '' } = await agent({ model });
  return [...readRun(path).lines];
};

describe('the record of an agent', () => {
  test('names a refused call by the tool of the vocabulary, as the answer and the reason do', async () => {
    const { agent } = await world();
    const run = { execution: { executor: 'local', artifacts: false, opens: false } } as const;
    const shell = { calls: [['shell_exec', { command: 'echo a' }]] } as const;
    const stopped = await agent({ model: played([shell]), vocabulary: 'manusx', unapproved: 'stop', run });
    expect(stopped.reason).toMatch(/^shell_exec needs approval/);
    expect(readRun(stopped.path ?? '').info.reason).toBe(stopped.reason);
    expect(stopped.answer).toContain('This answer is incomplete: shell_exec needs approval');
    expect(stopped.answer).not.toContain('run_command');
    const answered = await agent({ model: played([shell, { text: 'No.' }]), vocabulary: 'manusx', run });
    expect(answered).toMatchObject({
      outcome: 'refused',
      reason: expect.stringMatching(/^shell_exec was refused: shell_exec needs approval/),
    });
  });

  test('is a stream whose every event has a name', async () => {
    const lines = await recorded();
    const names: string[] = [];
    const source = (async function* source() {
      yield* lines;
    })();
    for await (const frame of serverSentEvents(source)) names.push(/^event: (.*)$/m.exec(frame)?.[1] ?? '');
    expect(names).toEqual(['', ...lines.map(({ event }) => event.type)]);
    expect(new Set(names)).toContain('model-answer');
  });

  test('is not read where an event is not what it says', () => {
    const plan = { goal: 'g', steps: [{ id: 'a', title: 'b', status: 'pending' }], assumptions: [], constraints: {} };
    const answer = {
      type: 'model-answer',
      turn: 1,
      text: '',
      toolCalls: [{ id: '1', name: 'n', input: '{}' }],
      finish: 'stop',
      usage: {},
      retries: 0,
    };
    expect([{ type: 'plan', turn: 1, plan }, answer].map(isRunEvent)).toEqual([true, true]);
    const broken: readonly unknown[] = [
      { type: 'turn' },
      { type: 'plan', turn: 1, plan: { ...plan, steps: [{ id: 'a' }] } },
      { type: 'plan', turn: 1, plan: { ...plan, steps: 'none' } },
      { ...answer, toolCalls: [{ id: '1', name: 'n', input: {} }] },
      { ...answer, toolCalls: [null] },
      { ...answer, usage: { inputTokens: '9' } },
      { type: 'context-compact', before: 1, after: 1, dropped: 'x' },
      { type: 'subagent-end', call: 1, run: 'r', outcome: 'done', used: [] },
    ];
    expect(broken.map(isRunEvent)).toEqual(broken.map(() => false));
  });
});
