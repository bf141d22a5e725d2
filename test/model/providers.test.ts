import { afterEach, describe, expect, test, vi } from 'vitest';

import { openModel } from '../../src/model/auto.ts';
import { readModelName, settingsOfConfig } from '../../src/model/providers.ts';
import { completion, sendJson, serve } from './local-server.ts';

const REQUEST = { system: '', messages: [{ role: 'user', content: 'hi' }], tools: [] } as const;
const call = { signal: new AbortController().signal };

describe('a provider by name', () => {
  test.each([
    ['antropic', 'did you mean anthropic?'],
    ['olama', 'did you mean ollama?'],
    ['zzz', 'known providers: anthropic, openai, google, openai-compatible, ollama, lmstudio, llamacpp'],
    ['', 'known providers: anthropic, openai, google, openai-compatible, ollama, lmstudio, llamacpp'],
  ])('unknown: %j', async (provider, hint) => {
    await expect(openModel({ provider })).rejects.toMatchObject({
      code: 'model/unavailable',
      message: `unknown provider "${provider}"`,
      hint,
    });
  });

  test.each([
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['openai', 'OPENAI_API_KEY'],
    ['google', 'GEMINI_API_KEY'],
  ])('%s without a key', async (provider, name) => {
    await expect(openModel({ provider })).rejects.toMatchObject({ code: 'model/unavailable', hint: `set ${name}` });
  });

  test.each([
    [{ provider: 'anthropic' }, 'anthropic/claude-sonnet-5-5', 200_000],
    [{ provider: 'OpenAI', model: 'gpt-4.1-mini' }, 'openai/gpt-4.1-mini', 1_047_576],
    [{ provider: 'google' }, 'google/gemini-2.5-flash', 1_048_576],
    [{ provider: 'anthropic', apiKey: ' key-with-a-line-end\n' }, 'anthropic/claude-sonnet-5-5', 200_000],
    [{ provider: 'ollama', model: 'qwen3' }, 'ollama/qwen3', undefined],
    [{ provider: 'ollama', model: 'qwen3', contextWindow: 4_096 }, 'ollama/qwen3', 4_096],
  ])('%j opens without a request', async (settings, id, window) => {
    const env = { ANTHROPIC_API_KEY: 'key-a', OPENAI_API_KEY: 'key-o', GOOGLE_API_KEY: 'key-g' };
    const model = await openModel(settings, { env });
    expect({ id: model.id, window: model.contextWindow }).toEqual({ id, window });
  });
});

describe('a base URL', () => {
  test.each([
    'localhost:8000',
    'ftp://example.org',
    'file:///etc/passwd',
    'https://user:secret@example.org/v1',
    'https://example.org/v1?key=secret',
    'javascript:alert(1)',
    '',
  ])('is refused without being repeated: %j', async (baseUrl) => {
    const error: unknown = await openModel({ provider: 'openai-compatible', model: 'm', baseUrl }).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'input/invalid', message: 'the base URL of the model is invalid' });
  });

  test('is needed for a compatible server', async () => {
    await expect(openModel({ provider: 'openai-compatible', model: 'm' })).rejects.toMatchObject({
      code: 'model/unavailable',
      message: 'openai-compatible: the base URL is missing',
    });
  });
});

describe('keys', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each(['anthropic', 'openai', 'google', 'openai-compatible', 'ollama'])(
    'of the environment do not go to a base URL of the settings: %s',
    async (provider) => {
      const names = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'];
      // The libraries would look into the process by themselves.
      for (const name of names) vi.stubEnv(name, 'process-key-1234');
      const server = await serve((response) => sendJson(response, completion('hi')));
      const env = Object.fromEntries(names.map((name) => [name, 'user-key-5678']));
      const model = await openModel({ provider, model: 'm', baseUrl: server.url }, { env });
      await model.call(REQUEST, call).catch(() => undefined);
      await server.close();
      expect(server.requests.length).toBe(1);
      expect(JSON.stringify(server.requests)).not.toMatch(/process-key|user-key/);
    },
  );

  test('base URLs of the process are not looked at', async () => {
    const thief = await serve((response) => sendJson(response, completion('hi')));
    vi.stubEnv('ANTHROPIC_BASE_URL', thief.url);
    vi.stubEnv('OPENAI_BASE_URL', thief.url);
    const server = await serve((response) => sendJson(response, { error: { message: 'enough' } }, 400));
    for (const provider of ['anthropic', 'openai']) {
      const model = await openModel({ provider, model: 'm', baseUrl: server.url, apiKey: 'key-12345678' });
      await model.call(REQUEST, call).catch(() => undefined);
    }
    await Promise.all([server.close(), thief.close()]);
    expect([server.requests.length, thief.requests.length]).toEqual([2, 0]);
  });
});

describe('a compatible server that is asked for its models', () => {
  const models = (...names: readonly string[]): unknown => ({ object: 'list', data: names.map((id) => ({ id })) });

  test('has one: it is taken', async () => {
    const server = await serve((response) => sendJson(response, models('only-one')));
    const model = await openModel({
      provider: 'openai-compatible',
      baseUrl: `${server.url}/v1`,
      apiKey: 'key-12345678',
    });
    await server.close();
    expect(model.id).toBe('openai-compatible/only-one');
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/models', 'Bearer key-12345678'],
    ]);
  });

  test.each([
    [models(), 'offers 0 models', 'name the model'],
    [models('a', 'b'), 'offers 2 models', 'name one: a, b'],
    [models('evil\u001b[2J', ''), 'offers 0 models', 'name the model'],
    [{ data: 'no' }, 'offers 0 models', 'name the model'],
  ])('answers %j', async (answer, message, hint) => {
    const server = await serve((response) => sendJson(response, answer));
    const opened = openModel({ provider: 'openai-compatible', baseUrl: server.url });
    await expect(opened).rejects.toMatchObject({
      code: 'model/unavailable',
      message: expect.stringContaining(message),
      hint,
    });
    await server.close();
  });

  test('refuses: its key is not told', async () => {
    const server = await serve((response) => sendJson(response, { error: 'key-12345678 is wrong' }, 403));
    const opened = openModel({ provider: 'openai-compatible', baseUrl: server.url, apiKey: 'key-12345678' });
    await expect(opened).rejects.toMatchObject({
      message: 'openai-compatible: the server answered 403: [key] is wrong',
    });
    await server.close();
  });
});

describe('settings', () => {
  test.each([
    ['anthropic/claude-sonnet-5-5', { provider: 'anthropic', model: 'claude-sonnet-5-5' }],
    ['openai-compatible/meta/llama:8b', { provider: 'openai-compatible', model: 'meta/llama:8b' }],
    ['ollama', { provider: 'ollama' }],
  ])('the name %j', (name, settings) => {
    expect(readModelName(name)).toEqual(settings);
  });

  test('of a configuration', () => {
    const params = {
      model: 'm',
      base_url: 'http://h/v1',
      api_key: 'k',
      headers: { a: 'b', c: 1 },
      context_window: 8_192,
      seed: 1,
    };
    expect(settingsOfConfig({ provider: 'openai-compatible', params })).toEqual({
      provider: 'openai-compatible',
      model: 'm',
      baseUrl: 'http://h/v1',
      apiKey: 'k',
      headers: { a: 'b' },
      contextWindow: 8_192,
      params: { seed: 1 },
    });
    expect(settingsOfConfig({ provider: 'auto' })).toBeUndefined();
    expect(settingsOfConfig({})).toBeUndefined();
  });
});
