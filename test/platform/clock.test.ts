import { expect, test } from 'vitest';

import { timerMs } from '../../src/platform/clock.ts';
import { openFleetClient } from '../../src/fleet/client.ts';

test.each([
  [10, 10],
  [2 ** 31 - 1, 2 ** 31 - 1],
  [2 ** 31, 2 ** 31 - 1],
  [Infinity, 2 ** 31 - 1],
])('a timer for %d ms waits %d ms', (ms, waits) => {
  expect(timerMs(ms)).toBe(waits);
});

test.each([3_000_000_000, Infinity])('a client with a timeout of %d ms waits for the answer', async (timeoutMs) => {
  const fetch = async (_: unknown, { signal }: RequestInit = {}): Promise<Response> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    signal?.throwIfAborted();
    return Response.json({ id: 'a' });
  };
  const client = openFleetClient({ url: 'http://127.0.0.1:1', key: 'k', timeoutMs, fetch });
  expect(await client.run('a')).toEqual({ id: 'a' });
});
