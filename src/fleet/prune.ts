/**
 * Removes ended runs and uploads that are older than a time, with everything that belongs to them alone, and contents that nothing names any
 * more. Contents are shared by digest, so a run that begins now may name bytes that were saved long ago. Two things keep them: each save renews `saved_at` before the digest is named, and contents that were saved within the last day
 * stay; and a row is removed together with its bytes under a lock, so that a save at that moment waits and sends the bytes again.
 *
 * Objects in S3 are found by their rows, never by listing the bucket: a listing does not say when an object was named last.
 */
import type { Pool, PoolClient } from 'pg';

import type { ContentStore } from './content-store.ts';
import { inTransaction, openDatabase } from './database.ts';
import { recordAct } from './keys.ts';
import type { Fleet } from './open-fleet.ts';
import { pruneEntries, type RunDatabase } from './queue.ts';

export interface PrunedContents {
  readonly contents: number;
  readonly bytes: number;
  /** Contents in a bucket that this call has no access to. */
  readonly unreachable: number;
}

export interface PruneContentsOptions {
  readonly isDryRun: boolean;
  /** Runs that would be removed before; what they name does not count as named. */
  readonly gone?: { readonly before: Date; readonly project: string | undefined };
}

/** Longer than anything needs from saving bytes to naming them, and than processes remember what they saved. */
const GRACE = `interval '1 day'`;
/** Objects that one request removes while their rows are locked. */
const BATCH = 500;

interface Candidate {
  readonly digest: string;
  readonly bytes: number;
  readonly isObject: boolean;
}

/** The pool needs two connections and a timeout for a query over all records. An interrupted call can be repeated. */
export async function pruneContents(
  pool: Pool,
  store: Pick<ContentStore, 'removeObjects'>,
  { isDryRun, gone }: PruneContentsOptions,
): Promise<PrunedContents> {
  let [contents, bytes, unreachable] = [0, 0, 0];
  const { removeObjects } = store;
  const client = await pool.connect();
  try {
    // All names are read once, and one batch at a time is in memory. The cursor outlives its transaction.
    await client.query(`declare unnamed no scroll cursor with hold for ${unnamed(gone, client)}`);
    for (;;) {
      const { rows } = await client.query<Candidate>(`fetch ${String(BATCH)} from unnamed`);
      if (rows.length === 0) return { contents, bytes, unreachable };
      const batch = rows.filter(({ isObject }) => !isObject || removeObjects !== undefined);
      unreachable += rows.length - batch.length;
      const removed = isDryRun ? batch : await removeBatch(pool, batch, removeObjects);
      contents += removed.length;
      bytes += removed.reduce((sum, one) => sum + one.bytes, 0);
    }
  } finally {
    // Closes the cursor too.
    client.release(true);
  }
}

function removeBatch(
  pool: Pool,
  batch: readonly Candidate[],
  removeObjects: ContentStore['removeObjects'],
): Promise<readonly Candidate[]> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<Candidate>(
      `delete from skillwright.contents c where digest = any($1) and saved_at < now() - ${GRACE} returning ${COLUMNS}`,
      [batch.map(({ digest }) => digest)],
    );
    const objects = rows.filter(({ isObject }) => isObject).map(({ digest }) => digest);
    if (objects.length > 0) await removeObjects?.(objects);
    return rows;
  });
}

const COLUMNS = `c.digest, coalesce(c.size, octet_length(c.bytes))::float as bytes, c.bytes is null as "isObject"`;

/** Records, output files, results and cases of evaluations, artifacts, and all sets of skills, which servers may submit runs with. */
function unnamed(gone: PruneContentsOptions['gone'], client: Pick<PoolClient, 'escapeLiteral'>): string {
  const before = gone === undefined ? '' : client.escapeLiteral(gone.before.toISOString());
  const ofProject = gone?.project === undefined ? '' : `and r.project = ${client.escapeLiteral(gone.project)}`;
  const isKept =
    gone === undefined
      ? 'true'
      : `not (r.state = 'ended' and r.submitted_at < ${before} and r.ended_at < ${before} ${ofProject})`;
  const ofKept = gone === undefined ? '' : `join skillwright.runs r on r.id = f.run and ${isKept}`;
  // Few runs have evaluations; without these conditions the planner expects a thousand names from each run.
  return `select ${COLUMNS} from skillwright.contents c
    where c.saved_at < now() - ${GRACE} and not exists (select 1 from (
      select f.digest from skillwright.files f ${ofKept} where f.bytes is null
      union all select f.digest from skillwright.run_files f ${ofKept}
      union all select u.digest from skillwright.uploads u ${gone === undefined ? '' : `where not (u.saved_at < ${before} ${ofProject.replace('r.', 'u.')})`}
      union all select named->>'digest' from skillwright.runs r, jsonb_path_query(r.options, '$.files[*]') named
        where r.options ? 'files' and ${isKept}
      union all select replace(digest, 'sha256:', '') from skillwright.artifacts where not is_deleted
      union all select entry->>'content' from skillwright.skill_sets s, jsonb_array_elements(s.skills) skill, jsonb_array_elements(skill->'entries') entry
      union all select named->>'digest' from skillwright.runs r, jsonb_path_query(r.options, '$.evaluation.packed.files[*]') named
        where r.options ? 'evaluation' and ${isKept}
      union all select named->>'digest' from skillwright.runs r, jsonb_path_query(r.result, '$.outputs[*]') named
        where r.result is not null and ${isKept}
    ) named where named.digest = c.digest)`;
}

export interface PruneOptions {
  readonly project?: string | undefined;
  readonly isDryRun: boolean;
  /** Called after each batch with the number of runs removed so far. */
  readonly onProgress?: (runs: number) => void;
}

interface PrunedRuns {
  readonly runs: number;
  /** Finished places in the queue: one for each attempt of a run, which DBOS keeps until it is told to delete them. */
  readonly entries: number;
}

/** One query reads the names of all contents. */
const CONTENTS_MS = 600_000;

/** Workers may go on meanwhile, and an interrupted call can be repeated. With a dry run, runs and contents are counted. */
export async function pruneFleet(
  fleet: Fleet,
  olderThanMs: number,
  options: PruneOptions,
): Promise<PrunedRuns & PrunedContents & { readonly before: Date }> {
  const { rows } = await fleet.pool.query<{ now: Date }>('select now()');
  const before = new Date((rows[0]?.now.getTime() ?? Date.now()) - olderThanMs);
  const removed = await pruneRuns(fleet, before, options);
  const patient = await openDatabase(fleet.url, { size: 2, timeoutMs: CONTENTS_MS });
  try {
    const { project, isDryRun } = options;
    const gone = isDryRun ? { before, project } : undefined;
    // Runs name the bytes of their files themselves.
    if (!isDryRun)
      await patient.query(
        'delete from skillwright.uploads where saved_at < $1 and ($2::text is null or project = $2)',
        [before, project ?? null],
      );
    return { before, ...removed, ...(await pruneContents(patient, fleet.contents, { isDryRun, gone })) };
  } finally {
    await patient.end();
  }
}

/** Runs of one transaction: their records are thousands of rows. */
const RUNS_AT_ONCE = 500;
/** A run ends after its submission, so `submitted_at` finds old runs by the index of the newest ones. */
const OLD = `project = $1 and submitted_at < $2 and state = 'ended' and ended_at < $2`;

/** Open runs and the audit are never removed. The audit gets a row for each project. */
export async function pruneRuns(
  { pool, queue }: RunDatabase,
  before: Date,
  { project, isDryRun, onProgress = () => undefined }: PruneOptions,
): Promise<PrunedRuns> {
  const { rows: projects } = await pool.query<{ name: string }>(
    'select name from skillwright.projects where $1::text is null or name = $1 order by name',
    [project ?? null],
  );
  let runs = 0;
  for (const { name } of projects) {
    if (isDryRun) {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from skillwright.runs where ${OLD}`,
        [name, before],
      );
      runs += rows[0]?.count ?? 0;
      continue;
    }
    let removed = 0;
    for (;;) {
      const { rowCount } = await pool.query(
        `delete from skillwright.runs where id in (select id from skillwright.runs where ${OLD} order by submitted_at limit ${String(RUNS_AT_ONCE)})`,
        [name, before],
      );
      if (rowCount === null || rowCount === 0) break;
      removed += rowCount;
      onProgress(runs + removed);
    }
    const detail = { runs: removed, before: before.toISOString() };
    if (removed > 0)
      await recordAct(pool, { actor: 'fleet prune', project: name }, { act: 'runs-prune', target: name, detail });
    runs += removed;
  }
  if (isDryRun || project !== undefined) return { runs, entries: 0 };
  await pool.query('delete from skillwright.deliveries where done_at < $1', [before]);
  await pool.query('delete from skillwright.sessions where expires_at < now()');
  return { runs, entries: await pruneEntries(queue, before) };
}
