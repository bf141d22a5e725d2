/**
 * Finds runs whose state and place in the queue disagree, and repairs them. Servers and workers call it all the time; together they make a
 * pass every two seconds, and a pass looks at one page of each list, by an index. Each repair locks the row of its run and looks again, so
 * two passes at once do no harm.
 */
import type { Pool } from 'pg';

import { isAnswered } from './approval-table.ts';
import { SILENT_SECONDS, noteRepair, repairRun, type Repair } from './hand-over.ts';
import { listMissing, listWaiting, removeEntry, resumeSchedules, type QueuedRun, type RunDatabase } from './queue.ts';
import { cancelOverdue } from './run-table.ts';

export const PASS_SECONDS = 2;
/** Rows of a list that one pass looks at. */
const PAGE = 500;

/** Where the next pass goes on; absent at the beginning of a list. */
interface Cursors {
  readonly queued?: string;
  readonly waiting?: string;
  readonly entries?: unknown;
}

/** Returns what it repaired; nothing if another process has just made a pass. `by` names this process. */
export async function reconcile(database: RunDatabase, by: string): Promise<readonly Repair[]> {
  const { pool } = database;
  const { rows } = await pool.query<{ cursors: Cursors }>(
    `update skillwright.reconciler set passed_at = now() where passed_at <= now() - make_interval(secs => $1) returning cursors`,
    [PASS_SECONDS],
  );
  const [pass] = rows;
  if (pass === undefined) return [];
  const { cursors } = pass;
  await cancelOverdue(database);
  const queued = await openRuns(pool, 'queued', cursors.queued);
  const waiting = await openRuns(pool, 'waiting', cursors.waiting);
  const repairs = [
    ...(await endCancelled(database, queued.runs, 'queued', by)),
    ...(await repairQueued(database, queued.runs, by)),
    ...(await endCancelled(database, waiting.runs, 'waiting', by)),
    ...(await repairWaiting(database, waiting.runs, by)),
  ];
  const entries = await listWaiting(pool, { after: cursors.entries, limit: PAGE });
  repairs.push(...(await removeStale(database, entries.entries, by)));
  await resumeSchedules(database, SILENT_SECONDS);
  const next: Cursors = { queued: queued.next, waiting: waiting.next, entries: entries.next };
  await pool.query('update skillwright.reconciler set cursors = $1', [JSON.stringify(next)]);
  return repairs.filter((repair) => repair !== undefined);
}

interface OpenRun extends QueuedRun {
  readonly isCancelled: boolean;
}

async function openRuns(
  pool: Pool,
  state: 'queued' | 'waiting',
  after = '',
): Promise<{ readonly runs: readonly OpenRun[]; readonly next: string | undefined }> {
  const { rows } = await pool.query<OpenRun>(
    `select id as run, attempt, is_cancelled as "isCancelled" from skillwright.runs where state = '${state}' and id > $1
     order by id limit ${String(PAGE)}`,
    [after],
  );
  return { runs: rows, next: rows.length < PAGE ? undefined : rows.at(-1)?.run };
}

type Repairs = Promise<readonly (Repair | undefined)[]>;

/** A queued run has a place that a worker was handed or will be handed. */
async function repairQueued(database: RunDatabase, runs: readonly OpenRun[], by: string): Repairs {
  const repairs = [];
  const open = runs.filter(({ isCancelled }) => !isCancelled);
  for (const entry of await listMissing(database.pool, open))
    repairs.push(
      await repairRun(
        database,
        { ...entry, state: 'queued', by, found: 'entry-missing', because: 'it had no place in the queue' },
        async (client) => (await listMissing(client, [entry])).length > 0,
      ),
    );
  return repairs;
}

/** A waiting run has a question without an answer. */
async function repairWaiting(database: RunDatabase, runs: readonly OpenRun[], by: string): Repairs {
  const { rows } = await database.pool.query<QueuedRun>(
    `select e.run, e.attempt from unnest($1::text[], $2::int[]) as e (run, attempt)
     where not exists (select 1 from skillwright.approvals a where a.run = e.run and a.verdict is null)`,
    columns(runs),
  );
  const because = 'it waited although its questions had answers';
  const repairs = [];
  for (const entry of rows)
    repairs.push(
      await repairRun(database, { ...entry, state: 'waiting', by, found: 'answered-waiting', because }, (client) =>
        isAnswered(client, entry.run),
      ),
    );
  return repairs;
}

/** A run that was cancelled while it changed hands. The worker that has a running one stops it. */
async function endCancelled(
  database: RunDatabase,
  runs: readonly OpenRun[],
  state: 'queued' | 'waiting',
  by: string,
): Repairs {
  const repairs = [];
  for (const { run, attempt } of runs.filter(({ isCancelled }) => isCancelled)) {
    const because = 'it was cancelled and had not ended';
    repairs.push(await repairRun(database, { run, attempt, state, by, found: 'cancelled-open', because }));
    await removeEntry(database.queue, { run, attempt });
  }
  return repairs;
}

/** A place belongs to the current attempt of a run that is queued. */
async function removeStale({ pool, queue }: RunDatabase, entries: readonly QueuedRun[], by: string): Repairs {
  const { rows } = await pool.query<QueuedRun>(
    `select e.run, e.attempt from unnest($1::text[], $2::int[]) as e (run, attempt) left join skillwright.runs r on r.id = e.run
     where r.id is null or r.state in ('ended', 'waiting') or r.attempt > e.attempt`,
    columns(entries),
  );
  const repairs: Repair[] = [];
  for (const entry of rows) {
    const because = `its attempt ${String(entry.attempt)} was over and still had a place in the queue`;
    const repair: Repair = { run: entry.run, found: 'entry-stale', because };
    await removeEntry(queue, entry);
    await noteRepair(pool, by, repair);
    repairs.push(repair);
  }
  return repairs;
}

function columns(entries: readonly QueuedRun[]): (readonly (string | number)[])[] {
  return [entries.map(({ run }) => run), entries.map(({ attempt }) => attempt)];
}
