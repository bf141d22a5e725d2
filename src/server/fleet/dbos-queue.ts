/**
 * The queue on DBOS: one workflow for each attempt of a run, in one queue that is partitioned by project, so that a project that floods
 * it does not hold up another. DBOS keeps order, priorities, delays, limits and schedules. What happened inside a run is in its journal,
 * which is the only memory of its steps.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type * as Dbos from '@dbos-inc/dbos-sdk';
import type { Pool } from 'pg';

import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';
import { loadOptional } from '../../platform/optional-package.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { RUN_FORMAT } from './run-table.ts';
import type { ScheduleContext, Schedules } from './schedules.ts';

const QUEUE = 'runs';
const WORKFLOW = 'run';
const SCHEDULED_WORKFLOW = 'scheduled-run';
const APPLICATION = 'skillwright';
const SHUTDOWN_MS = 2_000;
/** Runs that workers have taken at one time, which are fewer than all their slots. */
const MAX_LISTED = 10_000;
const PRUNED_AT_ONCE = 1_000;
/** Workers of every release take the same runs; whether a worker understands a run is decided by the format of its row. */
const APPLICATION_VERSION = `format-${String(RUN_FORMAT)}`;

export interface QueueLimits {
  /** Runs of one project at the same time, over all workers. */
  readonly perProject: number;
  /** Runs of one project that begin within a minute. */
  readonly perMinute?: number;
  readonly pollMs: number;
}

export interface SubmittingQueue extends RunQueue {
  readonly schedules: Schedules;
  /** Deletes finished entries; returns how many. DBOS keeps them for ever otherwise. */
  prune(before: Date): Promise<number>;
  close(): Promise<void>;
}

const load = (): Promise<typeof Dbos> => loadOptional('@dbos-inc/dbos-sdk', () => import('@dbos-inc/dbos-sdk'));

/** Creates or upgrades the tables of DBOS, which announces that on stdout. */
export async function migrateQueue(url: string): Promise<void> {
  const { DBOS } = await load();
  await DBOS.migrate(url);
}

/** Opens the queue to add runs. */
export async function openQueue(url: string, pool: Pool): Promise<SubmittingQueue> {
  const { DBOSClient } = await load();
  const client = await DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    applicationName: APPLICATION,
    logger: SILENT,
  });
  return {
    ...queueOf(client),
    schedules: schedulesOf(client),
    prune: (before) => pruneEntries(client, before),
    close: () => client.destroy(),
  };
}

/** Exported for tests. Throws if entries that it deleted are listed again. */
export async function pruneEntries(
  client: Pick<Dbos.DBOSClient, 'listWorkflows' | 'deleteWorkflows'>,
  before: Date,
): Promise<number> {
  let pruned = 0;
  for (let last = new Set<string>(); ;) {
    const finished = await client.listWorkflows({
      completedBefore: before.toISOString(),
      loadInput: false,
      loadOutput: false,
      limit: PRUNED_AT_ONCE,
    });
    if (finished.length === 0) return pruned;
    const ids = finished.map(({ workflowID }) => workflowID);
    const kept = ids.find((id) => last.has(id));
    if (kept !== undefined)
      throw new SkillError({
        code: 'io/failed',
        message: `the queue still lists ${quoted(kept)} after it was deleted`,
        hint: 'check that the database user may delete rows of the schema dbos, and run fleet prune again',
        data: { path: kept, cause: 'nothing was deleted' },
      });
    await client.deleteWorkflows(ids);
    last = new Set(ids);
    pruned += ids.length;
  }
}

/** The name of a schedule is unique in its project. */
function schedulesOf(client: Dbos.DBOSClient): Schedules {
  return {
    async add({ actor, project }, { name, cron, request }, skillSet) {
      const context: ScheduleContext = { project, actor, name, request, skillSet };
      try {
        await client.createSchedule({
          scheduleName: `${project}/${name}`,
          workflowName: SCHEDULED_WORKFLOW,
          schedule: cron,
          context,
        });
      } catch (error) {
        throw notScheduled(name, cron, error);
      }
    },
    async list(project) {
      const schedules = await client.listSchedules({ scheduleNamePrefix: `${project}/` });
      return schedules.map(({ schedule: cron, context, status }) => {
        const { name, request } = contextOf(context);
        return { name, cron, request, isPaused: status !== 'ACTIVE' };
      });
    },
    async remove(project, name) {
      const known = await client.getSchedule(`${project}/${name}`);
      if (known !== null) await client.deleteSchedule(`${project}/${name}`);
      return known !== null;
    },
  };
}

function contextOf(value: unknown): ScheduleContext {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `add` above, and by nothing else.
  return value as ScheduleContext;
}

function notScheduled(name: string, cron: string, error: unknown): SkillError {
  const cause = error instanceof Error ? error.message : String(error);
  return new SkillError({
    code: 'input/invalid',
    message: `${quoted(name)} cannot be scheduled at ${quoted(cron)}: ${cause}`,
    hint: 'use five fields as in crontab, such as "0 7 * * 1-5", and a name that is not in use',
    data: { expected: 'minute hour day month weekday' },
    cause: error,
  });
}

function queueOf(client: Dbos.DBOSClient): RunQueue {
  return {
    async add(transaction, { run, attempt, project, priority, delaySeconds }) {
      await client.enqueueInTransaction(
        transaction,
        {
          queueName: QUEUE,
          workflowName: WORKFLOW,
          workflowID: nameOf({ run, attempt }),
          appVersion: APPLICATION_VERSION,
          queuePartitionKey: project,
          priority,
          ...(delaySeconds === undefined || delaySeconds === 0 ? {} : { delaySeconds }),
        },
        run,
        attempt,
      );
    },
    async lost(transaction, silentSeconds) {
      const { rows } = await transaction.query<{ alive: readonly string[] | null; since: number }>(
        `select extract(epoch from now() - make_interval(secs => $1))::float * 1000 as since,
           (select array_agg(id) from skillwright.workers where seen_at > now() - make_interval(secs => $1)) as alive`,
        [silentSeconds],
      );
      const [{ alive: heard, since } = { alive: [], since: 0 }] = rows;
      const alive = new Set(heard);
      const taken = await client.listWorkflows({
        queueName: QUEUE,
        status: 'PENDING',
        loadInput: false,
        loadOutput: false,
        limit: MAX_LISTED,
      });
      return taken
        .map((entry) => ({ ...entry, isWorkerSilent: !alive.has(entry.executorId ?? '') }))
        .filter(({ isWorkerSilent, updatedAt = 0 }) => updatedAt < since - (isWorkerSilent ? 0 : NOT_BEGUN_MS))
        .flatMap(({ workflowID, isWorkerSilent }) => {
          const entry = entryOf(workflowID);
          return entry === undefined ? [] : [{ ...entry, isWorkerSilent }];
        });
    },
    forget: (entry) => client.cancelWorkflow(nameOf(entry)),
  };
}

export interface ListeningQueue extends SubmittingQueue {
  /** Takes no more runs; those that were taken go on. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  readonly url: string;
  readonly pool: Pool;
  readonly worker: string;
  readonly slots: number;
  readonly limits: QueueLimits;
  /** Called once for each run that this worker takes; must not throw. */
  readonly work: (entry: QueuedRun) => Promise<void>;
  /** Submits the run of a schedule. Called again for the same time if this worker ends before it has returned. */
  readonly submit: (schedule: ScheduleContext, at: Date) => Promise<void>;
}

/** Opens the queue to work on runs. There can be one in a process. */
export async function listen({
  url,
  pool,
  worker,
  slots,
  limits,
  work,
  submit,
}: ListenOptions): Promise<ListeningQueue> {
  const { DBOS } = await load();
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: url,
    executorID: worker,
    applicationVersion: APPLICATION_VERSION,
    logger: SILENT,
    runMigrations: false,
    systemDatabasePool: pool,
  });
  DBOS.registerWorkflow(async (run: string, attempt: number) => work({ run, attempt }), { name: WORKFLOW });
  DBOS.registerWorkflow(async (at: Date, context: unknown) => submit(contextOf(context), at), {
    name: SCHEDULED_WORKFLOW,
  });
  let queue: SubmittingQueue;
  try {
    await DBOS.launch();
    await DBOS.registerQueue(QUEUE, {
      onConflict: 'always_update',
      workerConcurrency: slots,
      partitionConcurrency: limits.perProject,
      minPollingIntervalMs: limits.pollMs,
      ...(limits.perMinute === undefined
        ? {}
        : { partitionRateLimit: { limitPerPeriod: limits.perMinute, periodSec: 60 } }),
    });
    queue = await openQueue(url, pool);
  } catch (error) {
    // Its loops would try for ever; ending them needs the database, which may be what failed.
    await Promise.race([DBOS.shutdown().catch(() => undefined), sleep(SHUTDOWN_MS, undefined, { ref: false })]);
    throw error;
  }
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= DBOS.shutdown());
  return {
    ...queue,
    stop,
    async close() {
      await stop();
      await queue.close();
    },
  };
}

/** A worker claims a run right after it took it, unless the database failed between the two: DBOS forgets what it took without an answer. */
const NOT_BEGUN_MS = 10_000;

function nameOf({ run, attempt }: QueuedRun): string {
  return `${run}/${String(attempt)}`;
}

function entryOf(name: string): QueuedRun | undefined {
  const [, run = '', attempt = ''] = /^(.+)\/(\d+)$/.exec(name) ?? [];
  return run === '' ? undefined : { run, attempt: Number(attempt) };
}

/** DBOS logs each step of its own; what matters to a user is said by the worker. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}
