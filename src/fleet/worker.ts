/**
 * A worker: takes runs from the queue and works on each with the same agent as a single machine does, in a folder of its own. A run that
 * another worker began is continued from its stored record: no model call and no finished action is repeated (DIST-1).
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';

import { timerMs } from '#platform';
import { VERSION } from '../version.ts';
import { openCounters } from './counters.ts';
import { isUnreachable, reasonText, retry, untilReached, watchDatabase } from './database.ts';
import { SILENT_SECONDS, returnRun, takeOverRuns } from './hand-over.ts';
import { RUN_FORMAT, type RunDatabase } from './queue.ts';
import { PASS_SECONDS, reconcile } from './reconcile.ts';
import { takeRuns, type Job, type QueueLimits } from './take-runs.ts';
import { serveHealth } from './worker-health.ts';
import { CANCELLED, type WorkerOptions } from './work-on-run.ts';

export interface StartOptions extends WorkerOptions {
  /** Runs at the same time (default: 4). */
  readonly slots?: number;
  readonly limits?: Partial<QueueLimits>;
  /** Answers `/healthz` and `/readyz` on this port. */
  readonly healthPort?: number;
  readonly onNote?: (note: string) => void;
}

export interface Worker {
  readonly id: string;
  /** Takes no more runs and waits for those in progress; what is left after the grace period goes back to the queue. */
  drain(graceMs?: number): Promise<void>;
  /** Resolves with the reason if this worker has to be replaced by a new process. */
  readonly failed: Promise<string>;
}

const MAX_BACK_MS = 2_000;
/** DBOS repeats a failed statement after pauses that grow to a minute. A new process is faster than that after a long outage. */
const STUCK_MS = 20_000;
const BEAT = `with seen as (update skillwright.workers set seen_at = now() where id = $1)
  insert into skillwright.counters (worker, samples) values ($1, $2)
  on conflict (worker) do update set at = now(), samples = excluded.samples`;
const LIMITS: QueueLimits = { perProject: 20, pollMs: 50 };

export async function startWorker(options: StartOptions): Promise<Worker> {
  const { pool, url, slots = 4, onNote = () => undefined } = options;
  let state: 'starting' | 'taking' | 'draining' = 'starting';
  let lastHeard = performance.now();
  let failure: string | undefined;
  const pauseReason = (): string | undefined => {
    if (state !== 'taking') return state;
    return performance.now() - lastHeard > SILENT_SECONDS * 1_000 ? 'the database does not answer' : undefined;
  };
  const closeHealth = await serveHealth(options.healthPort, { failure: () => failure, pause: pauseReason });
  const id = `${hostname()}-${String(process.pid)}-${randomBytes(4).toString('hex')}`;
  mkdirSync(path.join(options.directory, 'runs', id), { recursive: true, mode: 0o700 });
  await untilReached(() =>
    pool.query(
      'insert into skillwright.workers (id, host, version, format, slots, models) values ($1, $2, $3, $4, $5, $6) on conflict do nothing',
      [id, hostname(), VERSION, RUN_FORMAT, slots, options.models ?? []],
    ),
  );
  await untilReached(() => removeLeftovers(pool, path.join(options.directory, 'runs')));
  const running = new Map<string, Job>();
  const counters = openCounters();
  /** Since when every heartbeat was answered. */
  let heardSince = Number.NEGATIVE_INFINITY;
  let lastPass = performance.now();
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => {
    fail = (reason) => resolve((failure ??= reason));
  });
  const beat = async (heart: Pool): Promise<void> => {
    try {
      await heart.query(BEAT, [id, JSON.stringify(counters.samples())]);
      lastHeard = performance.now();
      if (heardSince === Number.POSITIVE_INFINITY) heardSince = lastHeard;
    } catch (error) {
      heardSince = Number.POSITIVE_INFINITY;
      onNote(`no heartbeat: ${reasonText(error)}`);
      // By now another worker may have the runs of this one, so this one ends its own share of them.
      if (performance.now() - lastHeard > SILENT_SECONDS * 1_000)
        for (const { stop } of running.values()) stop.abort(new Error('it was cut off from the database'));
      throw error;
    }
  };
  let clock = Date.now() - performance.now();
  const care = async (): Promise<void> => {
    const back = clock - (Date.now() - performance.now());
    clock -= back;
    // The queue waits for a time of the clock, which is far away now.
    if (back > MAX_BACK_MS) fail(`the clock of this machine went back by ${String(Math.round(back / 1_000))} s`);
    if (state === 'starting') return;
    try {
      await compare(options, id, running);
      // After an outage the other workers get the time to be heard again: what they have done meanwhile is in their memory only.
      if (performance.now() - heardSince <= SILENT_SECONDS * 1_000) return;
      const repairs = [...(await takeOverRuns(options, id))];
      if (performance.now() - lastPass > PASS_SECONDS * 1_000) {
        lastPass = performance.now();
        repairs.push(...(await reconcile(options, id)));
      }
      for (const { run, because } of repairs) onNote(`run ${run}: ${because}`);
    } catch (error) {
      onNote(`runs of silent workers: ${reasonText(error)}`);
    }
  };
  // Before the first run comes: a worker without a heartbeat is lost to the others.
  const onSilent = (silentMs: number): void => {
    if (silentMs > STUCK_MS) fail('its other connections to the database do not answer');
    else onNote('connections to the database do not answer although a new one does; they are replaced');
  };
  const watch = await retry(() => watchDatabase(url, pool, { beat, use: care, onSilent }), isUnreachable);
  const limits = { ...LIMITS, ...options.limits };
  const taking = await takeRuns({ ...options, id, slots, limits, running, counters, runtimes: new Map(), onNote });
  state = 'taking';
  return {
    id,
    failed,
    async drain(graceMs = 30_000) {
      state = 'draining';
      await pool.query('update skillwright.workers set is_draining = true where id = $1', [id]).catch(() => undefined);
      const stopped = taking.stop();
      const left = [...running.values()].map(({ done }) => done);
      await Promise.race([Promise.allSettled(left), pause(timerMs(graceMs), undefined, { ref: false })]);
      for (const { stop } of running.values()) stop.abort(new Error('it was drained'));
      await Promise.allSettled([...running.values()].map(({ done }) => done));
      await stopped;
      await watch.close();
      await taking.close();
      closeHealth();
      await untilReached(() => pool.query('delete from skillwright.workers where id = $1', [id]));
      rmSync(path.join(options.directory, 'runs', id), { recursive: true, force: true });
    },
  };
}

/** Folders and rows of workers that ended without a word. Everything that counts is in other tables. */
async function removeLeftovers(pool: Pool, directory: string): Promise<void> {
  await pool.query(`delete from skillwright.workers where seen_at < now() - interval '1 day'`);
  await pool.query(`delete from skillwright.counters where at < now() - interval '1 day'`);
  const { rows } = await pool.query<{ id: string }>(
    `select id from skillwright.workers where seen_at > now() - interval '1 minute'`,
  );
  const alive = new Set(rows.map(({ id }) => id));
  for (const name of readdirSync(directory))
    if (!alive.has(name)) rmSync(path.join(directory, name), { recursive: true, force: true });
}

/**
 * Compares the runs that this worker has with those that it has according to the database. Stops the cancelled ones. A run that it does not
 * have, because the end of an attempt could not be stored, goes back to the queue.
 */
async function compare(database: RunDatabase, worker: string, running: ReadonlyMap<string, Job>): Promise<void> {
  const { rows } = await database.pool.query<{ run: string; attempt: number; isCancelled: boolean }>(
    `select id as run, attempt, is_cancelled as "isCancelled" from skillwright.runs where worker = $1 and state = 'running'`,
    [worker],
  );
  for (const { run, attempt, isCancelled } of rows) {
    const job = running.get(run);
    if (job === undefined)
      await returnRun(database, { run, attempt, worker }, `its worker ${worker} could not store how the attempt ended`);
    else if (isCancelled) job.stop.abort(CANCELLED);
  }
}
