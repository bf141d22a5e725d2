/**
 * The ways of a run back into the queue. Each changes the run and adds its next place in one transaction, and only if the run still has the
 * attempt and the state that the caller saw, so any number of processes may try the same at once. A run that was cancelled meanwhile ends.
 */
import type { Pool, PoolClient } from 'pg';

import { inTransaction } from './database.ts';
import { CHANNEL } from './queue-gate.ts';
import {
  addEntry,
  listLost,
  removeEntry,
  type LostRun,
  type Queue,
  type QueuedRun,
  type RunDatabase,
} from './queue.ts';
import { announce, cancelReason, type Claim, type FleetRun } from './run-table.ts';

/** Without a sign of life for this long, the runs of a worker are taken over. */
export const SILENT_SECONDS = 3;
/** A run whose workers crashed this often is set aside. */
const MAX_CRASHES = 3;
/** Runs of one transaction. */
const BATCH = 100;

/** What disagreed. The name is the label of `skillwright_repairs_total`. */
type Disagreement =
  | 'worker-lost'
  | 'entry-unclaimed'
  | 'entry-missing'
  | 'entry-stale'
  | 'answered-waiting'
  | 'cancelled-open';

export interface Repair {
  readonly run: string;
  readonly found: Disagreement;
  readonly because: string;
}

interface Held extends QueuedRun {
  readonly state: FleetRun['state'];
  /** Only if this worker has it. */
  readonly worker?: string;
}

interface Way {
  /** Why the run goes on in another attempt; the record of that attempt begins with it. */
  readonly because: string | null;
  readonly delaySeconds?: number;
  readonly isCrash?: boolean;
  /** Ends the run instead. */
  readonly setAside?: string;
}

/** Returns the new state; undefined if the run has moved on, and then nothing is changed. */
async function queueNext(
  client: PoolClient,
  queue: Queue,
  { run, attempt, state, worker }: Held,
  { because, delaySeconds = 0, isCrash = false, setAside }: Way,
): Promise<'queued' | 'ended' | undefined> {
  const { rows } = await client.query<{
    state: 'queued' | 'ended';
    attempt: number;
    project: string;
    priority: number;
    submittedAt: Date;
    told: string;
  }>({
    name: 'queue-next',
    text: NEXT,
    values: [run, attempt, state, worker ?? null, because, isCrash, setAside ?? null],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { state: next, told: _told, ...entry } = row;
  if (next === 'queued') await addEntry(queue, client, { run, ...entry, delaySeconds });
  else await announce(client, run);
  return next;
}

const OVER = '(is_cancelled or $7::text is not null)';
/** One update, so that each expression reads the row as it is when the lock is taken. */
const NEXT = `update skillwright.runs set worker = null, crashes = crashes + $6::boolean::int, queued_because = $5,
    state = case when ${OVER} then 'ended' else 'queued' end, attempt = attempt + (not ${OVER})::int,
    outcome = case when is_cancelled then 'cancelled' when ${OVER} then 'failed' end,
    answer = case when ${OVER} then '' end, ended_at = case when ${OVER} then now() end,
    reason = case when not ${OVER} then null when not is_cancelled then $7 else ${cancelReason(`case
      when started_at is null then 'cancelled before it ran' when $6 then 'cancelled; its worker was lost' else 'cancelled' end`)} end
  where id = $1 and attempt = $2 and state = $3 and ($4::text is null or worker = $4)
  returning state, attempt, project, priority, submitted_at as "submittedAt", pg_notify('${CHANNEL}', '')::text as told`;

async function endAttemptRow(client: PoolClient, run: string, attempt: number, ending: string): Promise<void> {
  await client.query(
    'update skillwright.attempts set ended_at = now(), ending = $3 where run = $1 and attempt = $2 and ended_at is null',
    [run, attempt, ending],
  );
}

/** Counts a repair and writes it into the audit. `by` is the process that made it. */
export async function noteRepair(
  client: Pool | PoolClient,
  by: string,
  { run, found, because }: Repair,
): Promise<void> {
  await client.query(
    `with repaired as (select project from skillwright.runs where id = $2), noted as (
       insert into skillwright.audit (actor, project, act, target, detail)
       select $1, project, 'run-repair', $2, jsonb_build_object('found', $3::text, 'because', $4::text) from repaired
     ) select skillwright.add_total(project, 'repair', $3, 0, 0) from repaired`,
    [by, run, found, because],
  );
}

/**
 * Takes the runs of workers that have not been seen for a while, and gives each to the queue again, as its next attempt. A run that has
 * crashed too many workers is set aside. The same for attempts that were handed to a worker which did not claim them.
 */
export async function takeOverRuns(
  { pool, queue }: RunDatabase,
  by: string,
  silentSeconds = SILENT_SECONDS,
): Promise<readonly Repair[]> {
  const { repairs, unused } = await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ run: string; attempt: number; crashes: number; worker: string }>(
      `select r.id as run, r.attempt, r.crashes, r.worker from skillwright.runs r
       left join skillwright.workers w on w.id = r.worker
       where r.state = 'running' and (w.id is null or w.seen_at < now() - make_interval(secs => $1))
         and pg_postmaster_start_time() < now() - make_interval(secs => $1)
       order by r.id for no key update of r skip locked limit ${String(BATCH)}`,
      [silentSeconds],
    );
    const repairs: Repair[] = [];
    for (const row of rows) repairs.push(await handOver(client, queue, row, by));
    const entries = await listLost(client, silentSeconds);
    const unclaimed = await findUnclaimed(client, entries);
    for (const entry of unclaimed) {
      const because = 'the worker that took it from the queue did not begin it';
      if ((await queueNext(client, queue, { ...entry, state: 'queued' }, { because })) === undefined) continue;
      const repair: Repair = { run: entry.run, found: 'entry-unclaimed', because };
      await noteRepair(client, by, repair);
      repairs.push(repair);
    }
    return { repairs, unused: [...entries.filter(({ isWorkerSilent }) => isWorkerSilent), ...unclaimed] };
  });
  // They count as running runs of their project until they are removed.
  for (const entry of unused) await removeEntry(queue, entry);
  return repairs;
}

/** One question for all of them: a long run has been in the queue's hands for long, too. */
async function findUnclaimed(client: PoolClient, entries: readonly LostRun[]): Promise<readonly LostRun[]> {
  if (entries.length === 0) return [];
  const { rows } = await client.query<QueuedRun>(
    `select e.run, e.attempt from unnest($1::text[], $2::int[]) as e (run, attempt)
     join skillwright.runs r on r.id = e.run and r.attempt = e.attempt and r.state = 'queued' order by e.run limit ${String(BATCH)}`,
    [entries.map(({ run }) => run), entries.map(({ attempt }) => attempt)],
  );
  const found = new Set(rows.map(({ run, attempt }) => `${run}/${String(attempt)}`));
  return entries.filter(({ run, attempt }) => found.has(`${run}/${String(attempt)}`));
}

async function handOver(
  client: PoolClient,
  queue: Queue,
  { run, attempt, worker, crashes: before }: QueuedRun & { readonly worker: string; readonly crashes: number },
  by: string,
): Promise<Repair> {
  const crashes = before + 1;
  await endAttemptRow(client, run, attempt, 'lost');
  const because = `its worker ${worker} was not heard any more`;
  const next = await queueNext(
    client,
    queue,
    { run, attempt, state: 'running' },
    {
      because,
      isCrash: true,
      // Each crash doubles the wait, so that a poisonous run does not take one worker after the other at once.
      delaySeconds: crashes === 1 ? 0 : 2 ** crashes,
      setAside:
        crashes < MAX_CRASHES ? undefined : `set aside: ${String(crashes)} workers ended while they worked on it`,
    },
  );
  const repair: Repair = {
    run,
    found: 'worker-lost',
    because: next === 'ended' ? `${because}; the run has ended` : because,
  };
  await noteRepair(client, by, repair);
  return repair;
}

/**
 * Leaves a run to other workers that this one cannot work on, because a later version recorded it. They get a second to take it. One that
 * was cancelled while it changed hands ends here.
 */
export async function leaveRun({ pool, queue }: RunDatabase, { run, attempt }: QueuedRun): Promise<void> {
  const way = { because: 'the worker that took it has not its model or is too old for it', delaySeconds: 1 };
  await inTransaction(pool, (client) => queueNext(client, queue, { run, attempt, state: 'queued' }, way));
}

/** Puts a run back that a worker gave up, as when it drains. It is not a crash. */
export async function returnRun(
  { pool, queue }: RunDatabase,
  { run, attempt, worker }: Claim,
  because: string,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const next = await queueNext(client, queue, { run, attempt, worker, state: 'running' }, { because });
    if (next !== undefined) await endAttemptRow(client, run, attempt, 'returned');
    return next !== undefined;
  });
}

/** Continues a run that waited for an approval. The caller has locked its row. */
export async function continueRun(client: PoolClient, queue: Queue, run: string): Promise<boolean> {
  const { rows } = await client.query<{ attempt: number }>(
    `select attempt from skillwright.runs where id = $1 and state = 'waiting'`,
    [run],
  );
  const [row] = rows;
  if (row === undefined) return false;
  return (await queueNext(client, queue, { run, ...row, state: 'waiting' }, { because: null })) !== undefined;
}

/** Repairs one run under the lock of its row. `isStill` looks again, now that nothing else changes the run. */
export async function repairRun(
  { pool, queue }: RunDatabase,
  { run, attempt, state, by, ...repair }: Held & Omit<Repair, 'run'> & { readonly by: string },
  isStill: (client: PoolClient) => Promise<boolean> = () => Promise.resolve(true),
): Promise<Repair | undefined> {
  return inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      'select 1 from skillwright.runs where id = $1 and attempt = $2 and state = $3 for no key update',
      [run, attempt, state],
    );
    if (rowCount === 0 || !(await isStill(client))) return undefined;
    await queueNext(client, queue, { run, attempt, state }, { because: repair.because });
    await noteRepair(client, by, { run, ...repair });
    return { run, ...repair };
  });
}
