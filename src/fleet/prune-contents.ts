/**
 * Removes contents that nothing names any more. Contents are shared by digest, so a run that begins now may name bytes that were saved
 * long ago. Two things keep them: each save renews `saved_at` before the digest is named, and contents that were saved within the last day
 * stay; and a row is removed together with its bytes under a lock, so that a save at that moment waits and sends the bytes again.
 *
 * Objects in S3 are found by their rows, never by listing the bucket: a listing does not say when an object was named last.
 */
import type { Pool, PoolClient } from 'pg';

import type { ContentStore } from './content-store.ts';
import { inTransaction } from './database.ts';

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
      union all select replace(digest, 'sha256:', '') from skillwright.artifacts where not is_deleted
      union all select entry->>'content' from skillwright.skill_sets s, jsonb_array_elements(s.skills) skill, jsonb_array_elements(skill->'entries') entry
      union all select named->>'digest' from skillwright.runs r, jsonb_path_query(r.options, '$.evaluation.packed.files[*]') named
        where r.options ? 'evaluation' and ${isKept}
      union all select named->>'digest' from skillwright.runs r, jsonb_path_query(r.result, '$.outputs[*]') named
        where r.result is not null and ${isKept}
    ) named where named.digest = c.digest)`;
}
