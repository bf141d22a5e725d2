/**
 * The queue on DBOS: one workflow for each attempt of a run, in one queue that is partitioned by project, so that a project that floods
 * it does not hold up another. DBOS keeps order, priorities, delays, limits and schedules. What happened inside a run is in its journal,
 * which is the only memory of its steps. `take-runs.ts` takes what is added here.
 */
import type * as Dbos from '@dbos-inc/dbos-sdk';
import type { Pool, PoolClient } from 'pg';

import { invalidInput, quoted } from '#core';
import { loadOptional } from '#platform';
import { ioFailed, reasonText } from './database.ts';

export type Queue = Dbos.DBOSClient;

/** Where runs are: their rows, and their places in the queue. */
export interface RunDatabase {
  readonly pool: Pool;
  readonly queue: Queue;
}

export interface QueuedRun {
  readonly run: string;
  readonly attempt: number;
}

/** Who submits runs, answers questions and manages a project. The audit names the actor. */
export interface Submitter {
  readonly actor: string;
  readonly project: string;
}

/** The format of runs in the tables. A worker refuses runs that a later format recorded. */
export const RUN_FORMAT = 1;
export const QUEUE = 'runs';
export const WORKFLOW = 'run';
export const SCHEDULED_WORKFLOW = 'scheduled-run';
export const APPLICATION = 'skillwright';
/** Workers of every release take the same runs; whether a worker understands a run is decided by the format of its row. */
export const APPLICATION_VERSION = `format-${String(RUN_FORMAT)}`;
/** Runs that workers have taken at one time, which are fewer than all their slots. */
const MAX_LISTED = 10_000;
const PRUNED_AT_ONCE = 1_000;
const MAX_RESUMED = 100;
/** A worker claims a run right after it took it, unless the database failed between the two: DBOS forgets what it took without an answer. */
export const NOT_BEGUN_MS = 10_000;

export const loadDbos = (): Promise<typeof Dbos> =>
  loadOptional('@dbos-inc/dbos-sdk', () => import('@dbos-inc/dbos-sdk'));

export async function openQueue(url: string, pool: Pool): Promise<Queue> {
  const { DBOSClient } = await loadDbos();
  return DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    applicationName: APPLICATION,
    logger: SILENT,
  });
}

interface QueueEntry extends QueuedRun {
  readonly project: string;
  readonly priority: number;
  readonly delaySeconds?: number;
  /** The run goes before those that were submitted later (default: now). */
  readonly submittedAt?: Date;
}

/** Adds a place in the transaction that changes the run. */
export async function addEntry(
  queue: Queue,
  transaction: PoolClient,
  { run, attempt, project, priority, delaySeconds, submittedAt }: QueueEntry,
): Promise<void> {
  const workflowID = toWorkflowId({ run, attempt });
  await queue.enqueueInTransaction(
    transaction,
    {
      queueName: QUEUE,
      workflowName: WORKFLOW,
      workflowID,
      appVersion: APPLICATION_VERSION,
      queuePartitionKey: project,
      priority,
      delaySeconds: delaySeconds === 0 ? undefined : delaySeconds,
    },
    run,
    attempt,
  );
  // DBOS orders by priority and then by this column, and has no option for it.
  if (submittedAt !== undefined)
    await transaction.query('update dbos.workflow_status set created_at = $2 where workflow_uuid = $1', [
      workflowID,
      submittedAt.getTime(),
    ]);
}

/** Removes an attempt that no worker has to work on any more. */
export function removeEntry(queue: Queue, entry: QueuedRun): Promise<void> {
  return queue.cancelWorkflow(toWorkflowId(entry));
}

export interface LostRun extends QueuedRun {
  readonly isWorkerSilent: boolean;
}

/** Attempts that were handed to a worker which is silent now, or long ago to another one. Those that were claimed are among them. */
export async function listLost(transaction: PoolClient, silentSeconds: number): Promise<readonly LostRun[]> {
  // In the transaction of the caller: `queue.listWorkflows` takes a second connection, and callers could wait for each other.
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
}

/** Those that no worker was handed or will be handed: their place is finished, cancelled or was never there. */
export async function listMissing(
  client: Pool | PoolClient,
  entries: readonly QueuedRun[],
): Promise<readonly QueuedRun[]> {
  if (entries.length === 0) return [];
  const { rows } = await client.query<QueuedRun>(
    `select e.run, e.attempt from unnest($1::text[], $2::int[]) as e (run, attempt) where not exists (
       select 1 from dbos.workflow_status where workflow_uuid = e.run || '/' || e.attempt
         and status in ('ENQUEUED', 'DELAYED', 'PENDING') and queue_name = $3)`,
    [entries.map(({ run }) => run), entries.map(({ attempt }) => attempt), QUEUE],
  );
  return rows;
}

/** The status and the last entry of a page, by the columns of the index that has the entries of this status in order. */
type WaitingCursor = readonly [status: 'ENQUEUED' | 'DELAYED', ...values: (string | number)[]];

const FIRST: WaitingCursor = ['ENQUEUED', -1, 0, ''];
const ORDERS = {
  ENQUEUED: ['priority', 'created_at', 'workflow_uuid'],
  DELAYED: ['delay_until_epoch_ms', 'workflow_uuid'],
} as const;

/**
 * Places that no worker was handed yet, in the order of an index; `next` is undefined after the last one. `queue.listWorkflows` orders by
 * time of creation, which would read the finished entries too.
 */
export async function listWaiting(
  transaction: Pool | PoolClient,
  { after, limit }: { readonly after: unknown; readonly limit: number },
): Promise<{ readonly entries: readonly QueuedRun[]; readonly next: unknown }> {
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

/** Gives the times of schedules to other workers that a worker took which is silent now. */
export async function resumeSchedules({ pool, queue }: RunDatabase, silentSeconds: number): Promise<void> {
  const pending = await queue.listWorkflows({
    workflowName: SCHEDULED_WORKFLOW,
    status: 'PENDING',
    loadInput: false,
    loadOutput: false,
    limit: MAX_RESUMED,
  });
  if (pending.length === 0) return;
  // In milliseconds of the database's clock.
  const { rows } = await pool.query<{ alive: readonly string[] | null; since: number }>(
    `select extract(epoch from now() - make_interval(secs => $1))::float * 1000 as since,
       (select array_agg(id) from skillwright.workers where seen_at > now() - make_interval(secs => $1)) as alive`,
    [silentSeconds],
  );
  const [{ alive, since } = { alive: [], since: 0 }] = rows;
  const lost = pending.filter(
    ({ executorId = '', updatedAt = 0 }) => alive?.includes(executorId) !== true && updatedAt < since,
  );
  await queue.resumeWorkflows(lost.map(({ workflowID }) => workflowID));
}

/** Deletes finished entries; returns how many. DBOS keeps them for ever otherwise. Throws if entries that it deleted are listed again. */
export async function pruneEntries(
  queue: Pick<Queue, 'listWorkflows' | 'deleteWorkflows'>,
  before: Date,
): Promise<number> {
  let pruned = 0;
  for (let last = new Set<string>(); ;) {
    const finished = await queue.listWorkflows({
      completedBefore: before.toISOString(),
      loadInput: false,
      loadOutput: false,
      limit: PRUNED_AT_ONCE,
    });
    if (finished.length === 0) return pruned;
    const ids = finished.map(({ workflowID }) => workflowID);
    const kept = ids.find((id) => last.has(id));
    if (kept !== undefined)
      throw ioFailed(
        `the queue still lists ${quoted(kept)} after it was deleted`,
        'check that the database user may delete rows of the schema dbos, and run fleet prune again',
        { path: kept, cause: 'nothing was deleted' },
      );
    await queue.deleteWorkflows(ids);
    last = new Set(ids);
    pruned += ids.length;
  }
}

/** Runs at regular times. DBOS keeps the time; each time submits a run once, however many workers there are. */
interface Schedule {
  /** Unique in its project. */
  readonly name: string;
  readonly cron: string;
  readonly request: string;
}

/** What a schedule hands to the workflow that submits its run. */
export interface ScheduleContext extends Submitter, Omit<Schedule, 'cron'> {
  readonly skillSet: string;
}

export async function addSchedule(
  queue: Queue,
  { actor, project }: Submitter,
  { name, cron, request }: Schedule,
  skillSet: string,
): Promise<void> {
  // DBOS takes a sixth field, of seconds.
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5) throw notScheduled(name, cron, new Error(`it has ${String(fields)} fields`));
  const context: ScheduleContext = { project, actor, name, request, skillSet };
  try {
    await queue.createSchedule({
      scheduleName: `${project}/${name}`,
      workflowName: SCHEDULED_WORKFLOW,
      schedule: cron,
      context,
    });
  } catch (error) {
    throw notScheduled(name, cron, error);
  }
}

export async function listSchedules(
  queue: Queue,
  project: string,
): Promise<readonly (Schedule & { readonly isPaused: boolean })[]> {
  const schedules = await queue.listSchedules({ scheduleNamePrefix: `${project}/` });
  return schedules.map(({ schedule: cron, context, status }) => {
    const { name, request } = toScheduleContext(context);
    return { name, cron, request, isPaused: status !== 'ACTIVE' };
  });
}

export async function removeSchedule(queue: Queue, project: string, name: string): Promise<boolean> {
  const known = await queue.getSchedule(`${project}/${name}`);
  if (known !== null) await queue.deleteSchedule(`${project}/${name}`);
  return known !== null;
}

export function toScheduleContext(value: unknown): ScheduleContext {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `addSchedule`, and by nothing else.
  return value as ScheduleContext;
}

function notScheduled(name: string, cron: string, error: unknown): Error {
  return invalidInput(
    `${quoted(name)} cannot be scheduled at ${quoted(cron)}: ${reasonText(error)}`,
    'minute hour day month weekday',
    'use five fields as in crontab, such as "0 7 * * 1-5", and a name that is not in use',
  );
}

function toWorkflowId({ run, attempt }: QueuedRun): string {
  return `${run}/${String(attempt)}`;
}

function parseWorkflowId(name: string): QueuedRun | undefined {
  const [, run = '', attempt = ''] = /^(.+)\/(\d+)$/.exec(name) ?? [];
  return run === '' ? undefined : { run, attempt: Number(attempt) };
}

/** DBOS logs each step of its own; what matters to a user is said by the worker. */
export const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}
