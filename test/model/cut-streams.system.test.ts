import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { isSkillError } from '../../src/core/errors.ts';
import type { Model, ModelAnswer, ModelDelta, ModelRequest } from '../../src/core/model.ts';
import { openModel } from '../../src/model/auto.ts';
import { serve, type LocalServer } from './local-server.ts';

// A real stream of each protocol, taken from a server that speaks them all and cut or divided by one that stands between.
const vendor = new LLMock({ port: 0, strict: true, chunkSize: 16 });
let between: LocalServer;
/** What becomes of a stream on the way. */
let change: (events: readonly string[]) => readonly Buffer[] = whole;
let isAborted = false;

beforeAll(async () => {
  await vendor.start();
  between = await serve(async (response, _turn, { path, body, headers }) => {
    const answer = await fetch(vendor.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': String(headers['x-api-key']) },
      body: JSON.stringify(body),
    });
    const events = (await answer.text()).split(/(?<=\n\n)/);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    for (const piece of change(events)) await new Promise((resolve) => response.write(piece, resolve));
    if (isAborted) response.socket?.resetAndDestroy();
    else response.end();
  });
});
afterAll(async () => {
  await between.close();
  await vendor.stop();
});
beforeEach(() => {
  isAborted = false;
  change = whole;
  vendor.clearFixtures().resetMatchCounts();
});

function whole(events: readonly string[]): readonly Buffer[] {
  return [Buffer.from(events.join(''))];
}

const MODELS = {
  'openai-compatible': ['m', '/v1'],
  anthropic: ['claude-sonnet-5-5', '/v1'],
  openai: ['gpt-4.1', '/v1'],
  google: ['gemini-2.5-flash', '/v1beta'],
} as const;

const REQUEST: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [
    {
      name: 'weather',
      description: 'The weather.',
      inputSchema: { type: 'object', description: 'Where.', additionalProperties: true },
    },
  ],
};

interface Told {
  readonly answer: ModelAnswer | undefined;
  readonly deltas: readonly ModelDelta[];
}

async function ask(model: Model): Promise<Told> {
  const deltas: ModelDelta[] = [];
  const { signal } = new AbortController();
  const answer = await model
    .call(REQUEST, { signal, onDelta: (delta) => deltas.push(delta) })
    .catch((error: unknown) => {
      if (isSkillError(error) && error.code === 'model/failed') return undefined;
      throw error;
    });
  return { answer, deltas };
}

/** Names of calls may be made up anew for each answer; all else must be the same. */
const plain = ({ text, toolCalls, finish }: ModelAnswer): unknown => ({
  text,
  finish,
  toolCalls: toolCalls.map(({ name, input }) => ({ name, input })),
});

const sum = (deltas: readonly ModelDelta[], type: ModelDelta['type']): string =>
  deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('');

describe.each(Object.entries(MODELS))('a stream of %s', (provider, [model, path]) => {
  const open = (): Promise<Model> =>
    openModel(
      { provider, model, baseUrl: between.url + path, apiKey: 'key-12345678' },
      { retries: { maxAttempts: 1 } },
    );

  describe.each([
    ['text', { content: 'Grüße an die 世界 🙂, in several pieces of a stream.' }],
    [
      'a call',
      { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{"city":"Köln","note":"a longer text, in pieces"}' }] },
    ],
  ])('with %s', (_name, content) => {
    test.each([false, true])(
      'cut after any event is no answer, or the whole one; connection broken: %j',
      async (broken) => {
        vendor.on({}, content);
        const opened = await open();
        let count = 0;
        change = (events) => {
          count = events.length;
          return whole(events);
        };
        const { answer: complete } = await ask(opened);
        expect(complete).toBeDefined();
        isAborted = broken;
        let failures = 0;
        for (let kept = 0; kept < count; kept += 1) {
          change = (events) => whole(events.slice(0, kept));
          const { answer } = await ask(opened);
          if (answer === undefined) failures += 1;
          else expect(complete === undefined || plain(answer)).toEqual(complete === undefined || plain(complete));
        }
        // What follows the reason for the end may be missing; never what stands before it.
        expect(failures).toBeGreaterThanOrEqual(count - 3);
      },
    );

    test('divided anywhere, in the middle of characters too, is the same answer, and its pieces add up to it', async () => {
      vendor.on({}, content);
      const opened = await open();
      const { answer: complete } = await ask(opened);
      for (const size of [1, 7, 50]) {
        change = (events) => divided(Buffer.from(events.join('')), size);
        const { answer, deltas } = await ask(opened);
        expect(answer && plain(answer)).toEqual(complete && plain(complete));
        expect(sum(deltas, 'text')).toBe(complete?.text);
        expect(sum(deltas, 'tool-input')).toBe(complete?.toolCalls.map(({ input }) => input).join(''));
      }
    });
  });
});

function divided(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}
