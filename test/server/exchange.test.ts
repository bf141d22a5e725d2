/** How answers are sent: streams and files to readers of any speed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

import { answerApi } from '../../src/server/exchange.ts';
import { route, type Route } from '../../src/server/router.ts';

const REASON = 'the reader took no data for 1.5 s; the connection was closed';
const FRAME = `data: ${'x'.repeat(100_000)}\n\n`;
/** More than the buffers of the system take. */
const ENDLESS = 10_000;

interface Opened {
  readonly notes: readonly string[];
  /** How many answers are over. */
  readonly closed: () => number;
  /** Sends a request and does not read its answer. */
  readonly stall: (target: string) => Promise<Socket>;
  readonly url: string;
}

async function opened(routes: readonly Route[]): Promise<Opened> {
  const notes: string[] = [];
  let closed = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    response.on('close', () => (closed += 1));
    void answerApi(request, response, new URL(request.url ?? '', 'http://localhost'), {
      routes,
      limits: { bodyBytes: 0, uploadBytes: 0, stalledMs: 1_500 },
      closing: new AbortController().signal,
      onNote: (note) => void notes.push(note),
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    notes,
    closed: () => closed,
    url: `http://127.0.0.1:${String(port)}/api/v1`,
    async stall(target) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      socket.write(`GET /api/v1${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
      return socket;
    },
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a reader of a stream that takes no data is disconnected, and reads why if it goes on', async () => {
  let [made, ended] = [0, 0];
  const { notes, stall, url } = await opened([
    route('GET /stream', '', { answer: 'events' }, async function* () {
      try {
        for (; made < ENDLESS; made += 1) yield FRAME;
      } finally {
        ended += 1;
      }
    }),
    route('GET /short', '', { answer: 'events' }, async function* () {
      for (let at = 0; at < 3; at += 1) yield FRAME;
    }),
  ]);
  const socket = await stall('/stream');
  await until(() => notes.length === 1);
  expect(notes).toEqual([`/api/v1/stream: ${REASON}`]);
  // Frames are made only while the reader takes them, so the memory holds few of them.
  expect([made < ENDLESS, ended]).toEqual([true, 1]);
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  await until(() => text.includes(REASON) || socket.destroyed);
  expect(text.slice(-400)).toContain(`event: problem\ndata: {"message":"${REASON}"}\n\n`);
  expect(await (await fetch(`${url}/short`)).text()).toBe(FRAME.repeat(3));
});

test('a download and an answer that are not read are cut off', async () => {
  const { notes, closed, stall, url } = await opened([
    route('GET /file', '', { answer: 'file' }, () => ({
      name: 'a.bin',
      mediaType: 'application/octet-stream',
      chunks: Array.from({ length: 200 }, () => Buffer.alloc(100_000)),
    })),
    route('GET /large', '', { answer: z.string() }, () => 'x'.repeat(20_000_000)),
  ]);
  await stall('/file');
  await until(() => closed() === 1);
  expect(notes).toEqual([`/api/v1/file: ${REASON}`]);
  await stall('/large');
  await until(() => closed() === 2);
  expect((await (await fetch(`${url}/file`)).arrayBuffer()).byteLength).toBe(20_000_000);
});
