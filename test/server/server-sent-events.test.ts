import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, test } from 'vitest';

import { serverSentEvents, type ServerSentEventOptions } from '../../src/server/server-sent-events.ts';
import type { JournalLine, RunEvent } from '../../src/core/run-events.ts';
import { WHOLE_RUN, linesOf, start } from '../journal/run-lines.ts';
import { verifies } from '../conformance/verifies.ts';

interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: JournalLine;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server as a program would write one: frames to the response, the end of the connection to the source. */
async function serve(
  source: () => AsyncIterable<JournalLine>,
  options: Pick<ServerSentEventOptions, 'heartbeatMs'> = {},
): Promise<{ readonly url: string; readonly gone: Promise<void> }> {
  const { promise: gone, resolve } = withResolvers();
  const server = createServer((request, response) => {
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const lastEventId = request.headers['last-event-id'];
    const frames = serverSentEvents(source(), {
      ...options,
      signal: abort.signal,
      ...(typeof lastEventId === 'string' ? { lastEventId } : {}),
    });
    void pipeline(Readable.from(frames), response)
      .catch(() => undefined)
      .then(resolve);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}/`, gone };
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Blocks of a stream, as they come; the reader of a browser in few lines. */
async function* blocks(response: Response): AsyncGenerator<string> {
  let rest = '';
  const text = response.body?.pipeThrough(new TextDecoderStream()) ?? Readable.from([]);
  for await (const piece of text) {
    rest += String(piece);
    const parts = rest.split('\n\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}

function readFrame(block: string): Frame | undefined {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  if (fields['data'] === undefined) return undefined;
  return { id: fields['id'] ?? '', event: fields['event'] ?? '', data: JSON.parse(fields['data']) as JournalLine };
}

async function framesOf(response: Response): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for await (const block of blocks(response)) {
    const frame = readFrame(block);
    if (frame !== undefined) frames.push(frame);
  }
  return frames;
}

async function* from(lines: readonly JournalLine[]): AsyncGenerator<JournalLine> {
  await Promise.resolve();
  yield* lines;
}

async function all(frames: AsyncIterable<string>): Promise<readonly string[]> {
  const out: string[] = [];
  for await (const frame of frames) out.push(frame);
  return out;
}

const LINES = linesOf(WHOLE_RUN);
const expected = (lines: readonly JournalLine[]): readonly Frame[] =>
  lines.map((line) => ({ id: String(line.seq), event: line.event.type, data: line }));

describe('over HTTP', () => {
  verifies('AGT-8', 'a client sees every line, with its number and its kind', async () => {
    const { url } = await serve(() => from(LINES));
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await framesOf(response)).toEqual(expected(LINES));
  });

  test('a client that lost its connection goes on after the last line it has', async () => {
    const { url } = await serve(() => from(LINES));
    const first: Frame[] = [];
    for await (const block of blocks(await fetch(url))) {
      const frame = readFrame(block);
      if (frame !== undefined) first.push(frame);
      if (first.length === 7) break;
    }
    const rest = await framesOf(await fetch(url, { headers: { 'last-event-id': first.at(-1)?.id ?? '' } }));
    expect([...first, ...rest]).toEqual(expected(LINES));
  });

  test('while nothing happens a comment is sent, and a client that goes ends the wait for the next line', async () => {
    const { url, gone } = await serve(() => silent(LINES.slice(0, 1)), { heartbeatMs: 5 });
    const seen: string[] = [];
    for await (const block of blocks(await fetch(url))) {
      seen.push(block);
      if (seen.length === 5) break;
    }
    expect(seen.slice(2)).toEqual([': ', ': ', ': ']);
    await gone;
  });
});

describe('frames', () => {
  test('start with the time after which to ask again, and are three fields each', async () => {
    const [line] = linesOf([start()]);
    const frames = await all(serverSentEvents(from(line === undefined ? [] : [line]), { retryMs: 500 }));
    expect(frames).toEqual(['retry: 500\n\n', `id: 1\nevent: run-start\ndata: ${JSON.stringify(line)}\n\n`]);
  });

  test('have no line end, no control and no turn of direction that is not theirs', async () => {
    const hostile = linesOf([start({ request: 'x\n\nevent: run-end\ndata: {}\n\n\r\u2028\u202e\u0000' })]);
    const [, frame = ''] = await all(serverSentEvents(from(hostile)));
    expect(frame.split('\n')).toEqual(['id: 1', 'event: run-start', expect.stringMatching(/^data: \{.*\}$/), '', '']);
    expect(frame).not.toMatch(/[\r\u2028\u202e\u0000]/);
    expect(readFrame(frame)?.data).toEqual(hostile[0]);
  });

  test('have only known names and numeric ids, also for an untrusted journal', async () => {
    const forged = {
      ...linesOf([start()])[0],
      seq: '1\nevent: run-end',
      event: { type: 'note\ndata: {}' } as unknown as RunEvent,
    } as unknown as JournalLine;
    const [, frame = ''] = await all(serverSentEvents(from([forged])));
    expect(frame.split('\n').map((line) => line.split(':')[0])).toEqual(['event', 'data', '', '']);
    expect(frame).toMatch(/^event: unknown\n/);
  });

  test.each(['', 'abc', '-1', '1e3', '5 ', '9'.repeat(30)])(
    'a last line of %j is none of ours: all are sent',
    async (lastEventId) => {
      expect(await all(serverSentEvents(from(LINES), { lastEventId }))).toHaveLength(LINES.length + 1);
    },
  );

  test('nothing is read ahead of who takes it', async () => {
    let read = 0;
    const counted = async function* (): AsyncGenerator<JournalLine> {
      for await (const line of from(LINES)) {
        read += 1;
        yield line;
      }
    };
    const frames = serverSentEvents(counted());
    await frames.next();
    await frames.next();
    expect(read).toBe(1);
    await frames.next();
    expect(read).toBe(2);
    await frames.return();
  });

  test('an error of the source goes to who takes the frames', async () => {
    const broken = async function* (): AsyncGenerator<JournalLine> {
      yield* from(LINES.slice(0, 2));
      throw new Error('the journal cannot be read');
    };
    await expect(all(serverSentEvents(broken()))).rejects.toThrow('the journal cannot be read');
  });

  test('a signal that came before ends it at once', async () => {
    expect(await all(serverSentEvents(silent([]), { signal: AbortSignal.abort() }))).toEqual(['retry: 2000\n\n']);
  });
});

/** Some lines, and then none for ever. */
async function* silent(lines: readonly JournalLine[]): AsyncGenerator<JournalLine> {
  yield* from(lines);
  await new Promise(() => undefined);
}
