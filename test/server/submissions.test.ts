/** What a submission to the server of one machine carries, and how its run is found again. */
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import type { Model } from '../../src/core/model.ts';
import { createRunServer } from '../../src/server/run-server.ts';
import { answerOf, world } from '../agent/support.ts';

const TOKEN = 'a-token-of-the-test-alone';
const MODEL: Model = { id: 'quick', call: () => Promise.resolve(answerOf({ text: 'There are 42 rows.' }, 1)) };

interface Api {
  readonly call: (
    method: string,
    target: string,
    body?: unknown,
  ) => Promise<readonly [number, Record<string, unknown>]>;
  /** Starts a run and waits for its end. */
  readonly run: (request: string, more: object) => Promise<string>;
  readonly text: (target: string) => Promise<string>;
  /** Closes the server and starts another one for the same records. */
  readonly restart: () => Promise<void>;
}

async function openApi(): Promise<Api> {
  const { runtime, project } = await world();
  const directory = path.join(project, '.agent', 'runs');
  const open = (): ReturnType<typeof createRunServer> =>
    createRunServer({ runtime, model: MODEL, directory, token: TOKEN });
  let server = await open();
  onTestFinished(() => server.close());
  const send = (method: string, target: string, body?: unknown): Promise<Response> =>
    fetch(`${server.url}/api/v1${target}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
  const call: Api['call'] = async (method, target, body) => {
    const response = await send(method, target, body);
    return [response.status, (await response.json()) as Record<string, unknown>];
  };
  const text: Api['text'] = async (target) => (await send('GET', target)).text();
  return {
    call,
    text,
    async run(request, more) {
      const [, body] = await call('POST', '/runs', { request, ...more });
      await text(`/runs/${String(body['run'])}/events`);
      return String(body['run']);
    },
    async restart() {
      await server.close();
      server = await open();
    },
  };
}

test('a run takes files by the digest of an upload, under another name', async () => {
  const { call, run, text } = await openApi();
  const [, { digest }] = await call('POST', '/uploads?name=a.csv', 'by digest');
  const id = await run('count', { files: [{ name: 'sub/b.csv', digest: `sha256:${String(digest)}` }] });
  expect(await text(`/runs/${id}/export`)).toContain('b.csv');
  const unknown = { request: 'x', files: [{ name: 'b.csv', digest: '0'.repeat(64) }] };
  expect((await call('POST', '/runs', unknown))[0]).toBe(400);
});

test('runs are found by labels, key and time', async () => {
  const { call, run } = await openApi();
  const first = await run('labelled', { labels: { team: 'docs', env: 'live' }, idempotencyKey: 'monday' });
  const second = await run('labelled too', { labels: { team: 'docs' }, vocabulary: 'trpc' });
  const found = async (query: string): Promise<unknown> => {
    const [, body] = await call('GET', `/runs?${query}`);
    return (body['runs'] as readonly { readonly run: string }[]).map((row) => row.run);
  };
  expect(await found('label=team%3Ddocs')).toEqual([second, first]);
  expect(await found('label=team%3Ddocs&label=env%3Dlive')).toEqual([first]);
  expect(await found('key=monday')).toEqual([first]);
  const [, body] = await call('GET', `/runs/${second}`);
  const { startedAt, labels } = body['run'] as { readonly startedAt: string; readonly labels: unknown };
  expect(labels).toEqual({ team: 'docs' });
  expect(await found(`until=${startedAt}`)).toEqual([first]);
  expect(await found(`since=${startedAt}`)).toEqual([second]);
});

test('an idempotency key starts one run, also after the server was started again', async () => {
  const { call, run, restart } = await openApi();
  const more = { idempotencyKey: 'monday' };
  const [first, same] = await Promise.all([run('labelled', more), run('labelled', more)]);
  expect(same).toBe(first);
  await restart();
  expect(await run('labelled', more)).toBe(first);
  expect((await call('POST', '/runs', { request: 'other text', ...more }))[0]).toBe(400);
});
