import { expect, test } from 'vitest';

import { openQueueGate } from '../../src/fleet/queue-gate.ts';
import type { Pool } from 'pg';

const WORK = 'WITH RECURSIVE partitions AS (...)';

/** Connections that note each statement. */
function openPool(): { readonly pool: Pool; readonly sent: string[] } {
  const sent: string[] = [];
  const query = (text: string): Promise<unknown> => {
    sent.push(text);
    return Promise.resolve({ rows: [] });
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of a pool is used.
  return { pool: { query } as unknown as Pool, sent };
}

/** Lets everything run that can. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('polls pass while DBOS starts, are held when it was answered, and pass again when the gate is woken', async () => {
  const { pool, sent } = openPool();
  const gate = openQueueGate(pool);
  await gate.pool.query(WORK);
  gate.hold();
  await gate.pool.query(WORK);
  // The moment is over, and the question was asked in it.
  await expect
    .poll(async () => {
      const before = sent.length;
      void gate.pool.query(WORK);
      await settled();
      return sent.length - before;
    })
    .toBe(0);
  const before = sent.length;
  await gate.pool.query('select 1');
  expect(sent.slice(before)).toEqual(['select 1']);
  gate.wake();
  await settled();
  expect(sent.slice(before)).toEqual(['select 1', WORK]);
});

test('a gate that was woken stays open until DBOS has asked for work, however late that is', async () => {
  const { pool, sent } = openPool();
  const gate = openQueueGate(pool);
  gate.hold();
  await new Promise((resolve) => setTimeout(resolve, 400));
  await gate.pool.query('SELECT name FROM "dbos".queues WHERE true');
  await gate.pool.query(WORK);
  expect(sent).toHaveLength(2);
});

test('an open gate lets everything pass that it held', async () => {
  const { pool, sent } = openPool();
  const gate = openQueueGate(pool);
  gate.open();
  await gate.pool.query(WORK);
  await gate.pool.query(WORK);
  expect(sent).toEqual([WORK, WORK]);
});
