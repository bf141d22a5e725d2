import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ModelAnswer, ModelDelta, ModelMessage, ModelRequest } from '../../src/core/model.ts';
import { openModel } from '../../src/model/auto.ts';
import type { ModelSettings } from '../../src/model/providers.ts';

// Real clients over real HTTP, against a local server that speaks the vendors' protocols.
const server = new LLMock({ port: 0, strict: true, chunkSize: 7 });

beforeAll(async () => {
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  server.clearFixtures().resetMatchCounts();
  server.clearRequests();
});

const KEY = 'sk-test-0123456789abcdef';

const PROTOCOLS: Readonly<Record<string, () => ModelSettings>> = {
  'openai-compatible': () => ({
    provider: 'openai-compatible',
    model: 'any',
    baseUrl: `${server.url}/v1`,
    apiKey: KEY,
  }),
  anthropic: () => ({ provider: 'anthropic', model: 'claude-sonnet-5-5', baseUrl: `${server.url}/v1`, apiKey: KEY }),
  openai: () => ({ provider: 'openai', model: 'gpt-5-mini', baseUrl: `${server.url}/v1`, apiKey: KEY }),
  google: () => ({ provider: 'google', model: 'gemini-2.5-flash', baseUrl: `${server.url}/v1beta`, apiKey: KEY }),
  ollama: () => ({ provider: 'ollama', model: 'qwen3', baseUrl: server.url }),
};

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  inputSchema: {
    type: 'object',
    description: 'Where.',
    properties: { city: { type: 'string', description: 'A city.' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

const ask = (messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'You are brief.',
  messages,
  tools: [WEATHER],
  ...more,
});

const user = (content: string): ModelMessage => ({ role: 'user', content });

async function call(
  settings: ModelSettings,
  request: ModelRequest,
  isStreamed: boolean,
): Promise<{ readonly answer: ModelAnswer; readonly deltas: readonly ModelDelta[] }> {
  const model = await openModel(settings);
  const deltas: ModelDelta[] = [];
  const { signal } = new AbortController();
  const answer = await model.call(
    request,
    isStreamed ? { signal, onDelta: (delta) => deltas.push(delta) } : { signal },
  );
  return { answer, deltas };
}

/** All that was told, put together as the answer is. */
function summed(deltas: readonly ModelDelta[]): Pick<ModelAnswer, 'text' | 'toolCalls'> {
  const calls = new Map<string, { id: string; name: string; input: string }>();
  let text = '';
  for (const delta of deltas) {
    if (delta.type === 'text') text += delta.text;
    else {
      const before = calls.get(delta.id)?.input ?? '';
      calls.set(delta.id, { id: delta.id, name: delta.name, input: before + delta.text });
    }
  }
  return { text, toolCalls: [...calls.values()] };
}

/** The model that answered, where the protocol names it. */
const SERVED_BY: Readonly<Record<string, ModelAnswer['servedBy']>> = {
  'openai-compatible': { model: 'any' },
  anthropic: { model: 'claude-sonnet-5-5' },
  openai: { model: 'gpt-5-mini' },
  ollama: { model: 'qwen3' },
};

describe.each(Object.keys(PROTOCOLS))('%s', (name) => {
  const settings = (): ModelSettings => PROTOCOLS[name]?.() ?? { provider: '' };

  test.each([false, true])('answers with text; streamed: %j', async (isStreamed) => {
    server.on(
      { userMessage: 'hello' },
      { content: 'Guten Tag, 世界! 🙂 And a longer sentence, so that it comes in pieces.' },
    );
    const { answer, deltas } = await call(settings(), ask([user('hello')]), isStreamed);
    expect(answer).toEqual({
      text: 'Guten Tag, 世界! 🙂 And a longer sentence, so that it comes in pieces.',
      toolCalls: [],
      finish: 'stop',
      usage: expect.any(Object),
      retries: 0,
      servedBy: SERVED_BY[name],
    });
    if (isStreamed) {
      expect(summed(deltas)).toEqual({ text: answer.text, toolCalls: [] });
      expect(deltas.length).toBeGreaterThan(3);
    }
  });

  test.each([false, true])('calls a tool and answers from its result; streamed: %j', async (isStreamed) => {
    server.on({ turnIndex: 0 }, { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' }] });
    server.on({ turnIndex: 1, toolResultContains: 'rain' }, { content: 'It rains.' });
    const first = await call(settings(), ask([user('weather?')]), isStreamed);
    const [toolCall] = first.answer.toolCalls;
    expect({ ...first.answer, usage: {} }).toEqual({
      text: '',
      toolCalls: [{ id: expect.any(String), name: 'weather', input: '{"city":"Köln"}' }],
      finish: 'tool-calls',
      usage: {},
      retries: 0,
      servedBy: SERVED_BY[name],
    });
    if (isStreamed) expect(summed(first.deltas)).toEqual({ text: '', toolCalls: first.answer.toolCalls });
    const second = await call(
      settings(),
      ask([
        user('weather?'),
        { role: 'assistant', content: '', toolCalls: first.answer.toolCalls },
        { role: 'tool', callId: toolCall?.id ?? '', toolName: 'weather', content: 'rain, 9 degrees', isError: false },
      ]),
      isStreamed,
    );
    expect(second.answer.text).toBe('It rains.');
  });
});

test.each([false, true])('usage is what the server says; streamed: %j', async (isStreamed) => {
  server.on({}, { content: 'yes', usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 } });
  const settings = { provider: 'openai-compatible', model: 'any', baseUrl: `${server.url}/v1` };
  const { answer } = await call(settings, ask([user('hi')]), isStreamed);
  expect(answer.usage).toEqual({ inputTokens: 11, outputTokens: 3, cachedInputTokens: 0 });
});

test.each([
  ['length', 'length'],
  ['content_filter', 'filtered'],
  ['stop', 'stop'],
])('the finish %s is told as %s', async (finishReason, finish) => {
  server.on({}, { content: 'yes', finishReason });
  const settings = { provider: 'openai-compatible', model: 'any', baseUrl: `${server.url}/v1` };
  for (const isStreamed of [false, true]) {
    const { answer } = await call(settings, ask([user('hi')]), isStreamed);
    expect(answer.finish).toBe(finish);
  }
});
