/**
 * The queue on DBOS: one workflow for each attempt of a run, in one queue that is partitioned by project, so that a project that floods
 * it does not hold up another. DBOS keeps order, priorities, delays, limits and schedules. What happened inside a run is in its journal,
 * which is the only memory of its steps.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type * as Dbos from '@dbos-inc/dbos-sdk';
import type { Pool, PoolClient } from 'pg';

import { quoted, SkillError } from '#core';
import { loadOptional } from '#platform';
import { isPassing, untilReached } from './database.ts';
import type { QueuePage, QueuedRun, RunQueue } from './run-queue.ts';
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
const MAX_RESUMED = 100;
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
    ...createQueue(client),
    schedules: createSchedules(client),
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
function createSchedules(client: Dbos.DBOSClient): Schedules {
  return {
    async add({ actor, project }, { name, cron, request }, skillSet) {
      // DBOS takes a sixth field, of seconds.
      const fields = cron.trim().split(/\s+/).length;
      if (fields !== 5) throw notScheduled(name, cron, new Error(`it has ${String(fields)} fields`));
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
        const { name, request } = toScheduleContext(context);
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

function toScheduleContext(value: unknown): ScheduleContext {
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

function createQueue(client: Dbos.DBOSClient): RunQueue {
  return {
    async add(transaction, { run, attempt, project, priority, delaySeconds, submittedAt }) {
      await client.enqueueInTransaction(
        transaction,
        {
          queueName: QUEUE,
          workflowName: WORKFLOW,
          workflowID: toWorkflowId({ run, attempt }),
          appVersion: APPLICATION_VERSION,
          queuePartitionKey: project,
          priority,
          ...(delaySeconds === undefined || delaySeconds === 0 ? {} : { delaySeconds }),
        },
        run,
        attempt,
      );
      // DBOS orders by priority and then by this column, and has no option for it.
      if (submittedAt !== undefined)
        await transaction.query('update dbos.workflow_status set created_at = $2 where workflow_uuid = $1', [
          toWorkflowId({ run, attempt }),
          submittedAt.getTime(),
        ]);
    },
    async lost(transaction, silentSeconds) {
      // In the transaction of the caller: `client.listWorkflows` takes a second connection, and callers could wait for each other.
      const { rows } = await transaction.query<{ name: string; isWorkerSilent: boolean }>(
        `select q.workflow_uuid as name, w.id is null as "isWorkerSilent" from dbos.workflow_status q
         left join skillwright.workers w on w.id = q.executor_id and w.seen_at > now() - make_interval(secs => $2)
         where q.queue_name = $1 and q.status = 'PENDING'
           and q.updated_at < extract(epoch from now()) * 1000 - $2 * 1000 - case when w.id is null then 0 else $3 end
         limit ${String(MAX_LISTED)}`,
        [QUEUE, silentSeconds, NOT_BEGUN_MS],
      );
      return rows.flatMap(({ name, isWorkerSilent }) => {
        const entry = parseWorkflowId(name);
        return entry === undefined ? [] : [{ ...entry, isWorkerSilent }];
      });
    },
    async missing(transaction, entries) {
      if (entries.length === 0) return [];
      const { rows } = await transaction.query<QueuedRun>(
        `select e.run, e.attempt from unnest($1::text[], $2::int[]) as e (run, attempt) where not exists (
           select 1 from dbos.workflow_status where workflow_uuid = e.run || '/' || e.attempt
             and status in ('ENQUEUED', 'DELAYED', 'PENDING') and queue_name = $3)`,
        [entries.map(({ run }) => run), entries.map(({ attempt }) => attempt), QUEUE],
      );
      return rows;
    },
    waiting: pageOfWaiting,
    async resumeSchedules(source, silentSeconds) {
      const taken = await client.listWorkflows({
        workflowName: SCHEDULED_WORKFLOW,
        status: 'PENDING',
        loadInput: false,
        loadOutput: false,
        limit: MAX_RESUMED,
      });
      if (taken.length === 0) return;
      const { alive, since } = await heardWorkers(source, silentSeconds);
      const lost = taken.filter(({ executorId = '', updatedAt = 0 }) => !alive.has(executorId) && updatedAt < since);
      await client.resumeWorkflows(lost.map(({ workflowID }) => workflowID));
    },
    forget: (entry) => client.cancelWorkflow(toWorkflowId(entry)),
  };
}

/** Workers that were heard since a time, which is in milliseconds of the database's clock. */
async function heardWorkers(
  source: Pool | PoolClient,
  silentSeconds: number,
): Promise<{ readonly alive: ReadonlySet<string>; readonly since: number }> {
  const { rows } = await source.query<{ alive: readonly string[] | null; since: number }>(
    `select extract(epoch from now() - make_interval(secs => $1))::float * 1000 as since,
       (select array_agg(id) from skillwright.workers where seen_at > now() - make_interval(secs => $1)) as alive`,
    [silentSeconds],
  );
  const [{ alive, since } = { alive: [], since: 0 }] = rows;
  return { alive: new Set(alive), since };
}

/** The status and the last entry of a page, by the columns of the index that has the entries of this status in order. */
type WaitingCursor = readonly [status: 'ENQUEUED' | 'DELAYED', ...values: (string | number)[]];

const FIRST: WaitingCursor = ['ENQUEUED', -1, 0, ''];
const ORDERS = {
  ENQUEUED: ['priority', 'created_at', 'workflow_uuid'],
  DELAYED: ['delay_until_epoch_ms', 'workflow_uuid'],
} as const;

/** `client.listWorkflows` orders by time of creation, which would read the finished entries too. */
async function pageOfWaiting(
  transaction: Pool | PoolClient,
  { after, limit }: { readonly after: unknown; readonly limit: number },
): Promise<QueuePage> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- returned as `next` below, and by nothing else.
  const [status, ...last] = (after as WaitingCursor | undefined) ?? FIRST;
  const columns = ORDERS[status];
  const { rows } = await transaction.query<Record<string, string | number>>(
    `select ${columns.join(', ')} from dbos.workflow_status where queue_name = $1 and status = '${status}'
       and (${columns.join(', ')}) > (${columns.map((_, index) => `$${String(index + 2)}`).join(', ')})
     order by ${columns.join(', ')} limit ${String(limit)}`,
    [QUEUE, ...last],
  );
  const end = rows.at(-1);
  const next: WaitingCursor | undefined =
    rows.length === limit && end !== undefined
      ? [status, ...columns.map((column) => end[column] ?? '')]
      : status === 'ENQUEUED'
        ? ['DELAYED', 0, '']
        : undefined;
  return { entries: rows.flatMap((row) => parseWorkflowId(String(row['workflow_uuid'])) ?? []), next };
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
  /** Called once for each run that this worker takes. The place of the run is finished when it returns or throws. */
  readonly work: (entry: QueuedRun, queue: RunQueue) => Promise<void>;
  /** Submits the run of a schedule. Called again for the same time if this worker ends before it has returned. */
  readonly submit: (schedule: ScheduleContext, at: Date, queue: RunQueue) => Promise<void>;
}

/** Opens the queue to work on runs, as soon as the database answers. There can be one at a time in a process. */
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
  // Before DBOS begins: it hands out runs while it still starts.
  const queue = await openQueue(url, pool);
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: url,
    executorID: worker,
    applicationVersion: APPLICATION_VERSION,
    logger: SILENT,
    runMigrations: false,
    systemDatabasePool: pool,
  });
  DBOS.registerWorkflow(async (run: string, attempt: number) => work({ run, attempt }, queue), {
    name: WORKFLOW,
  });
  DBOS.registerWorkflow(async (at: Date, context: unknown) => submit(toScheduleContext(context), at, queue), {
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
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= DBOS.shutdown());
  return {
    ...queue,
    stop,
    async close() {
      await stop();
      // Only now, because runs that were taken still use them; the next worker of this process registers its own.
      await DBOS.shutdown({ deregister: true });
      await queue.close();
    },
  };
}

/** A worker claims a run right after it took it, unless the database failed between the two: DBOS forgets what it took without an answer. */
const NOT_BEGUN_MS = 10_000;

function toWorkflowId({ run, attempt }: QueuedRun): string {
  return `${run}/${String(attempt)}`;
}

function parseWorkflowId(name: string): QueuedRun | undefined {
  const [, run = '', attempt = ''] = /^(.+)\/(\d+)$/.exec(name) ?? [];
  return run === '' ? undefined : { run, attempt: Number(attempt) };
}

/** DBOS logs each step of its own; what matters to a user is said by the worker. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}
