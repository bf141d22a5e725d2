import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ModelRequest } from '../../src/core/model.ts';
import { openModel } from '../../src/model/auto.ts';
import type { ModelSettings } from '../../src/model/providers.ts';
import {
  chunk,
  completion,
  sendJson,
  serve,
  startStream,
  type LocalServer,
  type ReceivedRequest,
} from './local-server.ts';

let server: LocalServer;
beforeAll(async () => {
  server = await serve((response, _turn, { body }) => {
    if (!JSON.stringify(body).includes('"stream":true'))
      return sendJson(response, { error: { message: 'enough' } }, 400);
    const piece = (text: string): string => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    return startStream(response).end(
      [
        chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }] }),
        piece('{"city'),
        piece('": Köln'),
        chunk({}, 'tool_calls'),
      ].join(''),
    );
  });
});
afterAll(() => server.close());

const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: [
        { id: 'a:1', name: 'weather', input: '{"city":"Köln"}' },
        { id: 'b', name: 'made up', input: '{"city":' },
      ],
    },
    { role: 'tool', callId: 'a:1', toolName: 'weather', content: 'rain', isError: false },
    { role: 'tool', callId: 'b', toolName: 'made up', content: 'no such tool', isError: true },
    { role: 'assistant', content: '', toolCalls: [] },
    { role: 'user', content: 'and?' },
  ],
  tools: [
    {
      name: 'weather',
      description: 'The weather.',
      inputSchema: {
        type: 'object',
        description: 'Where.',
        properties: { city: { type: 'string', description: 'A city.', enum: ['Köln'], isOpen: true } },
        additionalProperties: false,
      },
    },
  ],
  answerSchema: {
    type: 'object',
    description: 'An answer.',
    properties: { ok: { type: 'boolean', description: 'Whether.' } },
    additionalProperties: false,
  },
  maxOutputTokens: 100,
};

const CITY = { type: 'string', description: 'A city.', enum: ['Köln'] };
const INPUT = { type: 'object', description: 'Where.', properties: { city: CITY }, additionalProperties: false };
const ANSWER = {
  type: 'object',
  description: 'An answer.',
  properties: { ok: { type: 'boolean', description: 'Whether.' } },
  additionalProperties: false,
};

async function sent(settings: ModelSettings, request = REQUEST): Promise<ReceivedRequest> {
  const model = await openModel({ baseUrl: server.url, apiKey: 'key-12345678', ...settings });
  await model.call(request, { signal: new AbortController().signal }).catch(() => undefined);
  const last = server.requests.at(-1);
  if (last === undefined) throw new Error('nothing was sent');
  return last;
}

test('chat completions: system, calls and results, schemas, and parameters of a person', async () => {
  const params = { temperature: 0.2, top_p: 0.9, stop: 'END', seed: 7, keep_alive: '5m' };
  const { path, headers, body } = await sent({ provider: 'ollama', model: 'm', params, headers: { 'x-team': 'blue' } });
  expect({ path, key: headers.authorization, team: headers['x-team'] }).toEqual({
    path: '/v1/chat/completions',
    key: 'Bearer key-12345678',
    team: 'blue',
  });
  const call = (id: string, name: string, input: string): unknown => ({
    id,
    type: 'function',
    function: { name, arguments: input },
  });
  expect(body).toEqual({
    model: 'm',
    max_tokens: 100,
    temperature: 0.2,
    top_p: 0.9,
    stop: ['END'],
    seed: 7,
    keep_alive: '5m',
    response_format: { type: 'json_schema', json_schema: { schema: ANSWER, strict: false, name: 'answer' } },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          call('a_1', 'weather', '{"city":"Köln"}'),
          call('b', 'made_up', '{"malformed_input":"{\\"city\\":"}'),
        ],
      },
      { role: 'tool', tool_call_id: 'a_1', content: 'rain' },
      { role: 'tool', tool_call_id: 'b', content: 'no such tool' },
      { role: 'user', content: 'and?' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', description: 'The weather.', parameters: INPUT } }],
  });
});

test('images of a result go to providers that take them; others get the description only', async () => {
  const result = { role: 'tool', callId: 'b', toolName: 'plot', content: '[image]', isError: false } as const;
  const messages: ModelRequest['messages'] = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'b', name: 'plot', input: '{}' }] },
    { ...result, images: [{ mediaType: 'image/png', data: 'iVBORw0KGgo=' }] },
  ];
  const request = { system: '', messages, tools: REQUEST.tools };
  const bodyOf = async (provider: string): Promise<string> =>
    JSON.stringify((await sent({ provider, model: 'm' }, request)).body);
  expect(await bodyOf('anthropic')).toContain(
    '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}',
  );
  expect(await bodyOf('openai')).toContain('"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="');
  expect(await bodyOf('google')).toContain('"mimeType":"image/png","data":"iVBORw0KGgo="');
  const plain = await bodyOf('openai-compatible');
  expect([plain.includes('[image]'), plain.includes('iVBORw0KGgo')]).toEqual([true, false]);
});

test('any compatible server is asked for JSON only, unless a person knows that it can do more', async () => {
  const settings = { provider: 'openai-compatible', model: 'm' };
  expect((await sent(settings)).body).toMatchObject({ response_format: { type: 'json_object' } });
  const { body } = await sent({ ...settings, params: { structured_outputs: true } });
  expect(body).toMatchObject({ response_format: { type: 'json_schema' } });
  expect(body).not.toHaveProperty('structured_outputs');
});

test('Anthropic: results of calls together in one message, and marks for what stays the same', async () => {
  const { path, headers, body } = await sent({ provider: 'anthropic', model: 'claude-sonnet-5-5' });
  expect({ path, key: headers['x-api-key'] }).toEqual({ path: '/messages', key: 'key-12345678' });
  const kept = { cache_control: { type: 'ephemeral' } };
  expect(body).toEqual({
    model: 'claude-sonnet-5-5',
    max_tokens: 100,
    output_config: { format: { type: 'json_schema', schema: ANSWER } },
    system: [{ type: 'text', text: 'Be brief.', ...kept }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a_1', name: 'weather', input: { city: 'Köln' } },
          { type: 'tool_use', id: 'b', name: 'made_up', input: { malformed_input: '{"city":' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a_1', content: 'rain' },
          { type: 'tool_result', tool_use_id: 'b', content: 'no such tool', is_error: true },
          { type: 'text', text: 'and?', ...kept },
        ],
      },
    ],
    tools: [{ name: 'weather', description: 'The weather.', input_schema: INPUT }],
  });
});

test('OpenAI: nothing is stored, nothing is strict', async () => {
  const { path, body } = await sent({ provider: 'openai', model: 'gpt-4.1' });
  expect(path).toBe('/responses');
  expect(body).toMatchObject({
    model: 'gpt-4.1',
    store: false,
    max_output_tokens: 100,
    text: { format: { type: 'json_schema', strict: false, name: 'answer', schema: ANSWER } },
    tools: [{ type: 'function', name: 'weather', description: 'The weather.', parameters: INPUT, strict: false }],
  });
});

test('Google: as many results in the next message as there were calls; the key is no part of the address', async () => {
  const { path, headers, body } = await sent({ provider: 'google', model: 'gemini-2.5-flash' });
  expect({ path, key: headers['x-goog-api-key'] }).toEqual({
    path: '/models/gemini-2.5-flash:generateContent',
    key: 'key-12345678',
  });
  const { contents } = body as { contents: readonly { role: string; parts: readonly object[] }[] };
  expect(contents.map(({ role, parts }) => [role, ...parts.flatMap((part) => Object.keys(part))])).toEqual([
    ['user', 'text'],
    ['model', 'text', 'functionCall', 'functionCall'],
    ['user', 'functionResponse', 'functionResponse'],
    ['user', 'text'],
  ]);
});

test('input of a tool that is no JSON is handed on as the text that it is', async () => {
  const model = await openModel({ provider: 'openai-compatible', model: 'm', baseUrl: server.url });
  const pieces: string[] = [];
  const { signal } = new AbortController();
  const answer = await model.call(REQUEST, { signal, onDelta: ({ text }) => pieces.push(text) });
  expect(answer).toMatchObject({
    toolCalls: [{ id: 'c1', name: 'weather', input: '{"city": Köln' }],
    finish: 'tool-calls',
  });
  expect(pieces).toEqual(['{"city', '": Köln']);
});

test('without streaming too', async () => {
  const broken = await serve((response) => {
    const whole = completion('') as { choices: { message: object }[] };
    for (const choice of whole.choices)
      Object.assign(choice.message, {
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city": Köln' } }],
      });
    sendJson(response, whole);
  });
  const model = await openModel({ provider: 'openai-compatible', model: 'm', baseUrl: broken.url });
  const answer = await model.call(REQUEST, { signal: new AbortController().signal });
  await broken.close();
  expect(answer).toMatchObject({
    toolCalls: [{ id: 'c1', name: 'weather', input: '{"city": Köln' }],
    // The server says `stop`, and calls a tool.
    finish: 'tool-calls',
  });
});

test('without a key none is sent', async () => {
  const { headers } = await sent({ provider: 'openai-compatible', model: 'm', apiKey: '' });
  expect(headers.authorization).toBeUndefined();
});

test('Google: the signature of a call goes back with it', async () => {
  const part = { functionCall: { name: 'weather', args: { city: 'Köln' } }, thoughtSignature: 'signed-by-the-model' };
  const google = await serve((response) =>
    sendJson(response, { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] }),
  );
  const model = await openModel({
    provider: 'google',
    model: 'gemini-3-pro',
    baseUrl: google.url,
    apiKey: 'key-12345678',
  });
  const { signal } = new AbortController();
  const first = { ...REQUEST, messages: [{ role: 'user', content: 'go' }] } as const;
  const { toolCalls } = await model.call(first, { signal });
  const result = {
    role: 'tool',
    callId: toolCalls[0]?.id ?? '',
    toolName: 'weather',
    content: 'rain',
    isError: false,
  } as const;
  await model.call(
    { ...first, messages: [...first.messages, { role: 'assistant', content: '', toolCalls }, result] },
    { signal },
  );
  await google.close();
  expect(JSON.stringify(google.requests[1]?.body)).toContain('signed-by-the-model');
});

test.each(['streamed', 'whole'])(
  'the model and the fingerprint that the server names are part of a %s answer',
  async (way) => {
    const named = { model: 'm-2026-11', system_fingerprint: 'fp_7' };
    const other = await serve((response) => {
      const whole = { ...Object(completion('hello')), ...named };
      if (way === 'whole') return sendJson(response, whole);
      const piece = {
        id: 'c1',
        created: 1,
        ...named,
        choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }],
      };
      return startStream(response).end(`data: ${JSON.stringify(piece)}\n\n`);
    });
    try {
      const model = await openModel({ provider: 'openai-compatible', model: 'm', baseUrl: other.url });
      const listening = way === 'streamed' ? { onDelta: () => undefined } : {};
      const answer = await model.call(REQUEST, { signal: new AbortController().signal, ...listening });
      expect([answer.text, answer.servedBy]).toEqual(['hello', { model: 'm-2026-11', fingerprint: 'fp_7' }]);
    } finally {
      await other.close();
    }
  },
);
