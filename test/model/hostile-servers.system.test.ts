import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { FINE, KEY, SECRET_QUESTION, ask, failed, good, shown } from './ask.ts';
import { chunk, sendJson, serve, startStream, type Respond } from './local-server.ts';

describe('trouble that passes', () => {
  test('an answer that comes after two failures counts its retries', async () => {
    const { answer, waits } = await ask((response, turn, request) =>
      turn < 2
        ? sendJson(response, { error: { message: 'busy' } }, turn === 0 ? 500 : 503)
        : good(response, turn, request),
    );
    expect(answer).toEqual({ ...FINE, retries: 2 });
    expect(waits).toEqual([250, 500]);
  });

  test.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a date', { 'retry-after': new Date(1_009_000).toUTCString() }, 9_000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
    ['nonsense', { 'retry-after': 'soon' }, 250],
    ['the past', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 250],
  ])('429 with a Retry-After in %s', async (_name, headers, expected) => {
    const { answer, waits } = await ask((response, turn, request) =>
      turn === 0 ? sendJson(response, {}, 429, { ...headers }) : good(response, turn, request),
    );
    expect(answer).toEqual({ ...FINE, retries: 1 });
    expect(waits).toEqual([expected]);
  });

  test('a wait that is too long is not waited', async () => {
    const { error, waits, requests } = await ask((response) =>
      sendJson(response, { error: { message: 'quota' } }, 429, { 'retry-after': '3600' }),
    );
    expect(error).toEqual(failed('the server answered 429 and asks to wait 3600 s: quota', 429, true));
    expect({ waits, requests }).toEqual({ waits: [], requests: 1 });
  });

  test.each([408, 409, 429, 500, 502, 503, 529])('%j forever: four attempts', async (status) => {
    const { error, requests } = await ask((response) => sendJson(response, { error: 'busy' }, status));
    expect(error).toEqual(failed(`the server answered ${String(status)}: busy (tried 4 times)`, status, true));
    expect(requests).toBe(4);
  });

  test.each(['nothing', 'words'])('an error whose explanation never ends still says what it is: %s', async (kind) => {
    const respond: Respond = async (response) => {
      response.writeHead(403, { 'content-type': 'text/plain' }).flushHeaders();
      while (!response.destroyed) {
        if (kind === 'words') response.write('no ');
        await sleep(5);
      }
    };
    const { error } = await ask(respond, { limits: { silenceMs: 60 } });
    expect(error).toMatchObject({ message: expect.stringContaining('the server answered 403'), data: { status: 403 } });
  });

  test.each([400, 401, 403, 404, 422])('%j is not tried again', async (status) => {
    const { error, requests } = await ask((response) => sendJson(response, { error: { message: 'no' } }, status));
    expect(error).toMatchObject({ code: 'model/failed', data: { status, isRetryable: false } });
    expect(requests).toBe(1);
  });

  test.each([false, true])('a connection that is reset; streamed: %j', async (isStreamed) => {
    const { answer } = await ask(
      (response, turn, request) => {
        if (turn === 0) return void response.socket?.resetAndDestroy();
        if (isStreamed) return void startStream(response).end(chunk({ content: 'fine' }, 'stop'));
        return good(response, turn, request);
      },
      { isStreamed },
    );
    expect(answer).toMatchObject({ text: 'fine', retries: 1 });
  });

  test('a stream that breaks after its first words is not told twice', async () => {
    const respond: Respond = async (response) => {
      startStream(response).write(chunk({ content: 'Once upon' }));
      await sleep(30);
      response.socket?.resetAndDestroy();
    };
    const { error, deltas, requests } = await ask(respond, { isStreamed: true });
    expect(error).toMatchObject({
      code: 'model/failed',
      message: expect.stringMatching(/the connection broke in the middle of the answer \(\w+\)$/),
      data: { isRetryable: true },
    });
    expect({ deltas, requests }).toEqual({ deltas: [{ type: 'text', text: 'Once upon' }], requests: 1 });
  });

  test('an error inside a stream, before its first word, is tried again', async () => {
    const { answer } = await ask(
      (response, turn) => {
        if (turn === 0)
          startStream(response).end('data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n');
        else startStream(response).end(chunk({ content: 'fine' }, 'stop'));
      },
      { isStreamed: true },
    );
    expect(answer).toMatchObject({ text: 'fine', retries: 1 });
  });
});

describe('the caller', () => {
  test('ends a call that waits for an answer', async () => {
    const stop = new AbortController();
    const { error } = await ask(() => stop.abort(new Error('enough')), { signal: stop.signal });
    expect(error).toEqual(new Error('enough'));
  });

  test('ends a call in the middle of a stream', async () => {
    const stop = new AbortController();
    const { error, deltas } = await ask((response) => void startStream(response).write(chunk({ content: 'Once' })), {
      isStreamed: true,
      signal: stop.signal,
      onDelta: () => stop.abort(new Error('enough')),
    });
    expect(error).toEqual(new Error('enough'));
    expect(deltas.length).toBe(1);
  });

  test('ends a wait between two attempts', async () => {
    const stop = new AbortController();
    const { error, requests } = await ask((response) => sendJson(response, {}, 500), {
      signal: stop.signal,
      wait: (_ms, signal) => {
        setTimeout(() => stop.abort(new Error('enough')), 5);
        return sleep(60_000, undefined, { signal });
      },
    });
    expect(error).toEqual(new Error('enough'));
    expect(requests).toBe(1);
  });

  test('gets back what its own listener threw', async () => {
    const { error, requests } = await ask((response) => startStream(response).end(chunk({ content: 'Once' }, 'stop')), {
      isStreamed: true,
      onDelta: () => {
        throw new RangeError('the terminal is gone');
      },
    });
    expect(error).toEqual(new RangeError('the terminal is gone'));
    expect(requests).toBe(1);
  });
});

describe('what must not be told', () => {
  test.each([
    ['as it is', (key: string) => `the key ${key} is wrong`],
    ['encoded', (key: string) => `?key=${encodeURIComponent(key)}&x=${Buffer.from(key).toString('base64')}`],
    ['cut by our own limit', (key: string) => `${'x'.repeat(295)}${key}`],
  ])('a key that the server repeats, %s', async (_name, text) => {
    const { error } = await ask((response) => sendJson(response, { error: { message: text(KEY) } }, 403));
    expect(error).toMatchObject({ code: 'model/failed' });
    expect(shown(error)).not.toContain(KEY.slice(0, 10));
    expect(shown(error)).not.toContain(Buffer.from(KEY).toString('base64'));
  });

  test('a key that is cut by our own limit, inside a stream', async () => {
    const line = JSON.stringify({ error: { message: `${'x'.repeat(290)}${KEY}`, type: 'x' } });
    const { error } = await ask((response) => startStream(response).end(`data: ${line}\n\n`), { isStreamed: true });
    expect(shown(error)).toContain('the server aborted with an error: xxx');
    expect(shown(error)).not.toContain(KEY.slice(0, 7));
  });

  test('the words of a server about a key that it refuses', async () => {
    const { error } = await ask((response) =>
      sendJson(response, { error: { message: 'wrong key: sk-te*****cdef' } }, 401),
    );
    expect(error).toEqual(failed('the server answered 401', 401));
  });

  test.each(['openai-compatible', 'anthropic', 'openai', 'google'])(
    'the request, the key or the answer in any error: %s',
    async (provider) => {
      const bodies = ['{"broken', JSON.stringify({ error: { message: 'no', type: 'x' } }), '{"type":"message"}'];
      for (const body of bodies)
        for (const status of [200, 400])
          for (const isStreamed of [false, true]) {
            const { error } = await ask(
              (response) =>
                response
                  .writeHead(status, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' })
                  .end(isStreamed ? `data: ${body}\n\n` : body),
              { provider, isStreamed },
            );
            expect(error).toMatchObject({ code: 'model/failed' });
            expect(shown(error)).not.toContain(SECRET_QUESTION);
            expect(shown(error)).not.toContain(KEY);
          }
    },
  );

  test('a redirection is not followed: it would take the key along', async () => {
    const thief = await serve(good);
    const { error } = await ask((response) => response.writeHead(307, { location: `${thief.url}/v1` }).end());
    await thief.close();
    expect(error).toEqual(failed('the server answered 307 with a redirect, which is not followed', 307));
    expect(thief.requests).toEqual([]);
  });

  test('control characters of a server do not reach the terminal', async () => {
    const { error } = await ask((response) => sendJson(response, { error: { message: '\u001b]0;x\u0007\nbad' } }, 400));
    expect(error).toEqual(failed('the server answered 400: \\x1b]0;x\\x07 bad', 400));
  });
});
