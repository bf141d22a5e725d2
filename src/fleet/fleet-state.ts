import type { Pool } from 'pg';

export interface FleetState {
  readonly workers: readonly {
    readonly id: string;
    readonly host: string;
    readonly version: string;
    readonly slots: number;
    readonly running: number;
    readonly isDraining: boolean;
    readonly seenAt: string;
  }[];
  readonly runs: Readonly<Record<string, number>>;
}

/** Workers that were seen within a minute, and open runs by state; of one project, or of all. Ended runs would have to be counted one by one. */
export async function fleetState(pool: Pool, project?: string): Promise<FleetState> {
  const workers = await pool.query<{ seenAt: Date } & Omit<FleetState['workers'][number], 'seenAt'>>(
    `select w.id, host, version, slots, is_draining as "isDraining", seen_at as "seenAt",
       (select count(*)::int from skillwright.runs r where r.worker = w.id and r.state = 'running') as running
     from skillwright.workers w where seen_at > now() - interval '1 minute' order by w.id`,
  );
  const runs = await pool.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from skillwright.runs
     where state in ('queued', 'running', 'waiting') and ($1::text is null or project = $1) group by state`,
    [project ?? null],
  );
  return {
    workers: workers.rows.map(({ seenAt, ...rest }) => ({ ...rest, seenAt: seenAt.toISOString() })),
    runs: Object.fromEntries(runs.rows.map(({ state, count }) => [state, count])),
  };
}
