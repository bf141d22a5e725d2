/**
 * Metrics of a fleet in the text format of Prometheus, from the database, so every server reports the same. Nothing here reads all stored
 * runs: gauges come from the index of open runs, and counters from the workers and from a table that is counted up when a run ends.
 */
import type { Pool } from 'pg';
import type { z } from 'zod';

import { Fleet as FleetState } from './api.ts';
import { BOUNDS, type Sample } from './counters.ts';

const HELP: Readonly<Record<string, readonly [type: string, help: string]>> = {
  skillwright_runs: ['gauge', 'Open runs by state'],
  skillwright_queue_depth: ['gauge', 'Queued runs by project'],
  skillwright_queue_oldest_seconds: ['gauge', 'How long the oldest queued run has waited'],
  skillwright_questions_waiting: ['gauge', 'Approvals that wait for an answer'],
  skillwright_workers: ['gauge', 'Workers that were seen in the last ten seconds'],
  skillwright_deliveries_failed: ['gauge', 'Webhook deliveries that failed at least once and wait for the next try'],
  skillwright_runs_ended_total: ['counter', 'Ended runs by outcome'],
  skillwright_repairs_total: ['counter', 'Runs whose state and place in the queue disagreed, by what was found'],
  skillwright_run_seconds: ['histogram', 'Time from submission to the end of a run'],
  skillwright_run_wait_seconds: ['histogram', 'Time from submission to the first claim of a run'],
  skillwright_step_seconds: ['histogram', 'Duration of model calls and of actions'],
  skillwright_tokens_total: ['counter', 'Tokens of model calls'],
  skillwright_refusals_total: ['counter', 'Actions that a rule, missing trust or a person refused, by code'],
  skillwright_sandbox_failures_total: ['counter', 'Programs that could not be run, by code'],
};

const GAUGES = `
  select 'skillwright_runs' as name, jsonb_build_object('state', s.state) as labels, coalesce(r.count, 0)::float as value
    from unnest(array['queued', 'running', 'waiting']) as s (state) left join (
      select state, count(*) from skillwright.runs where state in ('queued', 'running', 'waiting') and project = $1 group by state) r using (state)
  union all select 'skillwright_queue_depth', jsonb_build_object('project', $1::text), count(*)
    from skillwright.runs where state = 'queued' and project = $1
  union all select 'skillwright_queue_oldest_seconds', '{}', coalesce(extract(epoch from now() - min(submitted_at)), 0)
    from skillwright.runs where state = 'queued' and project = $1
  union all select 'skillwright_questions_waiting', '{}', count(*) from skillwright.approvals a
    join skillwright.runs r on r.id = a.run where r.state = 'waiting' and r.project = $1 and a.verdict is null
  union all select 'skillwright_workers', '{}', count(*) from skillwright.workers where seen_at > now() - interval '10 seconds'
  union all select 'skillwright_deliveries_failed', '{}', count(*) from skillwright.deliveries d
    join skillwright.webhooks w on w.id = d.webhook where d.done_at is null and d.tries > 0 and w.project = $1`;

/** The metrics of one project. Workers belong to no project, so all of them count. */
export async function metricsText(pool: Pool, project: string): Promise<string> {
  const gauges = await pool.query<{ name: string; labels: Readonly<Record<string, string>>; value: number }>(GAUGES, [
    project,
  ]);
  const counted = await pool.query<{ worker: string; samples: readonly Sample[] }>(
    `select worker, samples from skillwright.counters where at > now() - interval '1 day' order by worker`,
  );
  const totals = await pool.query<Total>(
    `select kind, label, bucket, sum(count)::float as count, sum(seconds) as seconds from skillwright.totals
     where project = $1 group by kind, label, bucket order by kind, label, bucket`,
    [project],
  );
  const samples: readonly Sample[] = [
    ...totalSamples(totals.rows),
    ...gauges.rows.map(({ name, labels, value }) => [name, labels, value] as const),
    ...counted.rows.flatMap((row) =>
      row.samples
        .filter(([, labels]) => labels['project'] === project)
        .map(([name, labels, value]) => [name, withoutProject({ ...labels, worker: row.worker }), value] as const),
    ),
  ];
  const lines = Object.entries(HELP).flatMap(([family, [type, help]]) => {
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${family}${end}`) : [family];
    return [
      `# HELP ${family} ${help}`,
      `# TYPE ${family} ${type}`,
      ...samples
        .filter(([name]) => names.includes(name))
        .map(([name, labels, value]) => `${name}${labelText(labels)} ${String(value)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

/** All samples are of one project, so the label says nothing. */
function withoutProject({ project: _project, ...labels }: Sample[1]): Sample[1] {
  return labels;
}

interface Total {
  readonly kind: 'end' | 'repair';
  readonly label: string;
  /** Number of `BOUNDS` that the value reaches. */
  readonly bucket: number;
  readonly count: number;
  readonly seconds: number;
}

/** The database counts: the end of a run is stored by whatever process ends it, and is counted in the same transaction. */
function totalSamples(totals: readonly Total[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  const add = (name: string, labels: Sample[1], value: number): void => {
    const key = `${name} ${JSON.stringify(labels)}`;
    sums.set(key, [name, labels, (sums.get(key)?.[2] ?? 0) + value]);
  };
  for (const { kind, label, bucket, count, seconds } of totals) {
    if (kind === 'repair') add('skillwright_repairs_total', { found: label }, count);
    else {
      add('skillwright_runs_ended_total', { outcome: label }, count);
      for (const [index, bound] of BOUNDS.entries())
        add('skillwright_run_seconds_bucket', { le: String(bound) }, bucket <= index ? count : 0);
      add('skillwright_run_seconds_bucket', { le: '+Inf' }, count);
      add('skillwright_run_seconds_sum', {}, seconds);
      add('skillwright_run_seconds_count', {}, count);
    }
  }
  return [...sums.values()];
}

function labelText(labels: Sample[1]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Workers that were seen within a minute, and open runs by state; of one project, or of all. Ended runs would have to be counted one by one. */
export async function fleetState(pool: Pool, project?: string): Promise<z.output<typeof FleetState>> {
  const workers = await pool.query(
    `select w.id, host, version, slots, is_draining as "isDraining", seen_at as "seenAt",
       (select count(*)::int from skillwright.runs r where r.worker = w.id and r.state = 'running') as running
     from skillwright.workers w where seen_at > now() - interval '1 minute' order by w.id`,
  );
  const runs = await pool.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from skillwright.runs
     where state in ('queued', 'running', 'waiting') and ($1::text is null or project = $1) group by state`,
    [project ?? null],
  );
  return FleetState.parse({
    workers: workers.rows,
    runs: Object.fromEntries(runs.rows.map(({ state, count }) => [state, count])),
  });
}
