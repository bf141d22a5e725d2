import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

import { invalidInput } from '../../src/core/errors.ts';
import { liveRows } from '../../src/server/live-stream.ts';
import type { RecordLine } from '../../src/server/event-row.ts';

const line = (seq: number, message = ''): RecordLine => ({
  seq,
  time: '',
  elapsed: 0,
  hash: '',
  event: { type: 'note', message },
});

test('a record that fails while the reader does not read ends the stream at its next read, not the process', async () => {
  const rejections: unknown[] = [];
  const note = (error: unknown): void => void rejections.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const failing = (error: Error): AsyncGenerator<string> =>
    liveRows({
      async *follow() {
        yield line(1);
        throw error;
      },
      live: undefined,
      signal: new AbortController().signal,
    });
  const stream = failing(new Error('the database is gone'));
  await stream.next();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(rejections).toEqual([]);
  expect((await stream.next()).value).toContain('id: 1\nevent: row\n');
  await expect(stream.next()).rejects.toThrow('the database is gone');

  const frames: string[] = [];
  for await (const frame of failing(invalidInput('no such run', 'a run'))) frames.push(frame);
  expect(frames.at(-1)).toBe('event: problem\ndata: {"message":"no such run"}\n\n');
});

test('while the reader does not read, rows wait and messages are dropped beyond a number of characters', async () => {
  const live = new EventEmitter();
  let followed = 0;
  const stream = liveRows({
    async *follow() {
      for (; followed < 10_000; followed += 1) yield line(followed + 1, 'x'.repeat(300));
    },
    live,
    signal: new AbortController().signal,
  });
  await stream.next();
  for (let at = 0; at < 1_000; at += 1) live.emit('message', { type: 'delta', text: 'y'.repeat(10_000) });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(followed).toBeLessThan(5_000);
  let deltas = 0;
  for await (const frame of stream) deltas += frame.startsWith('event: delta') ? 1 : 0;
  expect(deltas).toBeLessThan(200);
  expect(followed).toBe(10_000);
});
