/** Metrics of a fleet in the text format of Prometheus, from the database, so every server reports the same. */
import type { Pool } from 'pg';

interface Row {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly value: string | number;
}

const HELP: Readonly<Record<string, readonly [type: string, help: string]>> = {
  skillwright_runs: ['gauge', 'Runs by state'],
  skillwright_runs_ended_total: ['counter', 'Ended runs by outcome'],
  skillwright_run_seconds_sum: ['counter', 'Time from the start to the end of ended runs'],
  skillwright_run_wait_seconds_sum: ['counter', 'Time from submission to start of runs that started'],
  skillwright_runs_started_total: ['counter', 'Runs that started'],
  skillwright_tokens_total: ['counter', 'Tokens of ended runs'],
  skillwright_script_runs_total: ['counter', 'Programs that ended runs started'],
  skillwright_attempts_lost_total: ['counter', 'Attempts whose worker ended without a word'],
  skillwright_questions_waiting: ['gauge', 'Approvals that wait for an answer'],
  skillwright_workers: ['gauge', 'Workers that were seen in the last ten seconds'],
  skillwright_deliveries_failed: ['gauge', 'Webhook deliveries that failed at least once and wait for the next try'],
};

const QUERY = `
  select 'skillwright_runs' as name, jsonb_build_object('state', state) as labels, count(*)::float as value
    from skillwright.runs group by state
  union all select 'skillwright_runs_ended_total', jsonb_build_object('outcome', outcome), count(*)
    from skillwright.runs where state = 'ended' group by outcome
  union all select 'skillwright_run_seconds_sum', null, coalesce(sum(extract(epoch from ended_at - started_at)), 0)
    from skillwright.runs where started_at is not null and ended_at is not null
  union all select 'skillwright_run_wait_seconds_sum', null, coalesce(sum(extract(epoch from started_at - submitted_at)), 0)
    from skillwright.runs where started_at is not null
  union all select 'skillwright_runs_started_total', null, count(*) from skillwright.runs where started_at is not null
  union all select 'skillwright_tokens_total', null, coalesce(sum((used->>'tokens')::float), 0) from skillwright.runs
  union all select 'skillwright_script_runs_total', null, coalesce(sum((used->>'scriptRuns')::float), 0) from skillwright.runs
  union all select 'skillwright_attempts_lost_total', null, count(*) from skillwright.attempts where ending = 'lost'
  union all select 'skillwright_questions_waiting', null, count(*) from skillwright.approvals a
    join skillwright.runs r on r.id = a.run where a.verdict is null and r.state <> 'ended'
  union all select 'skillwright_workers', null, count(*) from skillwright.workers where seen_at > now() - interval '10 seconds'
  union all select 'skillwright_deliveries_failed', null, count(*) from skillwright.deliveries where done_at is null and tries > 0`;

export async function metricsText(pool: Pool): Promise<string> {
  const { rows } = await pool.query<Row>(QUERY);
  const lines = Object.entries(HELP).flatMap(([name, [type, help]]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...rows
      .filter((row) => row.name === name)
      .map(({ labels, value }) => `${name}${labelText(labels)} ${String(value)}`),
  ]);
  return `${lines.join('\n')}\n`;
}

function labelText(labels: Row['labels']): string {
  if (labels === null) return '';
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, '_')}"`)
    .join(',')}}`;
}
