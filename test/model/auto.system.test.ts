import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

import { openAgentModel, type AgentModel, type AgentModelOptions } from '../../src/model/auto.ts';
import { loadConfig } from '../../src/runtime/config/config.ts';
import { completion, sendJson, serve, type LocalServer, type Respond } from './local-server.ts';
import { verifies } from '../conformance/verifies.ts';

const servers: LocalServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
const start = async (respond: Respond): Promise<LocalServer> => {
  const server = await serve(respond);
  servers.push(server);
  return server;
};

const { signal } = new AbortController();
/** Nobody listens there any more. */
const gone = await serve(() => undefined);
await gone.close();
const NOWHERE = gone.url;
const NO_SERVERS = { ollama: NOWHERE, lmstudio: NOWHERE, llamacpp: NOWHERE };

const find = (options: Partial<AgentModelOptions> = {}): Promise<AgentModel> =>
  openAgentModel({ env: {}, signal, addresses: NO_SERVERS, probeMs: 10_000, ...options });

const shown = ({ model, reason, tried }: AgentModel): unknown => ({ model: model.id, reason, tried });

const ask = async ({ model }: AgentModel): Promise<void> => {
  await model
    .call({ system: '', messages: [{ role: 'user', content: 'hi' }], tools: [] }, { signal })
    .catch(() => undefined);
};

const ollama: Respond = (response, _turn, { path }) =>
  sendJson(response, path === '/api/tags' ? { models: [{ name: 'qwen3:8b' }] } : completion('hi'));

const LOOKED = ['no provider is configured', 'no API key of a vendor is set'];
const refused = (provider: string): string => `${provider}: no server responds at ${NOWHERE} (ECONNREFUSED)`;

describe('where nothing is there', () => {
  verifies('MOD-1', 'it is the rule model, and everything that was tried is said', async () => {
    expect(shown(await find())).toEqual({
      model: 'rules',
      reason: 'no language model was found',
      tried: [...LOOKED, refused('ollama'), refused('lmstudio'), refused('llamacpp')],
    });
  });

  test.each(['rules', 'mock'])('%s can be named', async (provider) => {
    const env = { ANTHROPIC_API_KEY: 'key-12345678' };
    expect(shown(await find({ config: { provider }, env }))).toEqual({
      model: 'rules',
      reason: 'it is configured',
      tried: [],
    });
    expect(shown(await find({ name: provider, env }))).toEqual({
      model: 'rules',
      reason: 'it was requested by name',
      tried: [],
    });
  });

  test('the signal ends the search', async () => {
    await expect(find({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
    const silent = await start(() => undefined);
    const stop = new AbortController();
    const found = find({ signal: stop.signal, addresses: { ...NO_SERVERS, lmstudio: silent.url } });
    setTimeout(() => stop.abort('enough'), 20);
    await expect(found).rejects.toBe('enough');
  });
});

describe('what is named', () => {
  test('is taken before all else', async () => {
    const env = { ANTHROPIC_API_KEY: 'key-12345678', GEMINI_API_KEY: 'key-12345678' };
    expect(shown(await find({ config: { provider: 'google' }, env }))).toEqual({
      model: 'google/gemini-2.5-flash',
      reason: 'it is configured',
      tried: [],
    });
    expect(shown(await find({ name: 'anthropic/claude-x', config: { provider: 'google' }, env }))).toEqual({
      model: 'anthropic/claude-x',
      reason: 'it was requested by name',
      tried: [],
    });
  });

  test('is never replaced by another one', async () => {
    const env = { ANTHROPIC_API_KEY: 'key-12345678' };
    await expect(find({ config: { provider: 'openai' }, env })).rejects.toMatchObject({ code: 'model/unavailable' });
    await expect(find({ name: 'opnai', env })).rejects.toMatchObject({ hint: 'did you mean openai?' });
  });

  test('what says where a model is asked is not sent to another one', async () => {
    const server = await start(ollama);
    const params = { model: 'x', api_key: 'key-12345678', api_key_env: 'MY_KEY', headers: { 'x-a': 'b' }, seed: 1 };
    const found = await find({ config: { params }, addresses: { ...NO_SERVERS, ollama: server.url } });
    await ask(found);
    expect(server.requests.at(-1)?.body).toEqual({
      model: 'qwen3:8b',
      seed: 1,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('x-a');
  });

  test.each([{}, { provider: 'auto' }])('a base URL alone means a compatible server: %j', async (more) => {
    const config = { ...more, params: { base_url: 'http://127.0.0.1:8000/v1', model: 'm' } };
    expect(shown(await find({ config }))).toMatchObject({ model: 'openai-compatible/m' });
  });

  test('settings of one provider do not count for another', async () => {
    const server = await start((response) => sendJson(response, completion('hi')));
    const config = {
      provider: 'openai-compatible',
      params: { base_url: server.url, api_key: 'key-12345678', model: 'a' },
    };
    expect(shown(await find({ name: 'openai-compatible/b', config }))).toMatchObject({ model: 'openai-compatible/b' });
    await expect(find({ name: 'anthropic', config })).rejects.toMatchObject({ hint: 'set ANTHROPIC_API_KEY' });
  });
});

describe('keys of the environment', () => {
  test('a compatible server that is named uses OPENAI_BASE_URL and its key, as auto does', async () => {
    const server = await start((response) => sendJson(response, completion('hi')));
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'key-12345678', OPENAI_MODEL: 'other' };
    const found = await find({ name: 'openai-compatible/mine', env });
    expect(shown(found)).toMatchObject({ model: 'openai-compatible/mine' });
    await ask(found);
    expect(server.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer key-12345678' });
  });

  test('a base URL of the configuration gets no key of the environment', async () => {
    const server = await start((response) => sendJson(response, completion('hi')));
    const config = { provider: 'openai-compatible', params: { base_url: server.url } };
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'key-12345678' };
    await ask(await find({ name: 'openai-compatible/mine', config, env }));
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test.each([
    [{ ANTHROPIC_API_KEY: 'k1', OPENAI_API_KEY: 'k2' }, 'anthropic/claude-sonnet-5-5', 'ANTHROPIC_API_KEY is set'],
    [{ OPENAI_API_KEY: 'k2', GEMINI_API_KEY: 'k3' }, 'openai/gpt-5-mini', 'OPENAI_API_KEY is set'],
    [{ GOOGLE_API_KEY: 'k3', OPENAI_API_KEY: '' }, 'google/gemini-2.5-flash', 'GOOGLE_API_KEY is set'],
    [
      { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1', OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' },
      'openai-compatible/m',
      'OPENAI_API_KEY and OPENAI_BASE_URL are set',
    ],
    [
      { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1', OPENAI_MODEL: 'm' },
      'openai-compatible/m',
      'OPENAI_BASE_URL is set',
    ],
    [
      { OPENAI_BASE_URL: 'https://api.openai.com/v1', OPENAI_API_KEY: 'k' },
      'openai/gpt-5-mini',
      'OPENAI_API_KEY and OPENAI_BASE_URL are set',
    ],
    [
      { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8000', ANTHROPIC_API_KEY: 'k' },
      'anthropic/claude-sonnet-5-5',
      'ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are set',
    ],
  ])('%j', async (env, model, reason) => {
    expect(shown(await find({ env }))).toEqual({ model, reason, tried: [] });
  });

  test.each([
    ['', undefined],
    ['/', 'anthropic'],
    ['/v1', undefined],
    ['/v1/', 'anthropic/claude-x'],
  ])('the base URL beside a key is used, with the version added: %j, %j', async (tail, name) => {
    const server = await start((response) => sendJson(response, { error: { message: 'enough' } }, 400));
    const env = { ANTHROPIC_BASE_URL: server.url + tail, ANTHROPIC_API_KEY: 'key-12345678' };
    await ask(await find({ env, name }));
    expect(server.requests.map(({ path, headers }) => [path, headers['x-api-key']])).toEqual([
      ['/v1/messages', 'key-12345678'],
    ]);
  });

  test.each(['anthropic', 'openai', 'google', 'openai-compatible', undefined])(
    'never go to a base URL of a configuration: %s',
    async (provider) => {
      const server = await start((response) => sendJson(response, completion('hi')));
      const env = { ANTHROPIC_API_KEY: 'env-key-123', OPENAI_API_KEY: 'env-key-123', GEMINI_API_KEY: 'env-key-123' };
      const params = { base_url: server.url, model: 'm' };
      await ask(await find({ config: { provider, params }, env }));
      expect(server.requests.length).toBe(1);
      expect(JSON.stringify(server.requests)).not.toContain('env-key');
    },
  );

  test('unless the configuration names the variable', async () => {
    const server = await start((response) => sendJson(response, completion('hi')));
    const config = {
      provider: 'openai-compatible',
      params: { base_url: server.url, model: 'm', api_key_env: 'MY_KEY' },
    };
    await ask(await find({ config, env: { MY_KEY: 'my-key-12345' } }));
    expect(server.requests[0]?.headers.authorization).toBe('Bearer my-key-12345');
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('MY_KEY');
    await expect(find({ config })).rejects.toMatchObject({ code: 'model/unavailable' });
  });
});

test('a file of a project cannot say whose model is asked, nor where, nor with which key', async () => {
  const thief = await start((response) => sendJson(response, completion('hi')));
  const cwd = mkdtempSync(path.join(os.tmpdir(), 'skillwright-model-'));
  mkdirSync(path.join(cwd, '.agent'));
  const params = { base_url: thief.url, api_key_env: 'OPENAI_API_KEY', headers: { 'x-copy': 'yes' }, model: 'm' };
  const file = { model: { provider: 'openai-compatible', params } };
  writeFileSync(path.join(cwd, '.agent/config.json'), JSON.stringify(file));
  const { config } = await loadConfig({ cwd, home: undefined, env: { OPENAI_API_KEY: 'env-key-123' } });
  rmSync(cwd, { recursive: true });
  expect(config.model).toEqual({ params: { model: 'm' } });
  expect(await find({ config: config.model ?? {}, env: {} })).toMatchObject({ model: { id: 'rules' } });
  expect(thief.requests).toEqual([]);
});

describe('servers on this machine', () => {
  test('one that runs is taken, with its model', async () => {
    const server = await start(ollama);
    const addresses = { ...NO_SERVERS, ollama: server.url };
    const found = await find({ addresses, config: { params: { temperature: 0 } } });
    expect(shown(found)).toEqual({
      model: 'ollama/qwen3:8b',
      reason: `ollama is running at ${server.url}`,
      tried: LOOKED,
    });
    await ask(found);
    expect(server.requests.at(-1)).toMatchObject({
      path: '/v1/chat/completions',
      body: { model: 'qwen3:8b', temperature: 0 },
    });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('the first server in order is used even if another answers earlier; one without a model is skipped', async () => {
    const empty = await start((response) => sendJson(response, { models: [] }));
    const second = await start((response) => sendJson(response, { data: [{ id: 'm', type: 'llm', state: 'loaded' }] }));
    const addresses = { ollama: empty.url, lmstudio: second.url, llamacpp: NOWHERE };
    expect(shown(await find({ addresses }))).toEqual({
      model: 'lmstudio/m',
      reason: `lmstudio is running at ${second.url}`,
      tried: [...LOOKED, `ollama: no model is loaded at ${empty.url}`],
    });
  });

  test('a server that hangs delays detection only briefly', async () => {
    const silent = await start(() => undefined);
    const server = await start(ollama);
    const addresses = { ollama: server.url, lmstudio: silent.url, llamacpp: silent.url };
    const found = await find({ addresses, probeMs: 1_000 });
    expect(shown(found)).toMatchObject({ model: 'ollama/qwen3:8b' });
  });
});
