/**
 * A worker: takes runs from the queue and works on each with the same agent as a single machine does, in a folder of its own. A run that
 * another worker began is continued from its stored record: no model call and no finished action is repeated (DIST-1).
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';

import { runAgent } from '../../agent/agent.ts';
import type { AgentOptions, AgentResult } from '../../agent/agent-options.ts';
import { lastAnswer } from '../../agent/resume/open-recorded-run.ts';
import { resumeAgent } from '../../agent/resume/resume.ts';
import { readRun } from '../../journal/journal-reader.ts';
import { SkillError, isSkillError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import type { RuntimeOptions } from '../../runtime/runtime.ts';
import { VERSION } from '../../version.ts';
import { VOCABULARY_NAMES } from '../../tools/vocabularies.ts';
import { continueAnswered, openApprovalTable, pendingQuestions } from './approval-table.ts';
import type { ContentStore } from './content-store.ts';
import { isDisconnected, isPassing, watchDatabase } from './database.ts';
import type { Database } from './database.ts';
import { listen } from './dbos-queue.ts';
import type { ListeningQueue, QueueLimits } from './dbos-queue.ts';
import { openMirror } from './mirror.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { openRunStore, restoreRecord, storedRecords } from './run-store.ts';
import { newRunId } from '../../journal/run-folder.ts';
import { RUN_FORMAT, claimRun, leaveRun, returnRun, submitRun, takeOverRuns } from './run-table.ts';
import type { Claim, Ending, FleetRun } from './run-table.ts';
import { keepRunFiles } from './run-files.ts';
import { openStoredArtifacts } from './stored-artifacts.ts';
import { workOnAttempt } from './stored-attempt.ts';
import type { RunAttempt } from './stored-attempt.ts';
import { traceOf } from '../../journal/trace-id.ts';
import { openCounters } from './counters.ts';
import type { ProjectCounters } from './counters.ts';
import { openRuntimes } from './worker-runtimes.ts';
import { openClockWatch } from './worker-timers.ts';
import type { Runtimes } from './worker-runtimes.ts';

export interface WorkerOptions {
  readonly pool: Database;
  readonly url: string;
  readonly contents: ContentStore;
  /** Opens the model of a run. */
  readonly openModel: () => Promise<Model>;
  /** A folder of this worker: fetched skills stay in it, records leave it with their run. */
  readonly directory: string;
  /** Options of every run: execution and policy. */
  readonly run?: AgentOptions['run'];
  /** Configuration of every run. */
  readonly settings?: Pick<RuntimeOptions, 'config' | 'configFile'>;
  /** Runs at the same time (default: 4). */
  readonly slots?: number;
  readonly limits?: Partial<QueueLimits>;
  /** Runs attempts of evaluations (default: they fail). */
  readonly runAttempt?: RunAttempt;
  readonly onNote?: (note: string) => void;
}

export interface Worker {
  readonly id: string;
  /** Takes no more runs and waits for those in progress; what is left after the grace period goes back to the queue. */
  drain(graceMs?: number): Promise<void>;
  /** Resolves with the reason if this worker has to be replaced by a new process. */
  readonly failed: Promise<string>;
}

/** Without a sign of life for this long, the runs of a worker are taken over. */
const SILENT_SECONDS = 3;
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
  await pool.query('insert into skillwright.workers (id, host, version, format, slots) values ($1, $2, $3, $4, $5)', [
    id,
    hostname(),
    VERSION,
    RUN_FORMAT,
    slots,
  ]);
  await removeLeftovers(pool, path.join(options.directory, 'runs'));
  const running = new Map<string, Job>();
  const counters = openCounters();
  const runtimes = openRuntimes(options);
  const queue: ListeningQueue = await listen({
    url,
    pool,
    worker: id,
    slots,
    limits: { ...LIMITS, ...options.limits },
    work: async (entry: QueuedRun) => {
      // An earlier attempt that this worker lost may still be ending.
      await running.get(entry.run)?.done;
      const claim: Claim = { ...entry, worker: id };
      const stop = new AbortController();
      const done = (async () => {
        const run = await reached(() => claimRun(pool, claim), stop.signal);
        if (run === undefined) await leaveRun(pool, queue, entry);
        else
          await workOn(run, claim, {
            ...options,
            runtimes,
            queue,
            counters: counters.of(run.project),
            stop: stop.signal,
          });
      })().catch((error: unknown) => {
        onNote(`run ${entry.run}: ${error instanceof Error ? error.message : String(error)}`);
      });
      running.set(entry.run, { claim, stop, done });
      await done;
      running.delete(entry.run);
    },
    submit: async ({ project, actor, name, request, skillSet }, at) => {
      const idempotencyKey = `schedule ${name} ${at.toISOString()}`;
      await submitRun(pool, queue, { id: newRunId(at), request, skillSet, idempotencyKey }, { actor, project });
    },
  });
  let lastHeard = performance.now();
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (fail = resolve));
  const beat = async (heart: Pool): Promise<void> => {
    try {
      await heart.query(BEAT, [id, JSON.stringify(counters.samples())]);
      lastHeard = performance.now();
    } catch (error) {
      onNote(`no heartbeat: ${error instanceof Error ? error.message : String(error)}`);
      // By now another worker has the runs of this one, so this one ends its own share of them.
      if (performance.now() - lastHeard > SILENT_SECONDS * 1_000)
        for (const { stop } of running.values()) stop.abort(new Error('the database does not answer'));
      throw error;
    }
  };
  const clock = openClockWatch();
  const care = async (): Promise<void> => {
    // The queue waits for a time of the clock, which is far away now.
    const back = clock();
    if (back > MAX_BACK_MS) fail(`the clock of this machine went back by ${String(Math.round(back / 1_000))} s`);
    try {
      await compare(pool, queue, id, running);
      for (const { run, worker, next } of await takeOverRuns(pool, queue, SILENT_SECONDS))
        onNote(
          next === undefined
            ? `run ${run} is set aside: its workers ended one after the other`
            : `run ${run} is taken over from ${worker}, which is silent`,
        );
    } catch (error) {
      onNote(`runs of silent workers: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const watch = await watchDatabase(url, pool, {
    beat,
    use: care,
    onSilent(silentMs) {
      if (silentMs > STUCK_MS) fail('its other connections to the database do not answer');
      else onNote('connections to the database do not answer although a new one does; they are replaced');
    },
  });
  return {
    id,
    failed,
    async drain(graceMs = 30_000) {
      await pool.query('update skillwright.workers set is_draining = true where id = $1', [id]);
      const stopped = queue.stop();
      const left = [...running.values()].map(({ done }) => done);
      await Promise.race([Promise.allSettled(left), pause(graceMs, undefined, { ref: false })]);
      for (const { claim, stop } of running.values()) {
        await returnRun(pool, queue, claim);
        stop.abort(new Error('the worker is drained'));
      }
      await Promise.allSettled([...running.values()].map(({ done }) => done));
      await stopped;
      await watch.close();
      await queue.close();
      await pool.query('delete from skillwright.workers where id = $1', [id]);
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

/** The reason of a stop that a person asked for. After any other the run goes back to the queue. */
const CANCELLED = new Error('the run was cancelled');

/**
 * Tries again while the database does not answer, as when it is restarted or full. Other errors are thrown at once: they say that the run
 * belongs to another worker, or what is wrong with it.
 */
async function reached<T>(act: () => Promise<T>, stop: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isPassing(error) || stop.aborted) throw error;
      await pause(RETRY_MS);
    }
  }
}

const RETRY_MS = 200;
/** After this the run is taken over, which finds that it is complete. */
const END_MS = 60_000;

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
    if (job === undefined) await returnRun(pool, queue, { run, attempt, worker });
    else if (isCancelled) job.stop.abort(CANCELLED);
  }
}

interface Work extends WorkerOptions {
  readonly runtimes: Runtimes;
  readonly queue: RunQueue;
  readonly counters: ProjectCounters;
  readonly stop: AbortSignal;
}

async function workOn(run: FleetRun, claim: Claim, work: Work): Promise<void> {
  const { pool, contents, directory } = work;
  const folder = path.join(directory, 'runs', claim.worker, run.id);
  const store = openRunStore(pool, contents, claim);
  const mirror = openMirror(store, run.id);
  if (claim.attempt === 1) work.counters.countWait(secondsSince(run));
  const settle = (): Promise<void> => reached(() => mirror.push(), work.stop);
  const atEnd = <T>(act: () => Promise<T>): Promise<T> => reached(act, AbortSignal.timeout(END_MS));
  try {
    const { evaluation } = run.options;
    if (evaluation !== undefined)
      return await workOnAttempt(run, evaluation, claim, { ...work, runAttempt: work.runAttempt });
    const runtime = await work.runtimes.of(run.skillSet);
    const approvals = openApprovalTable(pool, run.id);
    const { execution } = work.run ?? {};
    const artifacts = openStoredArtifacts(pool, contents, run.project);
    const options: Starting['options'] = {
      runtime,
      model: durable(await work.openModel(), settle),
      signal: work.stop,
      unapproved: 'stop',
      ...(execution === undefined
        ? {}
        : {
            beforeEnd: (session) => keepRunFiles(session, claim, { pool, contents, directory: path.dirname(folder) }),
          }),
      run: {
        ...work.run,
        ...(execution === undefined ? {} : { execution: { artifacts, ...execution, idempotencyKey: run.id } }),
        directory: folder,
        openPlace: mirror.openPlace,
        sinks: [work.counters.openSink()],
        trace: run.options.trace ?? traceOf(run.id),
        approve: approvals.approve,
        settle,
      },
    };
    const result = await start(run, claim, folder, { ...work, options });
    if (work.stop.aborted && work.stop.reason !== CANCELLED) {
      await atEnd(() => returnRun(pool, work.queue, claim));
      return;
    }
    const ending = await atEnd(() => endingOf(result, claim, pool));
    await atEnd(() => mirror.finish(ending));
    if (ending.state === 'waiting') await atEnd(() => continueAnswered(pool, work.queue, run.id));
    if (ending.state === 'ended') work.counters.countEnd(ending.outcome, secondsSince(run));
  } catch (error) {
    // Another worker has the run now.
    if (isSkillError(error) && error.code === 'record/failed') return;
    const reason = error instanceof Error ? error.message : String(error);
    const isStopped = work.stop.aborted && work.stop.reason !== CANCELLED;
    if (isStopped || isDisconnected(error)) await atEnd(() => returnRun(pool, work.queue, claim));
    else await atEnd(() => store.append([], { state: 'ended', outcome: 'failed', answer: '', reason }));
    if (!isSkillError(error)) throw error;
  } finally {
    if (claim.attempt > 1) await rm(folder, { recursive: true, force: true });
  }
}

/** The clock of the database at both ends would cost a round trip; this is a metric. */
function secondsSince({ submittedAt }: FleetRun): number {
  return Math.max(0, Date.now() - submittedAt.getTime()) / 1_000;
}

/** What is stored of a finished run. */
type Finished = Pick<AgentResult, 'outcome' | 'answer' | 'reason'> & Partial<Pick<AgentResult, 'used'>>;

interface Starting extends Work {
  readonly options: Pick<AgentOptions, 'runtime' | 'model' | 'run' | 'signal' | 'unapproved' | 'beforeEnd'>;
}

/** Starts a run, or continues what an earlier attempt recorded. */
async function start(run: FleetRun, { attempt }: Claim, folder: string, work: Starting): Promise<Finished> {
  const { pool, contents, options } = work;
  const { budget, required = [], vocabulary } = run.options;
  const name = VOCABULARY_NAMES.find((known) => known === vocabulary);
  const begin = (): Promise<AgentResult> =>
    runAgent({
      ...options,
      request: run.request,
      required,
      ...(budget === undefined ? {} : { budget }),
      ...(name === undefined ? {} : { vocabulary: name }),
    });
  if (attempt === 1) return begin();
  // Every record that a later one resumed is needed, in case the later one was lost before it had repeated all of it.
  const earlier = (await storedRecords(pool, run.id)).filter((one) => one.attempt < attempt);
  for (const one of earlier) await restoreRecord(pool, contents, { run: run.id, ...one }, folder);
  const last = earlier.findLast(({ isChild }) => !isChild);
  if (last === undefined) return begin();
  const finished = finishedRun(path.join(folder, last.record));
  if (finished !== undefined) return finished;
  const resumed = await resumeAgent({
    ...options,
    path: path.join(folder, last.record),
    hasEnded: true,
    repeatsPrograms: true,
  });
  if (resumed.type === 'resumed') return resumed.result;
  throw new SkillError({
    code: 'run/invalid',
    message: `the run cannot be continued: ${resumed.problems.join('; ')}`,
    hint: 'submit it again',
    data: { path: run.id },
  });
}

/** The result of a record that is complete: its worker was lost before it could say so. */
function finishedRun(folder: string): Finished | undefined {
  const { info } = readRun(folder);
  if (info.outcome !== 'done' && info.outcome !== 'degraded' && info.outcome !== 'failed') return undefined;
  return { outcome: info.outcome, answer: lastAnswer(folder), reason: info.reason };
}

async function endingOf(result: Finished, claim: Claim, pool: Pool): Promise<Ending> {
  const { outcome, answer, reason, used } = result;
  if (outcome === 'refused' && (await pendingQuestions(pool, claim)) > 0) return { state: 'waiting' };
  return { state: 'ended', outcome, answer, reason, ...(used === undefined ? {} : { used }) };
}

/** The model is called only when the record of everything before the call is stored. */
function durable(model: Model, settle: () => Promise<void>): Model {
  return {
    ...model,
    async call(request, options) {
      await settle();
      return model.call(request, options);
    },
  };
}
