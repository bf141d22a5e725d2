import { describe, expect, onTestFinished, test } from 'vitest';

import { openAgentModel, type AgentModel, type AgentModelOptions } from '../../src/model/auto.ts';
import { RULE_MODEL_REMARK } from '../../src/model/rules/rules.ts';
import { sendJson, serve } from '../model/local-server.ts';

const { signal } = new AbortController();
/** Nobody listens there any more. */
const gone = await serve(() => undefined);
await gone.close();
const NO_SERVERS = { ollama: gone.url, lmstudio: gone.url, llamacpp: gone.url };

const open = (options: Partial<AgentModelOptions> = {}): Promise<AgentModel> =>
  openAgentModel({ env: {}, signal, addresses: NO_SERVERS, ...options });

const shown = ({ model, reason }: AgentModel): unknown => [model.id, reason];

describe('the model of an agent', () => {
  test('is the named one before the configured one before a key', async () => {
    const env = { ANTHROPIC_API_KEY: 'key-1', OPENAI_API_KEY: 'key-2' };
    const config = { provider: 'openai/gpt-5-mini' };
    expect(shown(await open({ name: 'rules', config, env }))).toEqual(['rules', 'it was requested by name']);
    expect(shown(await open({ config, env }))).toEqual(['openai/gpt-5-mini', 'it is configured']);
    expect(shown(await open({ name: 'auto', env }))).toEqual([
      expect.stringMatching(/^anthropic\//),
      'ANTHROPIC_API_KEY is set',
    ]);
  });

  test('is one of a server on this machine where there is no key', async () => {
    const server = await serve((response) => sendJson(response, { models: [{ name: 'qwen3:8b' }] }));
    onTestFinished(() => server.close());
    const addresses = { ...NO_SERVERS, ollama: server.url };
    expect(shown(await open({ addresses }))).toEqual(['ollama/qwen3:8b', `ollama is running at ${server.url}`]);
  });

  test('is fixed rules where there is nothing, and these say what they are', async () => {
    const { model, reason, tried } = await open();
    expect([model.id, reason, tried.length]).toEqual(['rules', 'no language model was found', 5]);
    const request = { system: '', messages: [{ role: 'user', content: 'hello' }], tools: [] } as const;
    const { text } = await model.call(request, { signal });
    expect(text).toContain(RULE_MODEL_REMARK);
  });

  test('that was named and cannot be had is not replaced by another one', async () => {
    const env = { OPENAI_API_KEY: 'key-2' };
    await expect(open({ name: 'nosuch', env })).rejects.toMatchObject({ code: 'model/unavailable' });
    await expect(open({ name: 'anthropic', env })).rejects.toMatchObject({ code: 'model/unavailable' });
  });
});
