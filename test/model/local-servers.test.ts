import { afterEach, describe, expect, test } from 'vitest';

import { probeServer, usualAddress, type LocalProvider } from '../../src/model/local-servers.ts';
import { openModel } from '../../src/model/auto.ts';
import { sendJson, serve, type LocalServer, type Respond } from './local-server.ts';

let server: LocalServer;
afterEach(() => server.close());

const { signal } = new AbortController();

/** Answers each path as it is given, and nothing else. */
const paths =
  (answers: Readonly<Record<string, unknown>>): Respond =>
  (response, _turn, { path }) =>
    path in answers ? sendJson(response, answers[path]) : sendJson(response, { error: 'not found' }, 404);

const look = async (provider: LocalProvider, respond: Respond, timeoutMs = 5_000): Promise<unknown> => {
  server = await serve(respond);
  return probeServer(provider, server.url, { signal, timeoutMs });
};

const OLLAMA = {
  '/api/tags': {
    models: [
      { name: 'nomic-embed-text:latest', details: { family: 'nomic-bert' } },
      { name: 'qwen3:8b', details: { family: 'qwen3' } },
      { name: 'llama3.2:1b', details: { family: 'llama' } },
    ],
  },
};
const LMSTUDIO = {
  '/api/v0/models': {
    data: [
      { id: 'embedding', type: 'embeddings', state: 'loaded' },
      { id: 'idle', type: 'llm', state: 'not-loaded', max_context_length: 100_000 },
      { id: 'ready', type: 'vlm', state: 'loaded', max_context_length: 100_000, loaded_context_length: 4_096 },
    ],
  },
};
const LLAMACPP = {
  '/v1/models': { data: [{ id: 'model.gguf', owned_by: 'llamacpp', meta: { n_ctx_train: 100_000 } }] },
  '/props': { default_generation_settings: { n_ctx: 8_192 } },
};

describe('a server in its own language', () => {
  test.each([
    ['ollama', OLLAMA, [{ name: 'qwen3:8b' }, { name: 'llama3.2:1b' }]],
    ['lmstudio', LMSTUDIO, [{ name: 'ready', contextWindow: 4_096 }, { name: 'idle' }]],
    ['llamacpp', LLAMACPP, [{ name: 'model.gguf', contextWindow: 8_192 }]],
    ['llamacpp', { '/v1/models': LLAMACPP['/v1/models'] }, [{ name: 'model.gguf' }]],
    ['ollama', { '/api/tags': { models: [] } }, []],
  ] as const)('%s', async (provider, answers, models) => {
    expect(await look(provider, paths(answers))).toEqual({ type: 'found', address: server.url, models });
  });

  test('opens with the first of its models, over its compatible door', async () => {
    server = await serve(paths(LLAMACPP));
    const model = await openModel({ provider: 'llamacpp', baseUrl: `${server.url}/v1/` });
    await model.call({ system: '', messages: [], tools: [] }, { signal }).catch(() => undefined);
    expect({ id: model.id, window: model.contextWindow, asked: server.requests.map(({ path }) => path) }).toEqual({
      id: 'llamacpp/model.gguf',
      window: 8_192,
      asked: ['/v1/models', '/props', '/v1/chat/completions'],
    });
  });

  test('without a model it cannot be opened', async () => {
    server = await serve(paths({ '/api/tags': { models: [] } }));
    await expect(openModel({ provider: 'ollama', baseUrl: server.url })).rejects.toMatchObject({
      code: 'model/unavailable',
      message: 'ollama: ollama has no model loaded',
    });
  });
});

describe('something else on that port', () => {
  const missing = (reason: string): unknown => ({ type: 'missing', address: server.url, reason });

  test.each(['ollama', 'lmstudio', 'llamacpp'] as const)('any other program: %s', async (provider) => {
    const found = await look(provider, (response) => sendJson(response, { hello: 'world' }));
    expect(found).toEqual(missing(`the program at ${server.url} is not ${provider}`));
  });

  test('another compatible server is not taken for llama.cpp', async () => {
    const found = await look('llamacpp', paths({ '/v1/models': { data: [{ id: 'm', owned_by: 'vllm' }] } }));
    expect(found).toEqual(missing(`the program at ${server.url} is not llamacpp`));
  });

  test('a web site', async () => {
    const found = await look('ollama', (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    );
    expect(found).toEqual(missing('the server answered with a web page instead of a model response'));
  });

  test('no JSON', async () => {
    const found = await look('ollama', (response) => response.writeHead(200).end('ok'));
    expect(found).toEqual(missing(`${server.url} did not return JSON`));
  });

  test('one that never answers', async () => {
    expect(await look('ollama', () => undefined, 50)).toEqual(missing('no answer started within 0.05 s'));
  });

  test('one that never stops', async () => {
    const found = await look('ollama', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"models":[${'"x",'.repeat(1_000_000)}`);
    });
    expect(found).toEqual(missing('the answer exceeds 1048576 bytes and was cut off'));
  });

  test('names that are none are left out', async () => {
    const names = ['good', '', 7, null, 'x'.repeat(400), 'clear\u001b[2J', 'line\nend'];
    const found = await look('ollama', paths({ '/api/tags': { models: names.map((name) => ({ name })) } }));
    expect(found).toEqual({ type: 'found', address: server.url, models: [{ name: 'good' }] });
  });

  test('the signal ends the look', async () => {
    server = await serve(() => undefined);
    const stop = new AbortController();
    const looked = probeServer('ollama', server.url, { signal: stop.signal, timeoutMs: 30_000 });
    setTimeout(() => stop.abort('enough'), 5);
    await expect(looked).rejects.toBe('enough');
  });
});

test.each([
  [undefined, 'http://127.0.0.1:11434'],
  ['', 'http://127.0.0.1:11434'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['0.0.0.0:9000', 'http://127.0.0.1:9000'],
  [':9000', 'http://127.0.0.1:9000'],
  ['gpu.local', 'http://gpu.local:11434'],
  ['https://gpu.local', 'https://gpu.local'],
  ['http://gpu.local:9000/', 'http://gpu.local:9000'],
  ['[::]:9000', 'http://127.0.0.1:9000'],
  ['[::1]', 'http://[::1]:11434'],
  ['javascript:alert(1)', 'http://127.0.0.1:11434'],
  ['http://user@gpu.local', 'http://127.0.0.1:11434'],
])('OLLAMA_HOST=%s', async (host, address) => {
  server = await serve(() => undefined);
  expect(usualAddress('ollama', { OLLAMA_HOST: host })).toBe(address);
});
