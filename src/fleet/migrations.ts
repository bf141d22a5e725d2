/**
 * The tables of a fleet, in the schema `skillwright`. Migrations only go forward. They run under a lock, each in one transaction with the
 * number that says it ran. The tables of DBOS are its own, in the schema `dbos`; they are upgraded under the same lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool, PoolClient } from 'pg';

import { invalidInput } from '#core';
import { ioFailed } from './database.ts';

/** Entry N brings version N to N + 1. Never edit an entry that was released: add one. */
const MIGRATIONS: readonly string[] = [
  `
  create table skillwright.projects (
    name text primary key,
    queued_limit int not null default 10000 check (queued_limit > 0),
    created_at timestamptz not null default now()
  );
  create table skillwright.keys (
    id text primary key,
    name text not null,
    hash text not null unique,
    project text not null references skillwright.projects,
    rights text[] not null,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  );
  create table skillwright.skill_sets (
    id text primary key,
    skills jsonb not null
  );
  create table skillwright.contents (
    digest text primary key,
    bytes bytea not null
  );
  create table skillwright.workers (
    id text primary key,
    host text not null,
    version text not null,
    format int not null,
    slots int not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    is_draining boolean not null default false
  );
  create table skillwright.runs (
    id text primary key,
    project text not null references skillwright.projects,
    request text not null,
    options jsonb not null,
    skill_set text not null references skillwright.skill_sets,
    format int not null,
    state text not null check (state in ('queued', 'running', 'waiting', 'ended')),
    priority int not null default 0,
    attempt int not null default 1,
    crashes int not null default 0,
    worker text,
    is_cancelled boolean not null default false,
    outcome text,
    answer text,
    reason text,
    used jsonb,
    idempotency_key text,
    submitted_by text not null,
    submitted_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz,
    unique (project, idempotency_key)
  );
  create index runs_newest on skillwright.runs (project, submitted_at desc, id desc);
  create index runs_open on skillwright.runs (state) where state in ('queued', 'running', 'waiting');
  create table skillwright.attempts (
    run text not null references skillwright.runs on delete cascade,
    attempt int not null,
    worker text not null,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    ending text,
    primary key (run, attempt)
  );
  create table skillwright.lines (
    run text not null,
    attempt int not null,
    record text not null,
    seq int not null,
    line text not null,
    primary key (run, attempt, record, seq),
    foreign key (run, attempt) references skillwright.attempts on delete cascade
  );
  create table skillwright.files (
    run text not null,
    attempt int not null,
    record text not null,
    path text not null,
    digest text not null,
    primary key (run, attempt, record, path),
    foreign key (run, attempt) references skillwright.attempts on delete cascade
  );
  create table skillwright.approvals (
    run text not null references skillwright.runs on delete cascade,
    id text not null,
    question jsonb not null,
    asked_at timestamptz not null default now(),
    verdict text check (verdict in ('yes', 'no')),
    scope text,
    note text,
    answered_by text,
    answered_at timestamptz,
    used_at timestamptz,
    primary key (run, id)
  );
  create table skillwright.audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    actor text not null,
    project text not null,
    act text not null,
    target text not null,
    detail jsonb not null default '{}'
  );
  create index audit_newest on skillwright.audit (project, id desc);
  create table skillwright.webhooks (
    id text primary key,
    project text not null references skillwright.projects,
    url text not null,
    secret text not null,
    created_at timestamptz not null default now()
  );
  create table skillwright.deliveries (
    id bigint generated always as identity primary key,
    webhook text not null references skillwright.webhooks on delete cascade,
    body jsonb not null,
    tries int not null default 0,
    due_at timestamptz not null default now(),
    done_at timestamptz,
    problem text
  );
  create index deliveries_due on skillwright.deliveries (due_at) where done_at is null;
  `,
  `
  alter table skillwright.files add column bytes bytea;
  drop index skillwright.runs_open;
  create index runs_open on skillwright.runs (state, project) where state in ('queued', 'running', 'waiting');
  `,
  `
  create table skillwright.sessions (
    hash text primary key,
    key text not null references skillwright.keys on delete cascade,
    expires_at timestamptz not null
  );
  create table skillwright.artifacts (
    project text not null references skillwright.projects,
    name text not null,
    version int not null,
    digest text not null,
    bytes bigint not null,
    media_type text not null,
    saved_at timestamptz not null default now(),
    is_deleted boolean not null default false,
    primary key (project, name, version)
  );
  alter table skillwright.runs add column result jsonb;
  create view skillwright.events as
    select r.project, l.run, l.attempt, l.record, l.seq, (j.line->>'time')::timestamptz as at, j.line->'event'->>'type' as type,
      (j.line->'event'->>'call')::int as call,
      coalesce(j.line->'event'->'action'->>'type', j.line->'event'->'decision'->>'tool', j.line->'event'->'observation'->>'action',
        j.line->'event'->'request'->>'tool', j.line->'event'->'skill'->>'id',
        case when jsonb_typeof(j.line->'event'->'skill') = 'string' then j.line->'event'->>'skill' end, j.line->'event'->>'model') as subject,
      coalesce(j.line->'event'->'decision'->>'effect', j.line->'event'->'answer'->>'verdict', j.line->'event'->'observation'->>'code',
        j.line->'event'->'observation'->>'type', j.line->'event'->>'outcome') as result,
      j.line->'event' as event
    from skillwright.lines l join skillwright.runs r on r.id = l.run cross join lateral (select l.line::jsonb as line) j;
  `,
  `
  create table skillwright.counters (
    worker text primary key,
    at timestamptz not null default now(),
    samples jsonb not null
  );
  `,
  `
  create table skillwright.run_files (
    run text not null references skillwright.runs on delete cascade,
    name text not null,
    digest text not null,
    bytes bigint not null,
    primary key (run, name)
  );
  `,
  `
  alter table skillwright.contents add column saved_at timestamptz not null default now();
  alter table skillwright.contents add column size bigint;
  alter table skillwright.contents alter column bytes drop not null;
  `,
  // jsonb refuses U+0000 and half a surrogate pair, so the view shows the escapes of both as text. Replacing the view keeps its columns.
  String.raw`
  create function skillwright.line_json(line text) returns jsonb language sql immutable strict parallel safe as $$
    select case when line ~ '\\u(0000|[dD][89a-fA-F])'
      then regexp_replace(line, '(?<!\\)((?:\\\\)*)\\(u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2}))', '\1\\\\\2', 'g')::jsonb
      else line::jsonb end
  $$;
  create or replace view skillwright.events as
    select r.project, l.run, l.attempt, l.record, l.seq, (j.line->>'time')::timestamptz as at, j.line->'event'->>'type' as type,
      (j.line->'event'->>'call')::int as call,
      coalesce(j.line->'event'->'action'->>'type', j.line->'event'->'decision'->>'tool', j.line->'event'->'observation'->>'action',
        j.line->'event'->'request'->>'tool', j.line->'event'->'skill'->>'id',
        case when jsonb_typeof(j.line->'event'->'skill') = 'string' then j.line->'event'->>'skill' end, j.line->'event'->>'model') as subject,
      coalesce(j.line->'event'->'decision'->>'effect', j.line->'event'->'answer'->>'verdict', j.line->'event'->'observation'->>'code',
        j.line->'event'->'observation'->>'type', j.line->'event'->>'outcome') as result,
      j.line->'event' as event
    from skillwright.lines l join skillwright.runs r on r.id = l.run cross join lateral (select skillwright.line_json(l.line) as line) j;
  `,
  `
  alter table skillwright.runs add column queued_because text;
  alter table skillwright.approvals add column used_by text;
  create index runs_open_id on skillwright.runs (state, id) where state in ('queued', 'running', 'waiting');
  create table skillwright.reconciler (
    is_only boolean primary key default true check (is_only),
    passed_at timestamptz not null default '-infinity',
    cursors jsonb not null default '{}'
  );
  insert into skillwright.reconciler default values;
  create table skillwright.totals (
    project text not null,
    kind text not null,
    label text not null,
    bucket int not null,
    shard int not null,
    count bigint not null,
    seconds double precision not null,
    primary key (project, kind, label, bucket, shard)
  );
  create function skillwright.add_total(project text, kind text, label text, bucket int, seconds double precision) returns void
    language sql as $$
      insert into skillwright.totals as t values ($1, $2, $3, $4, pg_backend_pid() % 16, 1, $5)
      on conflict on constraint totals_pkey do update set count = t.count + 1, seconds = t.seconds + excluded.seconds
    $$;
  create function skillwright.count_end() returns trigger language plpgsql as $$
    declare took double precision := greatest(0, extract(epoch from new.ended_at - new.submitted_at));
    begin
      perform skillwright.add_total(new.project, 'end', new.outcome,
        width_bucket(took, array[0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800]::double precision[]), took);
      return null;
    end $$;
  create trigger runs_end after update of state on skillwright.runs for each row
    when (new.state = 'ended' and old.state <> 'ended') execute function skillwright.count_end();
  `,
  `
  alter table skillwright.runs add column labels jsonb not null default '{}', add column deadline timestamptz, add column notify jsonb;
  create index runs_outcome on skillwright.runs (project, outcome, submitted_at desc, id desc) where state = 'ended';
  create index runs_deadline on skillwright.runs (deadline) where deadline is not null and state in ('queued', 'running', 'waiting');
  create table skillwright.run_labels (
    project text not null,
    label text not null,
    submitted_at timestamptz not null,
    run text not null references skillwright.runs on delete cascade,
    primary key (project, label, submitted_at, run)
  );
  create index run_labels_run on skillwright.run_labels (run);
  alter table skillwright.deliveries alter column webhook drop not null, add column url text, add column secret text;
  create table skillwright.uploads (
    id text primary key,
    project text not null references skillwright.projects,
    name text not null,
    digest text not null,
    bytes bigint not null,
    saved_at timestamptz not null default now()
  );
  create index uploads_digest on skillwright.uploads (project, digest);
  create index run_files_digest on skillwright.run_files (digest);
  create index runs_with_inputs on skillwright.runs (id) where options ? 'files';
  alter table skillwright.workers add column models text[] not null default '{}';
  `,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Any number: it names the lock that migrations take. */
const LOCK = 7_305_114;

const LOCK_POLL_MS = 100;
const MAX_LOCK_MS = 120_000;

/**
 * Creates or upgrades the tables; `further` runs under the same lock. Throws `input/invalid` if a later version of this program wrote them,
 * and `io/failed` if another process upgrades them for more than two minutes.
 */
export async function migrate(
  pool: Pool,
  to = SCHEMA_VERSION,
  further?: () => Promise<void>,
): Promise<{ readonly from: number; readonly to: number }> {
  const client = await pool.connect();
  try {
    await lock(client);
    const done = await upgrade(client, to);
    await further?.();
    return done;
  } finally {
    // A connection that broke has given up its lock.
    const broken = await client.query('select pg_advisory_unlock($1)', [LOCK]).then(
      () => undefined,
      (error: Error) => error,
    );
    client.release(broken);
  }
}

/** Polls: a statement that waits has a snapshot, and `create index concurrently` would wait for it while it has the lock. */
async function lock(client: PoolClient): Promise<void> {
  for (const start = performance.now(); ;) {
    const { rows } = await client.query<{ isMine: boolean }>('select pg_try_advisory_lock($1) as "isMine"', [LOCK]);
    if (rows[0]?.isMine === true) return;
    if (performance.now() - start > MAX_LOCK_MS) {
      const cause = `another process has held the lock of upgrades for ${String(MAX_LOCK_MS / 1_000)} s`;
      const hint = 'wait until it has finished, or end it; pg_locks shows which one it is (locktype advisory)';
      throw ioFailed(`the tables cannot be upgraded: ${cause}`, hint, { path: 'skillwright.migrations', cause });
    }
    await sleep(LOCK_POLL_MS);
  }
}

async function upgrade(client: PoolClient, to: number): Promise<{ readonly from: number; readonly to: number }> {
  await client.query('create schema if not exists skillwright');
  await client.query(
    'create table if not exists skillwright.migrations (version int primary key, applied_at timestamptz not null default now())',
  );
  const { rows } = await client.query<{ version: number | null }>(
    'select max(version) as version from skillwright.migrations',
  );
  const from = rows[0]?.version ?? 0;
  if (from > SCHEMA_VERSION)
    throw invalidInput(
      `the database has version ${String(from)}, and this program knows versions up to ${String(SCHEMA_VERSION)}`,
      `at most version ${String(SCHEMA_VERSION)}`,
      'upgrade skillwright on this machine; a database is never taken back to an older version',
    );
  for (const [index, sql] of MIGRATIONS.slice(0, to).entries()) {
    if (index < from) continue;
    await client.query('begin');
    try {
      await client.query(sql);
      await client.query('insert into skillwright.migrations (version) values ($1)', [index + 1]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
  return { from, to: Math.max(from, to) };
}
