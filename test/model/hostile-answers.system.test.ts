import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { openModel } from '../../src/model/auto.ts';
import { FINE, KEY, REQUEST, ask, failed, good } from './ask.ts';
import { chunk, completion, sendJson, serve, startStream, type Respond } from './local-server.ts';

/** No faster than it is read; comes back also when nobody reads any more. */
function write(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(text, () => resolve());
  });
}

describe('a server that is not there or says nothing', () => {
  test('closed port', async () => {
    const gone = await serve(good);
    await gone.close();
    const model = await openModel({ provider: 'openai-compatible', model: 'm', baseUrl: gone.url, apiKey: KEY });
    await expect(model.call(REQUEST, { signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'model/unavailable',
      message: `openai-compatible/m: no server responds at ${gone.url} (ECONNREFUSED)`,
      data: { model: 'openai-compatible/m', reasons: [`no server responds at ${gone.url} (ECONNREFUSED)`] },
    });
  });

  test.each([false, true])('silent: no first byte, and no second attempt; streamed: %j', async (isStreamed) => {
    const { error, waits } = await ask(() => undefined, { isStreamed, limits: { firstByteMs: 60 } });
    expect(error).toEqual(failed('no answer started within 0.06 s'));
    expect(waits).toEqual([]);
  });

  test.each([false, true])('falls silent in the middle; streamed: %j', async (isStreamed) => {
    const respond: Respond = (response) => {
      if (isStreamed) startStream(response).write(chunk({ content: 'Once upon' }));
      else response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
    };
    const { error, deltas } = await ask(respond, { isStreamed, limits: { silenceMs: 60 } });
    expect(error).toEqual(failed('the answer stalled: no data within 0.06 s'));
    expect(deltas).toEqual(isStreamed ? [{ type: 'text', text: 'Once upon' }] : []);
  });

  test.each(['text', 'comments'])('never ends: %s', async (kind) => {
    const respond: Respond = async (response) => {
      startStream(response);
      while (!response.destroyed) {
        response.write(kind === 'text' ? chunk({ content: 'and ' }) : ': still thinking\n\n');
        await sleep(5);
      }
    };
    const { error } = await ask(respond, { isStreamed: true, limits: { attemptMs: 150 } });
    expect(error).toEqual(failed('the answer was not complete within 0.15 s'));
  });
});

describe('an answer that is none', () => {
  const UNREADABLE = 'the answer does not follow the protocol of the provider: malformed JSON, or not a model server';

  test.each([false, true])('a web page; streamed: %j', async (isStreamed) => {
    const { error } = await ask(
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
      {
        isStreamed,
      },
    );
    expect(error).toEqual(failed('the server answered with a web page instead of a model response', 200));
  });

  test.each([
    '{"id":"c1","choices":[{"mess',
    '[]',
    '"text"',
    '',
    '{"choices":[]}',
    '{"choices":[{"message":{"content":7}}]}',
  ])('JSON that is broken or of another shape: %j', async (body) => {
    const { error } = await ask((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    expect(error).toEqual(failed(UNREADABLE));
  });

  test.each([{ error: { message: 'the model is not loaded' } }, { error: 'the model is not loaded' }])(
    'an error with a status of success: %j',
    async (body) => {
      const { error } = await ask((response) => sendJson(response, body));
      expect(error).toEqual(failed('the server aborted with an error: the model is not loaded'));
    },
  );

  test('more bytes than it announced', async () => {
    const { error } = await ask((response) => {
      const text = JSON.stringify(completion('fine'));
      response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n${text}`);
    });
    expect(error).toEqual(failed(UNREADABLE));
  });

  test('fewer bytes than it announced: tried again', async () => {
    const { answer } = await ask((response, turn, request) => {
      if (turn > 0) return good(response, turn, request);
      return response.socket?.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{"id":',
      );
    });
    expect(answer).toEqual({ ...FINE, retries: 1 });
  });

  test.each(['data: {"id":\n\n', 'data: hello\n\n', 'data: {"choices":"no"}\n\n'])(
    'a stream with %j in it',
    async (line) => {
      const { error, deltas } = await ask(
        (response) => startStream(response).end(chunk({ content: 'Hi' }) + line + chunk({ content: '!' }, 'stop')),
        { isStreamed: true },
      );
      expect(error).toEqual(failed(UNREADABLE));
      expect(deltas).toEqual([{ type: 'text', text: 'Hi' }]);
    },
  );

  test.each(['', 'nothing of this is an event\n\n', 'data: [DONE]\n\n', chunk({ content: 'Once' })])(
    'a stream that ends early: %j',
    async (body) => {
      const { error } = await ask((response) => startStream(response).end(body), { isStreamed: true });
      expect(error).toMatchObject({
        message: expect.stringContaining('the stream ended before the answer was complete'),
      });
    },
  );
});

describe('an answer that is too large', () => {
  const CUT = 'the answer exceeds 4194304 bytes and was cut off';

  test.each([5, 10])('%j MB at once', async (megabytes) => {
    const { error } = await ask((response) => sendJson(response, completion('x'.repeat(megabytes * 1_000_000))));
    expect(error).toEqual(failed(CUT));
  });

  test('10 MB in pieces: it is cut off on the way', async () => {
    let written = 0;
    const respond: Respond = async (response) => {
      startStream(response);
      for (; written < 100 && !response.destroyed; written += 1)
        await write(response, chunk({ content: 'x'.repeat(100_000) }));
    };
    const { error, deltas } = await ask(respond, { isStreamed: true });
    expect(error).toEqual(failed(CUT));
    expect(deltas.length).toBe(41);
  });

  test('one line without an end', async () => {
    const respond: Respond = async (response) => {
      startStream(response).write('data: ');
      while (!response.destroyed) await write(response, 'x'.repeat(100_000));
    };
    const { error } = await ask(respond, { isStreamed: true });
    expect(error).toEqual(failed(CUT));
  });

  test('thousands of calls of tools', async () => {
    const call = (index: number): unknown => ({
      index,
      id: `call-${String(index)}`,
      function: { name: 'n'.repeat(400), arguments: '{}' },
    });
    const respond: Respond = async (response) => {
      startStream(response);
      for (let index = 0; index < 20_000 && !response.destroyed; index += 1)
        await write(response, chunk({ tool_calls: [call(index)] }));
    };
    const { error } = await ask(respond, { isStreamed: true });
    expect(error).toEqual(failed(CUT));
  });
});
