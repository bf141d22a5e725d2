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
import { openCounters, type Counters } from './counters.ts';
import {
  isUnreachable,
  reasonText,
  retry,
  untilReached,
  watchDatabase,
  type DatabaseWatch,
  type Heart,
} from './database.ts';
import { SILENT_SECONDS, returnRun, takeOverRuns } from './hand-over.ts';
import { beat, type HeldRun, type Pulse } from './heartbeat.ts';
import { CHANNEL, openQueueGate } from './queue-gate.ts';
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

/** After it was woken, a worker asks as often as one with runs. */
const AWAKE_MS = 2_000;
/** A pass of the reconciler while no run is open. */
const IDLE_PASS_SECONDS = 60;
const RENEW_SAMPLES_MS = 3_600_000;
const MAX_BACK_MS = 2_000;
/** DBOS repeats a failed statement after pauses that grow to a minute. A new process is faster than that after a long outage. */
const STUCK_MS = 20_000;
const LIMITS: QueueLimits = { perProject: 20, pollMs: 50 };

export async function startWorker(options: StartOptions): Promise<Worker> {
  const { pool, url, slots = 4, onNote = () => undefined } = options;
  let state: 'starting' | 'taking' | 'draining' = 'starting';
  let lastHeard = performance.now();
  /** Since when every heartbeat was answered. */
  let heardSince = Number.NEGATIVE_INFINITY;
  let failure: string | undefined;
  const pauseReason = (): string | undefined => {
    if (state !== 'taking') return state;
    const isUnheard = heardSince === Number.POSITIVE_INFINITY && performance.now() - lastHeard > SILENT_SECONDS * 1_000;
    return isUnheard ? 'the database does not answer' : undefined;
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
  const gate = openQueueGate(pool);
  const counters = openCounters();
  let lastPass = performance.now();
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => {
    fail = (reason) => resolve((failure ??= reason));
  });
  let pulse: Pulse | undefined;
  let wokenAt = performance.now();
  let hasActive = false;
  const isIdle = (): boolean => running.size === 0 && !hasActive && performance.now() - wokenAt > AWAKE_MS;
  const wake = (): void => {
    wokenAt = performance.now();
    gate.wake();
  };
  const samples = openSamples(counters);
  const compare = openComparison(options, id, running);
  const beatOnce = async (heart: Heart): Promise<void> => {
    try {
      const fresh = samples.fresh();
      pulse = await beat(heart, id, fresh);
      samples.stored(fresh);
      hasActive = pulse.hasActive;
      if (pulse.hasPlace && running.size < slots) wake();
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
    // The heartbeat has asked what there is to do; without any of it, only whether the pool answers is left to ask.
    const now = pulse;
    pulse = undefined;
    if (state === 'starting' || now === undefined) return void (await pool.query('select 1').catch(() => undefined));
    try {
      await compare(now.runs);
      // After an outage the other workers get the time to be heard again: what they have done meanwhile is in their memory only.
      if (performance.now() - heardSince <= SILENT_SECONDS * 1_000) return;
      const repairs = now.hasLost || now.places > running.size ? [...(await takeOverRuns(options, id))] : [];
      if (
        performance.now() - lastPass >
        (now.hasActive || now.hasWaiting || now.hasLost ? PASS_SECONDS : IDLE_PASS_SECONDS) * 1_000
      ) {
        lastPass = performance.now();
        repairs.push(...(await reconcile(options, id)));
      } else if (repairs.length === 0) await pool.query('select 1');
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
  let watch: DatabaseWatch | undefined = undefined;
  const heard = (): void => {
    const wasIdle = isIdle();
    wake();
    // Others must hear of this worker before it has a run.
    if (wasIdle) watch?.kick();
  };
  const watching = { beat: beatOnce, use: care, isIdle, onSilent, listen: { channel: CHANNEL, heard } };
  watch = await retry(() => watchDatabase(url, pool, watching), isUnreachable);
  const limits = { ...LIMITS, ...options.limits };
  const taking = await takeRuns({
    ...options,
    id,
    slots,
    limits,
    gate,
    running,
    counters,
    runtimes: new Map(),
    onNote,
  });
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
      await watch?.close();
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

/** Counts change with each run, and a worker without one has nothing to say. */
function openSamples(counters: Counters): { fresh(): string | undefined; stored(samples: string | undefined): void } {
  let last = '';
  let at = performance.now();
  return {
    fresh() {
      const samples = JSON.stringify(counters.samples());
      // Samples of a day ago are of a worker that has ended.
      return samples === last && performance.now() - at < RENEW_SAMPLES_MS ? undefined : samples;
    },
    stored(samples) {
      if (samples === undefined) return;
      last = samples;
      at = performance.now();
    },
  };
}

/**
 * Compares the runs that this worker has with those that it has according to its heartbeat. Stops the cancelled ones. A run that it does not
 * have, because the end of an attempt could not be stored, goes back to the queue: when two heartbeats in a row say so, since a run may end
 * while one is answered.
 */
function openComparison(database: RunDatabase, worker: string, running: ReadonlyMap<string, Job>) {
  let suspects: ReadonlySet<string> = new Set();
  return async (held: readonly HeldRun[]): Promise<void> => {
    const before = suspects;
    for (const { run, isCancelled } of held) if (isCancelled) running.get(run)?.stop.abort(CANCELLED);
    const missing = held.filter(({ run }) => !running.has(run));
    suspects = new Set(missing.map(({ run, attempt }) => `${run}/${String(attempt)}`));
    for (const { run, attempt } of missing.filter((one) => before.has(`${one.run}/${String(one.attempt)}`)))
      await returnRun(database, { run, attempt, worker }, `its worker ${worker} could not store how the attempt ended`);
  };
}
