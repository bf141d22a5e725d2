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
import { newRunId } from '#journal';
import { VERSION } from '../version.ts';
import { recordAct } from './audit.ts';
import { openCounters } from './counters.ts';
import { RETRY_MS, isUnreachable, untilReached, watchDatabase } from './database.ts';
import { listen, type ListeningQueue, type QueueLimits } from './dbos-queue.ts';
import { SILENT_SECONDS, leaveRun, returnRun, takeOverRuns } from './hand-over.ts';
import { PASS_SECONDS, reconcile } from './reconcile.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { RUN_FORMAT, claimRun, submitRun, type Claim } from './run-table.ts';
import { CANCELLED, workOn } from './work-on-run.ts';
import type { WorkerOptions } from './worker-options.ts';
import { openRuntimes } from './worker-runtimes.ts';
import { openClockWatch } from './worker-timers.ts';

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

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { pool, url, slots = 4, onNote = () => undefined } = options;
  const id = `${hostname()}-${String(process.pid)}-${randomBytes(4).toString('hex')}`;
  mkdirSync(path.join(options.directory, 'runs', id), { recursive: true, mode: 0o700 });
  await untilReached(() =>
    pool.query(
      'insert into skillwright.workers (id, host, version, format, slots) values ($1, $2, $3, $4, $5) on conflict do nothing',
      [id, hostname(), VERSION, RUN_FORMAT, slots],
    ),
  );
  await untilReached(() => removeLeftovers(pool, path.join(options.directory, 'runs')));
  const running = new Map<string, Job>();
  const counters = openCounters();
  const runtimes = openRuntimes(options);
  let queue: ListeningQueue | undefined;
  let lastHeard = performance.now();
  /** Since when every heartbeat was answered. */
  let heardSince = Number.NEGATIVE_INFINITY;
  let lastPass = performance.now();
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (fail = resolve));
  const beat = async (heart: Pool): Promise<void> => {
    try {
      await heart.query(BEAT, [id, JSON.stringify(counters.samples())]);
      lastHeard = performance.now();
      if (heardSince === Number.POSITIVE_INFINITY) heardSince = lastHeard;
    } catch (error) {
      heardSince = Number.POSITIVE_INFINITY;
      onNote(`no heartbeat: ${error instanceof Error ? error.message : String(error)}`);
      // By now another worker may have the runs of this one, so this one ends its own share of them.
      if (performance.now() - lastHeard > SILENT_SECONDS * 1_000)
        for (const { stop } of running.values()) stop.abort(new Error('it was cut off from the database'));
      throw error;
    }
  };
  const clock = openClockWatch();
  const care = async (): Promise<void> => {
    // The queue waits for a time of the clock, which is far away now.
    const back = clock();
    if (back > MAX_BACK_MS) fail(`the clock of this machine went back by ${String(Math.round(back / 1_000))} s`);
    if (queue === undefined) return;
    try {
      await compare(pool, queue, id, running);
      // After an outage the other workers get the time to be heard again: what they have done meanwhile is in their memory only.
      if (performance.now() - heardSince <= SILENT_SECONDS * 1_000) return;
      const repairs = [...(await takeOverRuns(pool, queue, id))];
      if (performance.now() - lastPass > PASS_SECONDS * 1_000) {
        lastPass = performance.now();
        repairs.push(...(await reconcile(pool, queue, id)));
      }
      for (const { run, because } of repairs) onNote(`run ${run}: ${because}`);
    } catch (error) {
      onNote(`runs of silent workers: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  // Before the first run comes: a worker without a heartbeat is lost to the others.
  const watch = await openWatch(() =>
    watchDatabase(url, pool, {
      beat,
      use: care,
      onSilent(silentMs) {
        if (silentMs > STUCK_MS) fail('its other connections to the database do not answer');
        else onNote('connections to the database do not answer although a new one does; they are replaced');
      },
    }),
  );
  const listening = await listen({
    url,
    pool,
    worker: id,
    slots,
    limits: { ...LIMITS, ...options.limits },
    work: async (entry: QueuedRun, places: RunQueue) => {
      // An earlier attempt that this worker lost may still be ending.
      await running.get(entry.run)?.done;
      const claim: Claim = { ...entry, worker: id };
      const stop = new AbortController();
      const done = (async () => {
        // However long the database is away: the place in the queue is finished when this returns, and another one is added only here.
        const run = await untilReached(() => claimRun(pool, claim));
        if (run === undefined) await untilReached(() => leaveRun(pool, places, entry));
        else {
          const counted = counters.of(run.project);
          await workOn(run, claim, { ...options, runtimes, queue: places, counters: counted, stop: stop.signal });
        }
      })().catch((error: unknown) => {
        onNote(`run ${entry.run}: ${error instanceof Error ? error.message : String(error)}`);
      });
      running.set(entry.run, { claim, stop, done });
      await done;
      running.delete(entry.run);
    },
    submit: async ({ project, actor, name, request, skillSet }, at, places) => {
      const run = { id: newRunId(at), request, skillSet, idempotencyKey: `schedule ${name} ${at.toISOString()}` };
      try {
        await untilReached(() => submitRun(pool, places, run, { actor, project }));
      } catch (error) {
        // The time has passed, so this is all that is left of the run.
        const reason = error instanceof Error ? error.message : String(error);
        onNote(`schedule ${name} of ${project} at ${at.toISOString()}: ${reason}`);
        const skipped = { act: 'schedule-skip', target: name, detail: { at: at.toISOString(), reason } };
        await untilReached(() => recordAct(pool, { actor, project }, skipped));
      }
    },
  });
  queue = listening;
  return {
    id,
    failed,
    async drain(graceMs = 30_000) {
      await pool.query('update skillwright.workers set is_draining = true where id = $1', [id]).catch(() => undefined);
      const stopped = listening.stop();
      const left = [...running.values()].map(({ done }) => done);
      await Promise.race([Promise.allSettled(left), pause(timerMs(graceMs), undefined, { ref: false })]);
      for (const { stop } of running.values()) stop.abort(new Error('it was drained'));
      await Promise.allSettled([...running.values()].map(({ done }) => done));
      await stopped;
      await watch.close();
      await listening.close();
      await untilReached(() => pool.query('delete from skillwright.workers where id = $1', [id]));
      rmSync(path.join(options.directory, 'runs', id), { recursive: true, force: true });
    },
  };
}

async function openWatch<T>(open: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      await pause(RETRY_MS);
    }
  }
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

interface Job {
  readonly claim: Claim;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/**
 * Compares the runs that this worker has with those that it has according to the database. Stops the cancelled ones. A run that it does not
 * have, because the end of an attempt could not be stored, goes back to the queue.
 */
async function compare(pool: Pool, queue: RunQueue, worker: string, running: ReadonlyMap<string, Job>): Promise<void> {
  const { rows } = await pool.query<{ run: string; attempt: number; isCancelled: boolean }>(
    `select id as run, attempt, is_cancelled as "isCancelled" from skillwright.runs where worker = $1 and state = 'running'`,
    [worker],
  );
  for (const { run, attempt, isCancelled } of rows) {
    const job = running.get(run);
    if (job === undefined)
      await returnRun(
        pool,
        queue,
        { run, attempt, worker },
        `its worker ${worker} could not store how the attempt ended`,
      );
    else if (isCancelled) job.stop.abort(CANCELLED);
  }
}
