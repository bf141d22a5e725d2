/** Who did what: one row for each act that changes something, queryable by SQL. */
import type { Pool } from 'pg';

export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly act: string;
  readonly target: string;
  readonly detail: object;
}

export async function recordAct(
  pool: Pool,
  { actor, project }: { readonly actor: string; readonly project: string },
  act: { readonly act: string; readonly target: string; readonly detail?: object },
): Promise<void> {
  await pool.query('insert into skillwright.audit (actor, project, act, target, detail) values ($1, $2, $3, $4, $5)', [
    actor,
    project,
    act.act,
    act.target,
    act.detail ?? {},
  ]);
}

/** The newest acts of a project; `before` is the last one of the page before. */
export async function newestActs(
  pool: Pool,
  project: string,
  { limit = 50, before }: { readonly limit?: number; readonly before?: number } = {},
): Promise<readonly AuditEntry[]> {
  const { rows } = await pool.query<AuditEntry>(
    `select id, at, actor, act, target, detail from skillwright.audit
     where project = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [project, before ?? null, limit],
  );
  return rows;
}
