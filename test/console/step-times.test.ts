import { expect, test } from 'vitest';

import { EMPTY_RUN, withMessages, type LiveRun } from '../../console/live-run.ts';
import { isWaiting, stepSpans, sumSteps } from '../../console/step-times.ts';
import type { EventRow } from '../../src/server/api/index.ts';

type Given = Partial<EventRow> & Pick<EventRow, 'type' | 'at'>;

function runOf(...rows: readonly Given[]): LiveRun {
  const messages = rows.map((row, at) => ({
    type: 'row' as const,
    row: { seq: at + 1, tone: 'plain' as const, text: '', ...row },
  }));
  return withMessages(EMPTY_RUN, messages);
}

const CALL: Given = { type: 'model-call', at: 10, turn: 1, model: 'm' };
const ANSWER: Given = {
  type: 'model-answer',
  at: 110,
  turn: 1,
  tokens: 30,
  usage: { inputTokens: 20, outputTokens: 10 },
  usd: 0.25,
};
const MODEL = [CALL, ANSWER];
const PROGRAM: readonly Given[] = [
  { type: 'action', at: 120, call: 1, action: 'run_command' },
  { type: 'approval-ask', at: 130, call: 1 },
  { type: 'approval-answer', at: 1_130, call: 1 },
  { type: 'observation', at: 1_530, call: 1 },
];

test('the time of a run is that of its model, its questions, its programs and the rest', () => {
  const run = runOf(...MODEL, ...PROGRAM, { type: 'note', at: 1_540 });
  expect(run.steps.map(stepSpans)).toEqual([
    [{ kind: 'model', from: 10, to: 110 }],
    [
      { kind: 'program', from: 120, to: 130 },
      { kind: 'approval', from: 130, to: 1_130 },
      { kind: 'program', from: 1_130, to: 1_530 },
    ],
    [],
  ]);
  expect(sumSteps(run, 1_600, 500)).toEqual({
    times: { queue: 500, model: 100, approval: 1_000, program: 410, tool: 0, other: 90 },
    inputTokens: 20,
    outputTokens: 10,
    cachedTokens: 0,
    usd: 0.25,
  });
});

test('what is in progress lasts until now, and a question without an answer waits', () => {
  const asked = runOf(...MODEL, ...PROGRAM.slice(0, 2));
  expect([isWaiting(asked), sumSteps(asked, 5_130).times.approval]).toEqual([true, 5_000]);
  const answered = runOf(...MODEL, ...PROGRAM.slice(0, 3));
  expect([isWaiting(answered), sumSteps(answered, 2_130).times.program]).toEqual([false, 1_010]);
});

test('one answer without a price leaves the run without one', () => {
  expect(sumSteps(runOf(...MODEL, { ...CALL, turn: 2 }, { ...ANSWER, turn: 2, usd: undefined }), 300)).toMatchObject({
    inputTokens: 40,
    usd: undefined,
  });
});
