/** Removes ended runs that are older than a time, with everything that belongs to them alone; `pruneContents` removes what they named. */
import type { Pool } from 'pg';

import { recordAct } from './audit.ts';
import type { SubmittingQueue } from './dbos-queue.ts';

/** Runs of one transaction: their records are thousands of rows. */
const BATCH = 500;

export interface PruneOptions {
  readonly before: Date;
  /** Only runs of this project (default: all). */
  readonly project?: string | undefined;
  readonly isDryRun?: boolean;
  /** Called after each batch with the number of runs removed so far. */
  readonly onProgress?: (runs: number) => void;
}

export interface Pruned {
  readonly runs: number;
  /** Finished places in the queue: one for each attempt of a run, which DBOS keeps until it is told to delete them. */
  readonly entries: number;
}

/**
 * Open runs and the audit are never removed. The audit gets a row for each project. Workers may go on meanwhile, and an interrupted call can be
 * repeated. With a dry run only runs are counted.
 */
export async function pruneFleet(
  pool: Pool,
  queue: Pick<SubmittingQueue, 'prune'>,
  { before, project, isDryRun = false, onProgress = () => undefined }: PruneOptions,
): Promise<Pruned> {
  const { rows: projects } = await pool.query<{ name: string }>(
    'select name from skillwright.projects where $1::text is null or name = $1 order by name',
    [project ?? null],
  );
  let runs = 0;
  for (const { name } of projects) {
    if (isDryRun) {
      runs += await countOld(pool, name, before);
      continue;
    }
    let removed = 0;
    for (;;) {
      const { rowCount } = await pool.query(
        `delete from skillwright.runs where id in (select id from skillwright.runs where ${OLD} order by submitted_at limit ${String(BATCH)})`,
        [name, before],
      );
      if (rowCount === null || rowCount === 0) break;
      removed += rowCount;
      onProgress(runs + removed);
    }
    if (removed > 0)
      await recordAct(
        pool,
        { actor: 'fleet prune', project: name },
        { act: 'runs-prune', target: name, detail: { runs: removed, before: before.toISOString() } },
      );
    runs += removed;
  }
  if (isDryRun || project !== undefined) return { runs, entries: 0 };
  await pool.query('delete from skillwright.deliveries where done_at < $1', [before]);
  await pool.query('delete from skillwright.sessions where expires_at < now()');
  return { runs, entries: await queue.prune(before) };
}

/** A run ends after its submission, so `submitted_at` finds old runs by the index of the newest ones. */
const OLD = `project = $1 and submitted_at < $2 and state = 'ended' and ended_at < $2`;

async function countOld(pool: Pool, project: string, before: Date): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from skillwright.runs where ${OLD}`,
    [project, before],
  );
  return rows[0]?.count ?? 0;
}
