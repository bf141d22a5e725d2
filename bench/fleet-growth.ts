/** Which query of a fleet grows with its history: the same calls at 10,000 and at 1,000,000 stored runs, with 10,000 queued ones. */
import { statSync } from 'node:fs';
import path from 'node:path';

import pg, { type Pool, type PoolClient } from 'pg';

import { openFleetApprovals } from '../src/fleet/approval-table.ts';
import { newestActs } from '../src/fleet/keys.ts';
import { openQueue, type Queue } from '../src/fleet/queue.ts';
import { fleetState, metricsText } from '../src/fleet/metrics.ts';
import { pruneRuns } from '../src/fleet/prune.ts';
import { storedLines, storedRecords } from '../src/fleet/run-store.ts';
import { takeOverRuns } from '../src/fleet/hand-over.ts';
import { reconcile } from '../src/fleet/reconcile.ts';
import { listRows, newestRuns } from '../src/fleet/find-runs.ts';
import { claimRun, submitRun } from '../src/fleet/run-table.ts';
import { openFleetProcesses, stop, until, type FleetProcesses } from '../test/fleet/fleet-processes.ts';
import { POSTGRES } from '../test/fleet/postgres.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const SIZES = [10_000, 1_000_000] as const;
const QUEUED = 10_000;
const CHUNK = 20_000;
const TIMES = 5;
const DRAINED = 200;
const SECONDS_APART = 10;
/** Nine of ten runs are of this project, so that its lists are long. */
const PROJECT = 'p1';
const NEWEST = '2026-11-01';

export async function benchFleetGrowth({ project }: { readonly project: string }): Promise<readonly BenchRow[]> {
  if (POSTGRES === undefined) return [];
  const fleet = await openFleetProcesses(project, { fsync: true });
  const pool = new pg.Pool({ connectionString: fleet.postgres.url, max: 8 });
  try {
    fleet.run('fleet', 'migrate');
    const queue = await openQueue(fleet.postgres.url, pool);
    await fillOnce(pool);
    const all: (readonly BenchRow[])[] = [];
    let stored = 0;
    for (const size of SIZES) {
      const started = performance.now();
      await fill(pool, stored, size);
      await pool.query('vacuum analyze');
      stored = size;
      console.log(`  ${String(size)} runs after ${((performance.now() - started) / 1_000).toFixed(0)} s`);
      const rows = [...(await measure(fleet, pool, queue)), ...(await sizes(fleet, pool))];
      for (const { name, value, unit } of rows) console.log(`    ${name.padEnd(60)} ${value.toFixed(1)} ${unit}`);
      all.push(rows);
    }
    await queue.destroy();
    const [few = [], many = []] = all;
    return many.map((row, i) => ({
      ...row,
      note: `${String(few[i]?.value.toFixed(1))} at ${String(SIZES[0])} runs`,
    }));
  } finally {
    await pool.end();
    await fleet.close();
  }
}

async function fillOnce(pool: Pool): Promise<void> {
  await pool.query(`
    insert into skillwright.projects (name, queued_limit) select 'p' || n, 1000000 from generate_series(1, 2) n;
    insert into skillwright.skill_sets (id, skills) values ('none', '[]');
    insert into skillwright.webhooks (id, project, url, secret) values ('hook', '${PROJECT}', 'https://hooks.example', 'secret');
    create function public.bench_id(n bigint) returns text language sql immutable as $$
      select to_char(timestamp '${NEWEST}' - make_interval(secs => (${String(SIZES[1])} - n) * ${String(SECONDS_APART)}), 'YYYYMMDD"T"HH24MISS"Z"-') || substr(md5(n::text), 1, 8) $$;
    create function public.bench_time(n bigint) returns timestamptz language sql immutable as $$
      select (timestamp '${NEWEST}' - make_interval(secs => (${String(SIZES[1])} - n) * ${String(SECONDS_APART)})) at time zone 'UTC' $$`);
}

/**
 * What a short run leaves: an entry in the audit, three rows of DBOS and a delivery; for every tenth run also its record of ten lines and five
 * files, so that the database fits on a small disk.
 */
async function fill(pool: Pool, from: number, to: number): Promise<void> {
  await setFsync(pool, false);
  const client = await pool.connect();
  try {
    // Foreign keys are not checked: what is inserted here agrees.
    await client.query(`set session_replication_role = replica; set synchronous_commit = off`);
    for (let first = from + 1; first <= to; first += CHUNK)
      await fillChunk(client, first, Math.min(to, first + CHUNK - 1));
    await client.query(`set session_replication_role = origin; set synchronous_commit = on`);
  } finally {
    client.release();
  }
  await setFsync(pool, true);
  const { rows } = await pool.query<{ queued: number }>(
    `select ${String(QUEUED)} - count(*)::int as queued from skillwright.runs where state = 'queued'`,
  );
  await pool.query(`
    with added as (
      insert into skillwright.runs (id, project, request, options, skill_set, format, state, submitted_by)
      select bench_id(n) || 'q${String(to)}', '${PROJECT}', 'hello', '{}', 'none', 1, 'queued', 'k'
      from generate_series(1, ${String(rows[0]?.queued)}) n returning id
    ), placed as (
      insert into dbos.workflow_status (workflow_uuid, status, name, authenticated_roles, application_version, recovery_attempts, queue_name,
        queue_partition_key, serialization, application_name)
      select id || '/1', 'ENQUEUED', 'run', '[]', 'format-1', 0, 'runs', '${PROJECT}', 'js_superjson', 'skillwright' from added
    ) insert into dbos.workflow_input (workflow_uuid, inputs)
      select id || '/1', '{"json":["' || id || '",1],"__dbos_serializer":"superjson"}' from added`);
}

async function setFsync(pool: Pool, isOn: boolean): Promise<void> {
  await pool.query(`alter system set fsync = ${isOn ? 'on' : 'off'}`);
  await pool.query(`alter system set max_wal_size = '8GB'`);
  await pool.query('select pg_reload_conf()');
}

async function fillChunk(client: PoolClient, first: number, last: number): Promise<void> {
  const runs = `(select n, bench_id(n) as id, bench_time(n) as at, case when n % 10 = 0 then 'p2' else '${PROJECT}' end as project
    from generate_series(${String(first)}, ${String(last)}) n) r`;
  const done = (text: string): string => `insert into ${text} from ${runs}`;
  await client.query(
    [
      done(`skillwright.runs (id, project, request, options, skill_set, format, state, outcome, answer, reason, used, submitted_by, submitted_at, started_at, ended_at)
        select id, project, 'Summarise the open incidents of team ' || n, '{}', 'none', 1, 'ended', 'done', repeat('An answer of some words. ', 8), '',
          '{"turns": 2, "tokens": 3500, "toolCalls": 3}', 'key', at, at, at + interval '20 seconds'`),
      done(
        `skillwright.attempts (run, attempt, worker, started_at, ended_at, ending) select id, 1, 'worker-1', at, at, 'done'`,
      ),
      `insert into skillwright.lines (run, attempt, record, seq, line) select id, 1, id, s,
        '{"seq":' || s || ',"time":"' || to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '","prev":"' || md5(id || s) || md5(s || id) || '","event":{"type":"' ||
        case when s = 5 then 'decision","decision":{"effect":"' || case when n % 1000 = 1 then 'deny' else 'allow' end || '","tool":"run_script"}'
          else 'action-end","call":' || s || ',"observation":{"action":"run_script","type":"done","text":"' || repeat('Some lines of output. ', 12) || '"}' end || '}}'
        from ${runs}, generate_series(1, 10) s where n % 10 = 1`,
      `insert into skillwright.files (run, attempt, record, path, digest, bytes)
        select id, 1, id, f.path, md5(f.path || n), case when f.size > 0 then convert_to(repeat(md5(f.path || n), f.size / 32), 'UTF8') end
        from ${runs}, (values ('index.json', 0), ('scan.json', 0), ('state.json', 620), ('final.md', 200), ('run.json', 1970)) f (path, size) where n % 10 = 1`,
      `insert into skillwright.approvals (run, id, question, asked_at, verdict, scope, answered_by, answered_at, used_at)
        select id, 'q', '{"coverage": "c", "scopes": ["once"]}', at, 'yes', 'once', 'key', at, at from ${runs} where n % 10 = 1`,
      done(`skillwright.audit (at, actor, project, act, target) select at, 'key', project, 'run-submit', id`),
      `insert into skillwright.deliveries (webhook, body, tries, due_at, done_at)
        select 'hook', jsonb_build_object('type', 'run-end', 'run', id, 'project', project, 'outcome', 'done'), 1, at, at from ${runs} where project = '${PROJECT}'`,
      done(`dbos.workflow_status (workflow_uuid, status, name, authenticated_roles, executor_id, created_at, updated_at, application_version, recovery_attempts,
          started_at_epoch_ms, queue_partition_key, owner_xid, serialization, completed_at, application_name, creator_xid)
        select id || '/1', 'SUCCESS', 'run', '[]', 'worker-1', extract(epoch from at) * 1000, extract(epoch from at) * 1000, 'format-1', 1,
          extract(epoch from at) * 1000, project, md5(id), 'js_superjson', extract(epoch from at) * 1000, 'skillwright', md5(id)`),
      done(`dbos.workflow_input (workflow_uuid, inputs, retention_timestamp)
        select id || '/1', '{"json":["' || id || '",1],"__dbos_serializer":"superjson"}', extract(epoch from at) * 1000`),
      done(`dbos.workflow_output (workflow_uuid, output, retention_timestamp)
        select id || '/1', '{"json":null,"meta":{"values":["undefined"]},"__dbos_serializer":"superjson"}', extract(epoch from at) * 1000`),
    ].join(';'),
  );
}

async function measure(fleet: FleetProcesses, pool: Pool, queue: Queue): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const time = async (name: string, act: (i: number) => Promise<unknown>, times = TIMES): Promise<void> => {
    const took: number[] = [];
    for (let i = 0; i < times; i += 1) {
      const start = performance.now();
      await act(i);
      took.push(performance.now() - start);
    }
    rows.push({ name, value: median(took), unit: 'ms' });
  };
  const { rows: known } = await pool.query<{ id: string }>(
    `(select id from skillwright.runs where state = 'ended' order by submitted_at limit 1) union all
     (select id from skillwright.runs where state = 'queued' limit ${String(TIMES)})`,
  );
  const [some = '', ...queued] = known.map(({ id }) => id);
  const page = { offset: 0, limit: 50, query: '' };
  await time('newest 50 runs of a project', () => newestRuns(pool, PROJECT));
  await time('console: first page of runs', () => listRows(pool, PROJECT, page));
  await time('console: runs that contain a rare word', () => listRows(pool, PROJECT, { ...page, query: 'team 77' }));
  await time('console: failed runs', () => listRows(pool, PROJECT, { ...page, state: 'failed' }));
  await time('console: page 20', () => listRows(pool, PROJECT, { ...page, offset: 1_000 }));
  await time('submission, with the quota', (i) =>
    submitRun(
      { pool, queue },
      { id: `s${String(i)}-${String(performance.now())}`, request: 'hello', skillSet: 'none' },
      { actor: 'k', project: 'p2' },
    ),
  );
  await time('claim', (i) => claimRun(pool, { run: queued[i] ?? '', attempt: 1, worker: 'gone' }));
  await time('runs of lost workers, asked twice a second by each worker', () =>
    takeOverRuns({ pool, queue }, 'bench', 1_000_000),
  );
  await time('a pass of the reconciler', async () => {
    await pool.query(`update skillwright.reconciler set passed_at = '-infinity'`);
    await reconcile({ pool, queue }, 'bench');
  });
  await time('fleet status', () => fleetState(pool));
  await time('/metrics', () => metricsText(pool, PROJECT));
  await time('questions that wait', () =>
    openFleetApprovals({ pool, queue }, { actor: 'bench', project: PROJECT }).list(),
  );
  await time('newest 50 acts of the audit', () => newestActs(pool, PROJECT));
  await time('the record of a run', async () => {
    let lines = 0;
    for (const one of await storedRecords(pool, some))
      for await (const page of storedLines(pool, { run: some, ...one })) lines += page.length;
    return lines;
  });
  const events = (more: string): string =>
    `select run, at, subject from skillwright.events where type = 'decision' and result = 'deny' ${more} order by at desc limit 20`;
  await time('view of events: refusals of the last day', () => pool.query(events(`and run >= '20261031T'`)));
  await time('view of events: refusals of all runs', () => pool.query(events('')), 1);
  await pool.query(`update skillwright.runs set state = 'queued', worker = null where worker = 'gone'`);
  rows.push(await drain(fleet));
  await time('prune 1,000 runs', () => pruneRuns({ pool, queue }, oldest(1_000), { isDryRun: false }), 1);
  return rows;

  /** The time before which the given number of runs were submitted. */
  function oldest(count: number): Date {
    const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(some) ?? [];
    return new Date(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + count * SECONDS_APART * 1_000);
  }
}

/** Runs a second that one worker takes and ends, which is mostly the queue. */
async function drain(fleet: FleetProcesses): Promise<BenchRow> {
  const { postgres } = fleet;
  const ended = (): number =>
    Number(
      postgres.query(`select count(*) from skillwright.attempts where started_at > '${NEWEST}' and ending is not null`),
    );
  const { child } = await fleet.worker({ turns: [{ text: 'Hello.' }] }, '--slots', '16');
  const before = ended();
  const start = performance.now();
  await until(() => ended() >= before + DRAINED);
  const value = (ended() - before) / ((performance.now() - start) / 1_000);
  await stop(child);
  return { name: 'runs ended by one worker', value, unit: 'runs/s' };
}

async function sizes({ postgres }: FleetProcesses, pool: Pool): Promise<readonly BenchRow[]> {
  const { rows } = await pool.query<{ name: string; mb: number }>(
    `select relnamespace::regnamespace || '.' || relname as name, pg_total_relation_size(oid)::float / 1e6 as mb from pg_class
     where relnamespace::regnamespace::text in ('skillwright', 'dbos') and relkind = 'r'
       and relname in ('runs', 'attempts', 'lines', 'files', 'audit', 'deliveries', 'workflow_status', 'workflow_input', 'workflow_output') order by 1`,
  );
  const file = path.join(postgres.folder, 'backup');
  const start = performance.now();
  postgres.run('pg_dump', ['-Fc', '-n', 'skillwright', '-n', 'dbos', '-f', file, 'postgres'], 3_600_000);
  const seconds = (performance.now() - start) / 1_000;
  return [
    ...rows.map(({ name, mb }) => ({ name: `size of ${name} with its indexes`, value: mb, unit: 'MB' })),
    { name: 'pg_dump', value: seconds, unit: 's' },
    { name: 'size of the backup', value: statSync(file).size / 1e6, unit: 'MB' },
  ];
}
