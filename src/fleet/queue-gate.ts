/**
 * DBOS asks for work twenty times a second, and for delays, deadlines and queues each second, whether or not there is any; it has no option to
 * be told. A worker holds these statements back while there is no reason to ask, and lets them pass for a moment when it is woken: by a notification
 * of a new place in the queue, by the end of one of its runs, or by its heartbeat, which looks for places as well. A statement that DBOS
 * words differently one day is not held back, which costs statements and nothing else.
 */
import type { Pool, QueryConfig, QueryResult } from 'pg';

/** Servers and workers tell it when a run gets a place in the queue. */
export const CHANNEL = 'skillwright_queue';
/** Several polls: what is told may be committed a little later, and a peer may hold the rows of the first poll. */
const OPEN_MS = 300;
const WORK = /WITH RECURSIVE partitions/;
const POLLS = [
  WORK,
  /delay_until_epoch_ms <= \$2/,
  /SELECT [^;]* FROM "dbos"\.queues\s+WHERE/,
  // Runs have their own timeouts.
  /workflow_deadline_epoch_ms <= \$2/,
];

export interface QueueGate {
  /** For DBOS: the same connections. */
  readonly pool: Pool;
  /** Lets statements pass for a moment. */
  wake(): void;
  /** Begins to hold statements back: DBOS needs their answers to start. */
  hold(): void;
  /** Holds nothing back any more, so that DBOS can end. */
  open(): void;
}

export function openQueueGate(pool: Pool): QueueGate {
  let openUntil = Number.POSITIVE_INFINITY;
  let isHolding = false;
  let held: (() => void)[] = [];
  /** Whether DBOS has asked for work since it was woken. A busy machine may need longer for that than the moment. */
  let hasAsked = true;
  let wakes = 0;
  const query = async (text: string | QueryConfig, values?: unknown[]): Promise<QueryResult> => {
    if (typeof text !== 'string' || !POLLS.some((poll) => poll.test(text))) return pool.query(text, values);
    if (hasAsked && performance.now() > openUntil) await new Promise<void>((resolve) => held.push(resolve));
    const wake = wakes;
    const found = await pool.query(text, values);
    if (WORK.test(text) && wake === wakes) hasAsked = true;
    return found;
  };
  const open = (ms: number): void => {
    openUntil = performance.now() + ms;
    hasAsked = false;
    wakes += 1;
    const released = held;
    held = [];
    for (const release of released) release();
  };
  return {
    pool: new Proxy(pool, {
      get(target, name) {
        if (name === 'query') return query;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    wake() {
      open(isHolding ? OPEN_MS : Number.POSITIVE_INFINITY);
    },
    hold() {
      isHolding = true;
      open(OPEN_MS);
    },
    open() {
      isHolding = false;
      open(Number.POSITIVE_INFINITY);
    },
  };
}
