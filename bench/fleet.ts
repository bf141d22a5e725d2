import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { FleetClient } from '../src/client.ts';
import { openFleetProcesses, stop, until, type FleetProcesses } from '../test/fleet/fleet-processes.ts';
import { POSTGRES } from '../test/fleet/postgres.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const WARM_UP = 400;
const RUNS = 1_500;
/** Half of the throughput that is asked for, a second. */
const HALF_LOAD = 50;
const HALF_LOAD_SECONDS = 10;
const STEPS = 40;
const STORED = 10_000;
const LISTS = 30;
const TICK_MS = 10;
const IDLE_AFTER_MS = 65_000;
const IDLE_SECONDS = 20;
const STATISTICS_MS = 2_000;

/** A fleet on PostgreSQL with the settings of its package, on this machine: server, two workers, and the client that measures. */
export async function benchFleet({ project }: { readonly project: string }): Promise<readonly BenchRow[]> {
  if (POSTGRES === undefined) return [];
  const fleet = await openFleetProcesses(project, { fsync: true });
  try {
    const server = await fleet.serve();
    const { admin } = server;
    const alone = await commitRate(fleet);
    const workers = await Promise.all([1, 2].map(() => fleet.worker({ turns: [{ text: 'Hello.' }] }, '--slots', '16')));
    const processes = [server, ...workers].map(({ child }) => child.pid ?? 0);
    // DBOS looks for schedules each second in the first minute.
    await sleep(IDLE_AFTER_MS);
    const cpuBefore = workers.map(({ child }) => cpuMs(child.pid ?? 0));
    const idle = ((await commitRate(fleet)) - alone) / workers.length;
    const busy =
      median(workers.map(({ child }, i) => cpuMs(child.pid ?? 0) - (cpuBefore[i] ?? 0))) / (IDLE_SECONDS * 10);
    await throughput(fleet, admin, WARM_UP, processes);
    const rows = [
      { name: 'commits of an idle worker', value: idle, unit: '/s', bound: '<= 1', ok: idle <= 1 },
      { name: 'CPU of an idle worker', value: busy, unit: '% of a core', bound: '<= 0.5', ok: busy <= 0.5 },
      ...(await throughput(fleet, admin, RUNS, processes)),
      ...(await firstStep(fleet, admin)),
    ];
    await Promise.all(workers.map(({ child }) => stop(child)));
    return [
      ...rows,
      ...(await recovery(fleet, admin)),
      ...(await stepOverhead(fleet, admin)),
      ...(await listing(fleet, admin)),
    ];
  } finally {
    await fleet.close();
  }
}

/** Commits a second, also of statements that only read. */
async function commitRate({ postgres }: FleetProcesses): Promise<number> {
  const before = readWork(postgres).commits;
  await sleep(IDLE_SECONDS * 1_000);
  return (readWork(postgres).commits - before) / IDLE_SECONDS;
}

function readWork(postgres: FleetProcesses['postgres']): { readonly commits: number; readonly rows: number } {
  const text = postgres.query(
    `select xact_commit, tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()`,
  );
  const [commits = 0, rows = 0] = text.split('|').map(Number);
  return { commits, rows };
}

async function throughput(
  { postgres }: FleetProcesses,
  admin: FleetClient,
  count: number,
  processes: readonly number[],
): Promise<readonly BenchRow[]> {
  const all = (): number => [...processes, ...postgresProcesses()].reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = all();
  const worked = readWork(postgres);
  const start = performance.now();
  const submitters = Array.from({ length: 8 }, async (_, first) => {
    for (let i = first; i < count; i += 8) await admin.submit({ request: `hello ${String(i)}` });
  });
  await Promise.all(submitters);
  await until(() => postgres.query(`select count(*) from skillwright.runs where state <> 'ended'`) === '0');
  const seconds = (performance.now() - start) / 1_000;
  const rate = count / seconds;
  // The statistics of a connection are written a second after its last statement.
  await sleep(STATISTICS_MS);
  const { commits, rows } = readWork(postgres);
  return [
    {
      name: 'commits of a short run',
      value: (commits - worked.commits) / count,
      unit: '',
      note: 'with polls of the bench',
    },
    { name: 'rows that a short run writes', value: (rows - worked.rows) / count, unit: '' },
    { name: 'short runs, end to end', value: rate, unit: '/s', bound: '>= 100', ok: rate >= 100 },
    { name: 'CPU time of a short run', value: (all() - before) / count, unit: 'ms', note: 'server, workers, database' },
  ];
}

/** Submits at even intervals, whatever becomes of the runs. */
async function firstStep({ postgres }: FleetProcesses, admin: FleetClient): Promise<readonly BenchRow[]> {
  const count = HALF_LOAD * HALF_LOAD_SECONDS;
  const start = performance.now();
  const submitted = Array.from({ length: count }, async (_, i) => {
    const due = start + (i * 1_000) / HALF_LOAD;
    await sleep(Math.max(0, due - performance.now()));
    return (await admin.submit({ request: `half ${String(i)}` })).run;
  });
  await Promise.all(submitted);
  await until(() => postgres.query(`select count(*) from skillwright.runs where state <> 'ended'`) === '0');
  const [middle = 0, late = 0] = postgres
    .query(
      `with step as (
         select r.id, extract(epoch from min((l.line::jsonb->>'time')::timestamptz) - r.submitted_at) * 1000 as ms
         from skillwright.runs r join skillwright.lines l on l.run = r.id
         where r.request like 'half %' and l.line like '%"type":"model-call"%' group by r.id)
       select round(percentile_cont(0.5) within group (order by ms)), round(percentile_cont(0.95) within group (order by ms)) from step`,
    )
    .split('|')
    .map(Number);
  const note = `median ${String(middle)} ms at ${String(HALF_LOAD)} runs a second`;
  return [{ name: 'submission to first step, p95', value: late, unit: 'ms', bound: '< 300', ok: late < 300, note }];
}

/** The time from kill -9 until another worker has claimed the runs. */
async function recovery(fleet: FleetProcesses, admin: FleetClient): Promise<readonly BenchRow[]> {
  const { postgres } = fleet;
  const slow = {
    turns: [{ toolCalls: [{ name: 'load_skill', input: { skill: 'greet' } }] }, { text: '', delayMs: 600_000 }],
  };
  const victim = await fleet.worker(slow);
  const runs = await Promise.all([1, 2, 3, 4].map((i) => admin.submit({ request: `recover ${String(i)}` })));
  const stored = `select count(*) from skillwright.lines where line like '%"type":"model-call"%' and run in (${runs.map(({ run }) => `'${run}'`).join(',')})`;
  await until(() => Number(postgres.query(stored)) >= runs.length * 2);
  const other = await fleet.worker({ turns: [{ text: 'Hello.' }] });
  const killedAt = Date.now();
  await stop(victim.child, 'SIGKILL');
  await Promise.all(runs.map(({ run }) => admin.wait(run)));
  const claimed = postgres.query(
    `select extract(epoch from max(started_at)) * 1000 from skillwright.attempts where attempt = 2 and run in (${runs.map(({ run }) => `'${run}'`).join(',')})`,
  );
  await stop(other.child);
  const seconds = (Number(claimed) - killedAt) / 1_000;
  return [
    { name: 'recovery of the runs of a killed worker', value: seconds, unit: 's', bound: '<= 5', ok: seconds <= 5 },
  ];
}

/** A run with many steps on a worker, against the same run of a single process. */
async function stepOverhead(fleet: FleetProcesses, admin: FleetClient): Promise<readonly BenchRow[]> {
  const calls = Array.from({ length: STEPS }, (_, i) => ({
    toolCalls: [{ name: 'search_skills', input: { query: `hello ${String(i)}` } }],
  }));
  const script = { turns: [...calls, { text: 'Done.' }] };
  const worker = await fleet.worker(script);
  const durable: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const { run } = await admin.submit({ request: 'steps', budget: { toolCalls: 100, turns: 100 } });
    await admin.wait(run);
    durable.push(
      ...stepsOf(
        fleet.postgres
          .query(
            `select line from skillwright.lines where run = '${run}' and line like '%"type":"model-call"%' order by seq`,
          )
          .split('\n'),
      ),
    );
  }
  await stop(worker.child);
  const file = path.join(
    fleet.folder,
    readdirSync(fleet.folder)
      .filter((name) => name.startsWith('script-'))
      .toSorted(byNumber)
      .at(-1) ?? '',
  );
  const alone: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    fleet.run(
      'run',
      'steps',
      '--model',
      `scripted:${file}`,
      '--executor',
      'none',
      '--json',
      '--budget',
      'toolCalls=100,turns=100',
    );
  }
  const runs = path.join(fleet.folder, 'project/.agent/runs');
  for (const name of readdirSync(runs).filter((entry) => /^\d/.test(entry)))
    alone.push(
      ...stepsOf(
        readFileSync(path.join(runs, name, 'events.jsonl'), 'utf8')
          .split('\n')
          .filter((line) => line.includes('"type":"model-call"')),
      ),
    );
  const over = median(durable) - median(alone);
  const note = `${median(durable).toFixed(1)} ms on a worker, ${median(alone).toFixed(1)} ms in one process`;
  return [
    { name: 'overhead of a durable step, median', value: over, unit: 'ms', bound: '<= 10', ok: over <= 10, note },
  ];
}

function byNumber(a: string, b: string): number {
  return Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0]);
}

/** Milliseconds between model calls. */
function stepsOf(lines: readonly string[]): readonly number[] {
  const times = lines.map((line) => Number(/"elapsed":([\d.]+)/.exec(line)?.[1]));
  return times.slice(1).map((time, i) => time - (times[i] ?? 0));
}

async function listing({ postgres }: FleetProcesses, admin: FleetClient): Promise<readonly BenchRow[]> {
  postgres.query(
    `insert into skillwright.runs (id, project, request, options, skill_set, format, state, outcome, answer, submitted_by, submitted_at, ended_at)
     select 'stored-' || n, 'default', 'request ' || n, '{}', (select id from skillwright.skill_sets limit 1), 1, 'ended', 'done', 'answer', 'bench',
       now() - make_interval(secs => n), now() from generate_series(1, ${String(STORED)}) n; analyze skillwright.runs`,
  );
  const times: number[] = [];
  for (let i = 0; i < LISTS; i += 1) {
    const start = performance.now();
    await admin.runs({ limit: 50 });
    times.push(performance.now() - start);
  }
  const ms = median(times);
  return [
    {
      name: `newest 50 of ${String(STORED)} stored runs, over HTTP`,
      value: ms,
      unit: 'ms',
      bound: '< 20',
      ok: ms < 20,
    },
  ];
}

function cpuMs(pid: number): number {
  try {
    const fields =
      readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

function postgresProcesses(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${String(pid)}/comm`, 'utf8').trim() === 'postgres';
      } catch {
        return false;
      }
    });
}
