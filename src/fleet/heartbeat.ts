/**
 * The heartbeat of a worker: one statement that says that it is alive, and answers with what there is to do. While no run is active it is all
 * that a worker asks the database, every two and a half seconds.
 */
import type { Heart } from './database.ts';
import { SILENT_SECONDS } from './hand-over.ts';
import { NOT_BEGUN_MS, QUEUE, type QueuedRun } from './queue.ts';

/** A run that this worker has according to the database. */
export interface HeldRun extends QueuedRun {
  readonly isCancelled: boolean;
}

export interface Pulse {
  readonly runs: readonly HeldRun[];
  /** A place in the queue that can be taken, unless a limit of its project says no. */
  readonly hasPlace: boolean;
  /** A run or a place of another worker that is silent. */
  readonly hasLost: boolean;
  /** Places that this worker took ten seconds ago or earlier: as many as it has runs, unless it missed that it took one. */
  readonly places: number;
  /** A run that some worker has or could take: if that worker is lost, another one must notice soon. */
  readonly hasActive: boolean;
  /** A run that waits for a person. */
  readonly hasWaiting: boolean;
}

const MILLISECONDS = 'extract(epoch from now()) * 1000';
const BEAT = `with seen as (update skillwright.workers set seen_at = now() where id = $1), counted as (
    insert into skillwright.counters (worker, samples) select $1, $2::jsonb where $2::jsonb is not null
    on conflict (worker) do update set at = now(), samples = excluded.samples
  ), places as (select
    exists (select 1 from dbos.workflow_status where queue_name = '${QUEUE}' and status = 'ENQUEUED') as queued,
    exists (select 1 from dbos.workflow_status where status = 'DELAYED' and delay_until_epoch_ms <= ${MILLISECONDS}) as due,
    exists (select 1 from dbos.workflow_status q left join skillwright.workers w on w.id = q.executor_id
      and w.seen_at > now() - interval '${String(SILENT_SECONDS)} seconds' where q.status = 'PENDING' and w.id is null
      and q.updated_at < ${MILLISECONDS} - ${String(SILENT_SECONDS * 1_000)} and q.executor_id <> $1) as foreign_place
  ) select queued or due as "hasPlace",
    foreign_place or exists (select 1 from skillwright.runs r left join skillwright.workers w on w.id = r.worker where r.state = 'running'
      and r.worker <> $1 and (w.id is null or w.seen_at < now() - interval '${String(SILENT_SECONDS)} seconds')) as "hasLost",
    queued or due or foreign_place or exists (select 1 from skillwright.runs where state in ('queued', 'running')) as "hasActive",
    exists (select 1 from skillwright.runs where state = 'waiting') as "hasWaiting",
    (select count(*)::int from dbos.workflow_status where queue_name = '${QUEUE}' and status = 'PENDING' and executor_id = $1
      and updated_at < ${MILLISECONDS} - ${String(NOT_BEGUN_MS)}) as places,
    (select coalesce(jsonb_agg(jsonb_build_object('run', id, 'attempt', attempt, 'isCancelled', is_cancelled)), '[]')
     from skillwright.runs where worker = $1 and state = 'running') as runs from places`;

/** `samples`: absent if they are as they were. */
export async function beat(send: Heart, worker: string, samples: string | undefined): Promise<Pulse> {
  const { rows } = await send<Pulse>({ name: 'beat', text: BEAT, values: [worker, samples ?? null] });
  const [pulse] = rows;
  if (pulse === undefined) throw new TypeError('the heartbeat has no answer');
  return pulse;
}
