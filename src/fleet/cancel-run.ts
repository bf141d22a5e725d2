import type { Pool } from 'pg';

import { inTransaction } from './database.ts';
import type { RunQueue } from './run-queue.ts';
import { COLUMNS, announce, readRow, type FleetRun } from './run-table.ts';

/** Cancels a run. A running one stops at its worker's next heartbeat, and at once if its worker is silent. Returns undefined if there is no such run. */
export async function cancelRun(
  pool: Pool,
  queue: RunQueue,
  project: string,
  id: string,
): Promise<FleetRun | undefined> {
  const run = await inTransaction(pool, async (client) => {
    // The lock comes first: what is decided below would otherwise be decided by the row before a change that is being committed.
    await client.query('select 1 from skillwright.runs where id = $1 and project = $2 for no key update', [
      id,
      project,
    ]);
    const { rows } = await client.query<FleetRun>(
      `update skillwright.runs set is_cancelled = true, state = case when is_over then 'ended' else state end,
         outcome = case when is_over then 'cancelled' else outcome end, ended_at = case when is_over then now() else ended_at end,
         reason = case when not is_over then reason when state = 'running' then 'cancelled; its worker was lost'
           when started_at is null then 'cancelled before it ran' else 'cancelled' end
       from (select r.id as target, state in ('queued', 'waiting') or w.id is null as is_over from skillwright.runs r
         left join skillwright.workers w on w.id = r.worker and w.seen_at > now() - interval '10 seconds') found
       where id = target and id = $1 and project = $2 and state <> 'ended' returning ${COLUMNS}`,
      [id, project],
    );
    const [cancelled] = rows;
    if (cancelled?.state === 'ended') await announce(client, id);
    return cancelled;
  });
  if (run === undefined) return readRow(pool, project, id);
  // Not in the transaction: it takes a second connection, and many transactions that wait for one would wait for each other.
  if (run.state === 'ended') await queue.forget({ run: id, attempt: run.attempt });
  return run;
}
