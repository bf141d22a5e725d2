import { expect, test } from 'vitest';

import type { RunEvent } from '../../src/core/run-events.ts';
import { failure } from '../../src/core/failure-codes.ts';
import { actionFailed } from '../../src/core/observation.ts';
import { openCounters } from '../../src/fleet/counters.ts';

const call = (turn: number): RunEvent => ({ type: 'model-call', turn, model: 'm', request: '', tokens: 1 });
const answer = (turn: number): RunEvent => ({
  type: 'model-answer',
  turn,
  text: '',
  toolCalls: [],
  finish: 'stop',
  usage: { inputTokens: 100, outputTokens: 7 },
  retries: 0,
});
const failed = (number: number, code: 'policy/denied' | 'execution/failed'): RunEvent => ({
  type: 'observation',
  call: number,
  observation: actionFailed('run_command', failure(code, 'x')),
});
const start = (resumes?: { run: string; elapsedMs: number; answers: number; calls: number }): RunEvent => ({
  type: 'run-start',
  schema: 1,
  run: 'r',
  request: '',
  version: '1',
  indexHash: '',
  policyHash: '',
  agent: {
    protocol: 'tools',
    vocabulary: 'skillwright',
    activation: 'model',
    required: [],
    files: [],
    resumes,
  },
});

test('steps, tokens, refusals and failed programs are counted, and what a hand-over repeats is not', () => {
  const all = openCounters();
  const counters = all.of('docs');
  all.of('other').countWait(9);
  const feed = (events: readonly (readonly [elapsed: number, event: RunEvent])[]): void => {
    const sink = counters.openSink();
    for (const [index, [elapsed, event]] of events.entries()) sink({ seq: index + 1, time: '', elapsed, event });
  };
  feed([
    [0, start()],
    [1, call(1)],
    [2_001, answer(1)],
    [2_002, { type: 'action', call: 1, action: { type: 'final_answer', answer: 'x' }, askedBy: 'model' }],
    [2_052, failed(1, 'policy/denied')],
    [2_060, failed(2, 'execution/failed')],
  ]);
  feed([
    [0, start({ run: 'r', elapsedMs: 0, answers: 1, calls: 1 })],
    [1, call(1)],
    [2, answer(1)],
    [3, failed(1, 'policy/denied')],
    [4, call(2)],
    [5, answer(2)],
  ]);
  const value = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
    all
      .samples()
      .find(
        (sample) => sample[0] === name && JSON.stringify(sample[1]) === JSON.stringify({ project: 'docs', ...labels }),
      )?.[2];
  expect({
    models: value('skillwright_step_seconds_count', { kind: 'model' }),
    quickModels: value('skillwright_step_seconds_bucket', { kind: 'model', le: '1' }),
    allModels: value('skillwright_step_seconds_bucket', { kind: 'model', le: '+Inf' }),
    actions: value('skillwright_step_seconds_sum', { kind: 'action' }),
    input: value('skillwright_tokens_total', { kind: 'input' }),
    output: value('skillwright_tokens_total', { kind: 'output' }),
    refused: value('skillwright_refusals_total', { code: 'policy/denied' }),
    sandbox: value('skillwright_sandbox_failures_total', { code: 'execution/failed' }),
  }).toEqual({
    models: 2,
    quickModels: 1,
    allModels: 2,
    actions: 0.05,
    input: 200,
    output: 14,
    refused: 1,
    sandbox: 1,
  });
});
