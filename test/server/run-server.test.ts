import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { Model } from '../../src/core/model.ts';
import { createRunServer, type RunServer, type RunServerOptions } from '../../src/server/run-server.ts';
import { answerOf, world } from '../agent/support.ts';
import { needs } from '../needs.ts';

const TOKEN = 'a-token-of-the-test-alone';
const MODEL: Model = { id: 'quick', call: () => Promise.resolve(answerOf({ text: 'There are 42 rows.' }, 1)) };
/** Never answers. */
const NEVER: Model = { id: 'never', call: () => new Promise<never>(() => undefined) };

interface Opened extends RunServer {
  readonly directory: string;
  readonly ask: (target: string, init?: RequestInit) => Promise<Response>;
}

async function opened(options: Partial<RunServerOptions> = {}): Promise<Opened> {
  const { runtime, project } = await world();
  const directory = path.join(project, '.agent', 'runs');
  const server = await createRunServer({ runtime, model: MODEL, directory, token: TOKEN, ...options });
  onTestFinished(() => server.close());
  const ask = (target: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}${target}`, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...init.headers } });
  return { ...server, directory, ask };
}

function starting(request: unknown, more: object = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request, ...more }),
  };
}

async function startRun({ ask }: Opened): Promise<string> {
  const response = await ask('/api/v1/runs', starting('count the rows'));
  expect(response.status).toBe(201);
  const { run, events } = (await response.json()) as { run: string; events: string };
  expect(events).toBe(`/api/v1/runs/${run}/events`);
  return run;
}

/** Ids and event names of a stream. */
function frames(text: string): readonly (readonly [id: string, event: string])[] {
  return [...text.matchAll(/^id: (\d+)\nevent: (\S+)\ndata: \{.*\}\n\n/gm)].map(([, id = '', event = '']) => [
    id,
    event,
  ]);
}

/** Sends a raw request without the restrictions of fetch. */
function raw({ url }: Opened, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
  });
}

describe('a run over HTTP', () => {
  test('is cancelled when its timeout has passed', async () => {
    const server = await opened({ model: NEVER });
    const response = await server.ask('/api/v1/runs', starting('count the rows', { timeoutSeconds: 0.1 }));
    const { run } = (await response.json()) as { readonly run: string };
    await (await server.ask(`/api/v1/runs/${run}/events`)).text();
    expect(readRun(path.join(server.directory, run)).info.outcome).toBe('cancelled');
  });

  test('starts, streams its record to the end, and is listed', async () => {
    const server = await opened();
    const run = await startRun(server);
    const response = await server.ask(`/api/v1/runs/${run}/events`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const text = await response.text();
    const folder = path.join(server.directory, run);
    const recorded = [...readRun(folder).lines].map(({ seq, event }) => [String(seq), event.type]);
    expect(frames(text)).toEqual(recorded);
    expect(recorded.at(-1)?.[1]).toBe('run-end');
    expect(verifyRun(folder).status).toBe('intact');
    const list = await server.ask('/api/v1/runs');
    expect(await list.json()).toEqual({
      directory: server.directory,
      total: 1,
      unread: 0,
      runs: [
        {
          run,
          state: 'done',
          request: 'count the rows',
          skills: [],
          startedAt: expect.any(String),
          endedAt: expect.any(String),
          usage: {
            models: ['quick'],
            turns: 1,
            toolCalls: 0,
            inputTokens: expect.any(Number),
            outputTokens: expect.any(Number),
            isEstimated: expect.any(Boolean),
            elapsedMs: expect.any(Number),
          },
          isOwn: false,
        },
      ],
    });
  });

  test('resumes a stream by Last-Event-ID with the token in the address', async () => {
    const server = await opened();
    const run = await startRun(server);
    const all = frames(await (await server.ask(`/api/v1/runs/${run}/events`)).text());
    const rest = await fetch(`${server.url}/api/v1/runs/${run}/events?token=${TOKEN}`, {
      headers: { 'last-event-id': '4' },
    });
    expect(frames(await rest.text())).toEqual(all.slice(4));
  });

  test('streams while it runs, and is cancelled when the server closes', async () => {
    const server = await opened({ model: NEVER });
    const run = await startRun(server);
    const response = await server.ask(`/api/v1/runs/${run}/events`);
    const reader = response.body?.getReader() ?? expect.fail();
    let text = '';
    while (!text.includes('event: model-call')) {
      const { value, done } = await reader.read();
      if (done) expect.fail('the stream ended early');
      text += Buffer.from(value).toString();
    }
    expect(text).not.toContain('event: run-end');
    await server.close();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).resolves.toBeUndefined();
    expect(readRun(path.join(server.directory, run)).info).toMatchObject({ outcome: 'cancelled' });
    await expect(server.ask('/api/v1/runs')).rejects.toThrow(TypeError);
  });

  test('streams to curl', needs('curl'), async () => {
    const server = await opened();
    const run = await startRun(server);
    await (await server.ask(`/api/v1/runs/${run}/events`)).text();
    const { stdout } = await promisify(execFile)('/usr/bin/curl', [
      '-sN',
      '--max-time',
      '20',
      '-H',
      `Authorization: Bearer ${TOKEN}`,
      `${server.url}/api/v1/runs/${run}/events`,
    ]);
    expect(frames(stdout).at(-1)?.[1]).toBe('run-end');
  });
});

test('a long answer is shown as a whole, on the page of the run and in its live stream; without its file, its start', async () => {
  const text = 'word '.repeat(4_000);
  const server = await opened({ model: { id: 'long', call: () => Promise.resolve(answerOf({ text }, 1)) } });
  const run = await startRun(server);
  const live = await (await server.ask(`/api/v1/runs/${run}/live`)).text();
  expect([...live.matchAll(/"answer":"([^"]*)"/g)].map(([, answer]) => answer)).toEqual([text]);
  const answer = async (): Promise<unknown> =>
    ((await (await server.ask(`/api/v1/runs/${run}`)).json()) as { answer: unknown }).answer;
  expect(await answer()).toBe(text);
  const other = await opened({ directory: server.directory });
  rmSync(path.join(server.directory, run, 'observations'), { recursive: true });
  const cut = (await (await other.ask(`/api/v1/runs/${run}`)).json()) as { answer: string };
  expect(cut.answer).toMatch(/^word .*… \(\d+ bytes in observations\//);
});

describe('the server rejects', () => {
  test.each<readonly [string, string, RequestInit, number]>([
    ['no token', '/api/v1/runs', { headers: { authorization: '' } }, 401],
    ['a wrong token', '/api/v1/runs', { headers: { authorization: 'Bearer b-token-of-the-test-alone' } }, 401],
    ['a prefix of the token', '/api/v1/runs', { headers: { authorization: 'Bearer a-token' } }, 401],
    ['another origin', '/api/v1/runs', { headers: { origin: 'https://evil.example' } }, 403],
    ['the null origin', '/api/v1/runs', { headers: { origin: 'null' } }, 403],
    ['path traversal', '/api/v1/runs/..%2f..%2fetc/events', {}, 404],
    ['an unknown run', '/api/v1/runs/20260101T000000Z-00000000/events', {}, 404],
    ['an unknown path', '/', {}, 404],
    ['an unsupported method', '/api/v1/runs', { method: 'DELETE' }, 405],
    ['a form', '/api/v1/runs', { method: 'POST', body: new URLSearchParams({ request: 'x' }) }, 415],
    ['invalid JSON', '/api/v1/runs', { ...starting('x'), body: '{"request":' }, 400],
    ['an empty request', '/api/v1/runs', starting('  '), 400],
    ['a request of the wrong type', '/api/v1/runs', starting(['x']), 400],
    ['additional keys', '/api/v1/runs', { ...starting('x'), body: '{"request":"x","more":"other"}' }, 400],
    ['an unknown budget', '/api/v1/runs', { ...starting('x'), body: '{"request":"x","budget":{"turn":1}}' }, 400],
    ['U+0000 in a body', '/api/v1/runs', starting('a\0b'), 400],
    ['half a surrogate pair', '/api/v1/runs', starting('a\uD800b'), 400],
    ['U+0000 in a path', '/api/v1/runs/a%00b', {}, 400],
    ['U+0000 in a query', '/api/v1/runs?query=%00', {}, 400],
    ['a __proto__ key', '/api/v1/runs', { ...starting('x'), body: '{"__proto__":{"request":"x"}}' }, 400],
    ['a body that is too large', '/api/v1/runs', starting('x'.repeat(70_000)), 413],
  ])('%s', async (_, target, init, status) => {
    const server = await opened();
    const response = await server.ask(target, init);
    expect([response.status, await response.json()]).toMatchObject([status, { error: expect.any(String) }]);
    expect(existsSync(server.directory) ? readdirSync(server.directory) : []).toEqual([]);
  });

  test('the token in the address for POST', async () => {
    const { url } = await opened();
    const response = await fetch(`${url}/api/v1/runs?token=${TOKEN}`, starting('x'));
    expect(response.status).toBe(401);
  });

  test('foreign host names, also with the token', async () => {
    const server = await opened();
    const { port } = new URL(server.url);
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1`,
      `127.0.0.1:1`,
      `localhost.evil:${port}`,
      '',
    ]) {
      const answer = await raw(
        server,
        `GET /api/v1/runs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
      );
      expect([host, answer.slice(0, 12)]).toEqual([host, 'HTTP/1.1 421']);
    }
    const good = await raw(
      server,
      `GET /api/v1/runs HTTP/1.1\r\nHost: LOCALHOST:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    expect(good.slice(0, 12)).toBe('HTTP/1.1 200');
  });

  test('invalid HTTP, absolute targets, large headers and endless bodies', async () => {
    const server = await opened();
    const host = new URL(server.url).host;
    const start = `Host: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    expect(await raw(server, '\u0000\u0001garbage\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
    expect(await raw(server, `GET http://evil.example/api/v1/runs HTTP/1.1\r\n${start}\r\n`)).toMatch(
      /^HTTP\/1\.1 400/,
    );
    expect(await raw(server, `GET /api/v1/runs HTTP/1.1\r\n${start}X: ${'y'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431/,
    );
    const endless = `POST /api/v1/runs HTTP/1.1\r\n${start}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `11000\r\n${' '.repeat(0x1_10_00)}\r\n`;
    expect(await raw(server, `${endless}${chunk}`)).toMatch(/^HTTP\/1\.1 413/);
    expect((await server.ask('/api/v1/runs')).status).toBe(200);
  });

  test('two Host or Authorization headers, in any order', async () => {
    const server = await opened();
    const own = `Host: ${new URL(server.url).host}`;
    const token = `Authorization: Bearer ${TOKEN}`;
    for (const lines of [
      [own, 'Host: evil.example', token],
      ['host: evil.example', own, token],
      [own, own, token],
      [own, token, 'Authorization: Bearer another-token-of-24-bytes'],
    ])
      expect(
        await raw(server, `GET /api/v1/runs HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`),
      ).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('more concurrent runs than the limit', async () => {
    const server = await opened({ model: NEVER, limits: { runs: 1 } });
    await startRun(server);
    const response = await server.ask('/api/v1/runs', starting('one more'));
    expect(response.status).toBe(429);
  });

  test('a short token; the default is random', async () => {
    await expect(opened({ token: 'short' })).rejects.toMatchObject({ code: 'input/invalid' });
    const { runtime, project } = await world();
    const server = await createRunServer({ runtime, model: MODEL, directory: path.join(project, 'runs') });
    onTestFinished(() => server.close());
    expect(server.token).toMatch(/^[\w-]{43}$/);
    await server.close();
    await server.close();
  });
});

test('a client may disconnect during a stream', async () => {
  const server = await opened({ model: NEVER });
  const run = await startRun(server);
  const { hostname, port } = new URL(server.url);
  await new Promise<void>((resolve, reject) => {
    const request = sendRequest(
      { hostname, port, path: `/api/v1/runs/${run}/events`, headers: { authorization: `Bearer ${TOKEN}` } },
      (response) => {
        response.once('data', () => {
          request.destroy();
          resolve();
        });
      },
    );
    request.once('error', reject);
    request.end();
  });
  expect((await server.ask('/api/v1/runs')).status).toBe(200);
});

describe('connections that send nothing', () => {
  const silent = async ({ url }: Opened, text: string): Promise<void> => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
  };

  test.each([
    ['no byte', ''],
    ['half a request line', 'GET /ru'],
    ['headers without an end', 'GET /runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '],
  ])('do not keep others out: %s', async (_, text) => {
    const server = await opened({ limits: { connections: 4 } });
    for (let count = 0; count < 40; count += 1) await silent(server, text);
    expect((await server.ask('/api/v1/runs', { signal: AbortSignal.timeout(30_000) })).status).toBe(200);
  });

  test('streams count: beyond the limit a request is refused at once', async () => {
    const server = await opened({ model: NEVER, limits: { connections: 2 } });
    const run = await startRun(server);
    const streams = [await server.ask(`/api/v1/runs/${run}/events`), await server.ask(`/api/v1/runs/${run}/events`)];
    expect([...streams.map(({ status }) => status), (await server.ask('/api/v1/runs')).status]).toEqual([
      200, 200, 503,
    ]);
    await streams[0]?.body?.cancel();
    await expect.poll(async () => (await server.ask('/api/v1/runs')).status).toBe(200);
  });
});
