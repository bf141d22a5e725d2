import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { ModelDelta } from '../../../src/core/model.ts';
import { readAnswer, readStream, streamProblem } from '../../../src/model/ai-sdk/ai-sdk-answer.ts';
import { ANSWER_LIMITS } from '../../../src/model/guarded-fetch.ts';

const USAGE: LanguageModelV3Usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
const END: LanguageModelV3StreamPart = { type: 'finish', usage: USAGE, finishReason: { unified: 'stop', raw: 'stop' } };

const quiet = { hide: (text: string) => text, limits: ANSWER_LIMITS, onMetadata: () => undefined };

async function read(
  parts: readonly LanguageModelV3StreamPart[],
  deltas: ModelDelta[] = [],
): ReturnType<typeof readStream> {
  const stream = new ReadableStream<LanguageModelV3StreamPart>({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  return readStream(stream, { ...quiet, onDelta: (delta) => deltas.push(delta) });
}

test('whatever order the parts of a stream have, what is told adds up to what is returned', async () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const text = fc.string();
  const part: fc.Arbitrary<LanguageModelV3StreamPart> = fc.oneof(
    fc.record({ type: fc.constant('text-delta' as const), id, delta: text }),
    fc.record({ type: fc.constant('reasoning-delta' as const), id, delta: text }),
    fc.record({ type: fc.constant('tool-input-start' as const), id, toolName: fc.constant('tool') }),
    fc.record({ type: fc.constant('tool-input-delta' as const), id, delta: text }),
    fc.record({ type: fc.constant('tool-input-end' as const), id }),
    fc.record({ type: fc.constant('tool-call' as const), toolCallId: id, toolName: fc.constant('tool'), input: text }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part), async (parts) => {
      const deltas: ModelDelta[] = [];
      const answer = await read([...parts, END], deltas);
      const sum = (wanted: (delta: ModelDelta) => boolean): string =>
        deltas
          .filter(wanted)
          .map(({ text }) => text)
          .join('');
      expect(sum(({ type }) => type === 'text')).toBe(answer.text);
      for (const call of answer.toolCalls)
        expect(sum((delta) => delta.type === 'tool-input' && delta.id === call.id)).toBe(call.input);
      const told = new Set(deltas.flatMap((delta) => (delta.type === 'tool-input' ? [delta.id] : [])));
      expect([...told].every((wanted) => answer.toolCalls.some(({ id }) => id === wanted))).toBe(true);
    }),
  );
});

test('usage is taken over, and left out where it is no number of tokens', async () => {
  expect((await read([END])).usage).toEqual({ inputTokens: 10, outputTokens: 3, cachedInputTokens: 4 });
  const nonsense = {
    inputTokens: { total: -1, noCache: 0, cacheRead: undefined, cacheWrite: 0 },
    outputTokens: { total: Number.NaN, text: 0, reasoning: 0 },
  };
  const finishReason = { unified: 'stop', raw: 'stop' } as const;
  expect(readAnswer({ content: [], finishReason, usage: nonsense, warnings: [] }, quiet)).toEqual({
    text: '',
    toolCalls: [],
    finish: 'stop',
    usage: {},
  });
});

test('tools that the vendor runs itself are no calls of ours', async () => {
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}', providerExecuted: true } as const;
  expect((await read([call, END])).toolCalls).toEqual([]);
});

test.each([
  ['stop', 'stop', 'tool-calls'],
  ['length', 'length', 'length'],
  ['content-filter', 'filtered', 'filtered'],
  ['tool-calls', 'other', 'tool-calls'],
  ['other', 'other', 'tool-calls'],
] as const)('the finish %s without and with a call: %s, %s', async (unified, without, withCall) => {
  const end = { type: 'finish', usage: USAGE, finishReason: { unified, raw: 'x' } } as const;
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '{}' } as const;
  expect([(await read([end])).finish, (await read([call, end])).finish]).toEqual([without, withCall]);
});

test.each([
  [{ message: 'Overloaded', type: 'overloaded_error' }, 'the server aborted with an error: Overloaded', true],
  [{ error: { message: 'quota', code: 'rate_limit_exceeded' } }, 'the server aborted with an error: quota', true],
  [{ message: 'bad', type: 'invalid_request_error' }, 'the server aborted with an error: bad', false],
  ['gone', 'the server aborted with an error: gone', false],
  [undefined, 'the answer does not follow the protocol of the provider: malformed JSON, or not a model server', false],
  [
    new Error('the request was {"secret":1}'),
    'the answer does not follow the protocol of the provider: malformed JSON, or not a model server',
    false,
  ],
])('an error in a stream: %j', (error, message, isRetryable) => {
  expect(streamProblem(error, (text) => text)).toMatchObject({ message, isRetryable });
});
