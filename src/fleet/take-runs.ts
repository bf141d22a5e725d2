/** Takes from the queue what `queue.ts` added: a run becomes a job of this worker until its attempt has ended, and the time of a schedule a run. */
import { setTimeout as sleep } from 'node:timers/promises';

import { newRunId } from '#journal';
import { isPassing, reasonText, untilReached } from './database.ts';
import { leaveRun } from './hand-over.ts';
import type { QueueGate } from './queue-gate.ts';
import { recordAct } from './keys.ts';
import {
  APPLICATION,
  APPLICATION_VERSION,
  QUEUE,
  SCHEDULED_WORKFLOW,
  SILENT,
  WORKFLOW,
  loadDbos,
  toScheduleContext,
  type QueuedRun,
  type ScheduleContext,
} from './queue.ts';
import { claimRun, submitRun, type Claim } from './run-table.ts';
import { workOn, type WorkerContext } from './work-on-run.ts';

export interface QueueLimits {
  /** Runs of one project at the same time, over all workers. */
  readonly perProject: number;
  /** Runs of one project that begin within a minute. */
  readonly perMinute?: number;
  readonly pollMs: number;
}

export interface Job {
  readonly claim: Claim;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

interface TakingWorker extends WorkerContext {
  readonly id: string;
  readonly slots: number;
  readonly limits: QueueLimits;
  readonly gate: QueueGate;
  readonly running: Map<string, Job>;
  readonly onNote: (note: string) => void;
}

const SHUTDOWN_MS = 2_000;

interface Taking {
  /** Takes no more runs; those that were taken go on. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Begins as soon as the database answers. There can be one at a time in a process. */
export async function takeRuns(worker: TakingWorker): Promise<Taking> {
  const { url, gate, id, slots, limits } = worker;
  const { DBOS } = await loadDbos();
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: url,
    executorID: id,
    applicationVersion: APPLICATION_VERSION,
    logger: SILENT,
    runMigrations: false,
    systemDatabasePool: gate.pool,
    // Nothing here waits for events of DBOS, so it needs no connection for them.
    useListenNotify: false,
  });
  DBOS.registerWorkflow(async (run: string, attempt: number) => takeRun(worker, { run, attempt }), { name: WORKFLOW });
  DBOS.registerWorkflow(async (at: Date, context: unknown) => submitScheduled(worker, toScheduleContext(context), at), {
    name: SCHEDULED_WORKFLOW,
  });
  for (;;) {
    try {
      await DBOS.launch();
      break;
    } catch (error) {
      // Its loops would try for ever; ending them needs the database, which may be what failed.
      await Promise.race([DBOS.shutdown().catch(() => undefined), sleep(SHUTDOWN_MS, undefined, { ref: false })]);
      if (!isPassing(error)) throw error;
    }
  }
  await untilReached(() =>
    DBOS.registerQueue(QUEUE, {
      onConflict: 'always_update',
      workerConcurrency: slots,
      partitionConcurrency: limits.perProject,
      minPollingIntervalMs: limits.pollMs,
      partitionRateLimit:
        limits.perMinute === undefined ? undefined : { limitPerPeriod: limits.perMinute, periodSec: 60 },
    }),
  );
  gate.hold();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    gate.open();
    return (stopped ??= DBOS.shutdown());
  };
  return {
    stop,
    async close() {
      await stop();
      // Only now, because runs that were taken still use them; the next worker of this process registers its own.
      await DBOS.shutdown({ deregister: true });
    },
  };
}

/** Called once for each run that this worker takes. The place of the run is finished when it returns. */
async function takeRun(worker: TakingWorker, entry: QueuedRun): Promise<void> {
  const { id, running, onNote } = worker;
  // An earlier attempt that this worker lost may still be ending.
  await running.get(entry.run)?.done;
  const claim: Claim = { ...entry, worker: id };
  const stop = new AbortController();
  const done = workOnClaim(worker, claim, stop.signal).catch((error: unknown) =>
    onNote(`run ${entry.run}: ${reasonText(error)}`),
  );
  running.set(entry.run, { claim, stop, done });
  await done;
  running.delete(entry.run);
  // There may be a place for this slot.
  worker.gate.wake();
}

/** However long the database is away: the place in the queue is finished after this, and another one is added only here. */
async function workOnClaim(worker: TakingWorker, claim: Claim, stop: AbortSignal): Promise<void> {
  const run = await untilReached(() => claimRun(worker.pool, claim, worker.models));
  if (run === undefined) await untilReached(() => leaveRun(worker, claim));
  else await workOn(run, claim, { ...worker, stop });
}

/** Submits the run of a schedule. Called again for the same time if this worker ends before it has returned. */
async function submitScheduled(
  worker: TakingWorker,
  { name, request, skillSet, ...owner }: ScheduleContext,
  at: Date,
): Promise<void> {
  const time = at.toISOString();
  const run = { id: newRunId(at), request, skillSet, idempotencyKey: `schedule ${name} ${time}` };
  try {
    await untilReached(() => submitRun(worker, run, owner));
  } catch (error) {
    // The time has passed, so this is all that is left of the run.
    const reason = reasonText(error);
    worker.onNote(`schedule ${name} of ${owner.project} at ${time}: ${reason}`);
    const detail = { at: time, reason };
    await untilReached(() => recordAct(worker.pool, owner, { act: 'schedule-skip', target: name, detail }));
  }
}
