import { expect, test } from 'vitest';

import type { RunEvent } from '../../src/core/run-events.ts';
import { eventRow, openEventRows, type RecordLine } from '../../src/server/event-row.ts';

function line(seq: number, event: RunEvent): RecordLine {
  return { seq, time: '', elapsed: seq * 10, hash: '', event };
}

const call = (turn: number, model: string): RunEvent => ({ type: 'model-call', turn, model, request: '', tokens: 9 });
const answer = (turn: number, usage: object, text = ''): RunEvent => ({
  type: 'model-answer',
  turn,
  text,
  toolCalls: [],
  finish: 'stop',
  usage,
  retries: 0,
});

test('an answer has the model that was called, and the price of that model', () => {
  const rows = openEventRows((model, { inputTokens = 0 }) => (model === 'dear' ? inputTokens / 10 : undefined));
  const events = [
    call(1, 'dear'),
    answer(1, { inputTokens: 50, outputTokens: 2 }, 'Done.'),
    call(2, 'unknown'),
    answer(2, { inputTokens: 50 }),
    call(3, 'dear'),
    answer(3, {}),
  ];
  const shown = events.map((event, at) => rows(line(at + 1, event)));
  expect(shown[1]).toEqual({
    seq: 2,
    attempt: undefined,
    at: 20,
    type: 'model-answer',
    tone: 'faint',
    text: 'answers',
    preview: 'Done.',
    turn: 1,
    tokens: 52,
    usage: { inputTokens: 50, outputTokens: 2 },
    model: 'dear',
    usd: 5,
  });
  expect(shown.map(({ model, usd }) => [model, usd])).toEqual([
    ['dear', undefined],
    ['dear', 5],
    ['unknown', undefined],
    ['unknown', undefined],
    ['dear', undefined],
    ['dear', undefined],
  ]);
});

test('a program shows how it ended and what it printed, not how much; neither sizes nor limits', () => {
  const result = {
    stdout: 'one\n',
    stderr: 'two\n',
    exit_code: 3,
    reason: 'exited',
    output_files: [],
    executor: 'local',
    isolation: 'none',
  };
  const observation = {
    type: 'program-ran',
    action: 'run_command',
    result,
    limits: { wallMs: { enforcedBy: 'runtime' } },
  };
  const event: unknown = { type: 'observation', call: 1, observation };
  expect(eventRow(line(1, event as RunEvent))).toMatchObject({
    tone: 'warning',
    text: 'exit 3, not isolated',
    preview: 'one\ntwo\n',
  });
  const skill: unknown = {
    type: 'observation',
    call: 1,
    observation: { type: 'answered', action: 'final_answer', answer: 'x'.repeat(36) },
  };
  expect(eventRow(line(1, skill as RunEvent))).toMatchObject({ text: 'answered', call: 1 });
});
