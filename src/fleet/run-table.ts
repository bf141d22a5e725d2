/**
 * Runs in the database. A run is handed to a worker by its attempt: every write of a worker names the attempt it was given and changes
 * nothing once another worker has the next one. All times are the database's, so the clocks of the machines do not matter.
 */
import type { Pool, PoolClient } from 'pg';
import type { z } from 'zod';

import type { AgentResult } from '#agent';
import { invalidInput, quoted, SkillError, type Budget } from '#core';
import type { Run } from './api.ts';
import { inTransaction, storableJson } from './database.ts';
import { CHANNEL } from './queue-gate.ts';
import { RUN_FORMAT, addEntry, removeEntry, type QueuedRun, type RunDatabase, type Submitter } from './queue.ts';

const MAX_REQUEST_CHARACTERS = 100_000;

export interface RunSubmission {
  readonly request: string;
  readonly options?: FleetRunOptions;
  /** Larger numbers run later (default: 0). */
  readonly priority?: number;
  /** A second submission with the same key returns the first run. */
  readonly idempotencyKey?: string;
  readonly delaySeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** The run is cancelled if it has not ended this long after its submission. */
  readonly timeoutSeconds?: number;
  /** Gets a signed request when the run ends, as a webhook of the project does. */
  readonly notify?: { readonly url: string; readonly secret: string };
}

/** What an attempt of an evaluation needs besides contents by digest. */
export interface StoredAttempt {
  readonly packed: unknown;
  readonly timeoutMs: number;
  /** The skills, pinned: a set for each source. */
  readonly roots: readonly { readonly source: string; readonly skillSet: string }[];
  /** Covers all of them. */
  readonly skillsDigest: string;
  readonly model?: { readonly id: string; readonly way: string };
  readonly judge?: string;
}

export interface InputFile {
  readonly name: string;
  readonly digest: string;
}

/** What a submission may choose; everything else is the worker's. */
interface FleetRunOptions {
  readonly budget?: Partial<Budget>;
  readonly required?: readonly string[];
  readonly vocabulary?: string;
  readonly evaluation?: StoredAttempt;
  readonly model?: string;
  readonly files?: readonly InputFile[];
  /** The trace that the spans of every attempt belong to: its id, and after a hyphen the id of the span that submitted the run. */
  readonly trace?: string;
}

export interface FleetRun extends Omit<z.input<typeof Run>, 'run' | 'events' | 'used'> {
  readonly id: string;
  readonly project: string;
  readonly options: FleetRunOptions;
  readonly skillSet: string;
  readonly format: number;
  readonly crashes: number;
  /** Why the last attempt did not end the run; null if an answer of a person continued it. */
  readonly queuedBecause: string | null;
  readonly isCancelled: boolean;
  readonly used: AgentResult['used'] | null;
}

export const COLUMNS = `id, project, request, options, skill_set as "skillSet", format, state, attempt, crashes, worker,
  queued_because as "queuedBecause", is_cancelled as "isCancelled", labels, deadline, outcome, answer, reason, used, submitted_by as "submittedBy", submitted_at as "submittedAt",
  started_at as "startedAt", ended_at as "endedAt"`;

/**
 * Accepts a run: its row and its place in the queue are one transaction. Throws `input/invalid` for a bad request, and `policy/refused`
 * if the project has too many waiting runs.
 */
export async function submitRun(
  { pool, queue }: RunDatabase,
  submission: RunSubmission & { readonly id: string; readonly skillSet: string },
  { actor, project }: Submitter,
): Promise<FleetRun> {
  const { id, request, options = {}, priority = 0, idempotencyKey = null, skillSet, delaySeconds } = submission;
  const { labels = {}, timeoutSeconds = null, notify = null } = submission;
  const stored = { options, labels, notify };
  if (/\0|\p{Cs}/u.test(request) || JSON.stringify(stored) !== storableJson(stored))
    throw invalidInput(
      'the request or its options contain U+0000 or half a surrogate pair, which the database cannot store',
      'valid Unicode without U+0000',
    );
  if (!/\S/.test(request) || request.length > MAX_REQUEST_CHARACTERS)
    throw invalidInput(
      request.length > MAX_REQUEST_CHARACTERS ? 'the request is too long' : 'the request is empty',
      `1 to ${String(MAX_REQUEST_CHARACTERS)} characters`,
    );
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<Submitted>({
      name: 'submit',
      text: SUBMIT,
      // oxfmt-ignore
      values: [id, project, request, options, skillSet, RUN_FORMAT, priority, idempotencyKey, actor, labels, timeoutSeconds, notify],
    });
    const [row] = rows;
    if (row === undefined) throw invalidInput(`there is no project ${quoted(project)}`, 'a project that exists');
    const { limit, queued, told: _told, ...run } = row;
    if (!isAdded(run)) {
      // First: a caller who did not hear the answer gets it, also if the queue is full by now.
      const before = idempotencyKey === null ? undefined : await sameKey(client, project, idempotencyKey, request);
      if (before !== undefined) return before;
      if (queued < limit) throw new TypeError('a run conflicts with no run');
      throw tooMany(project, limit);
    }
    await addEntry(queue, client, { run: id, attempt: 1, project, priority, delaySeconds });
    return run;
  });
}

type Submitted = { readonly limit: number; readonly queued: number; readonly told: string | null } & (
  | FleetRun
  | { readonly id: null }
);

function isAdded(run: FleetRun | { readonly id: null }): run is FleetRun {
  return run.id !== null;
}

/** With more places than this no worker is idle, and each looks for the next when one of its runs ends. Notifications lock each other out. */
const MANY_QUEUED = 100;

/** The check of the quota, the run and its line in the audit, in one round trip. */
const SUBMIT = `with quota as (
    select queued_limit as "limit",
      (select count(*)::int from skillwright.runs where project = $2 and state = 'queued') as queued
    from skillwright.projects where name = $2
  ), added as (
    insert into skillwright.runs (id, project, request, options, skill_set, format, state, priority, idempotency_key, submitted_by, labels, deadline, notify)
    select $1, $2, $3, $4, $5, $6, 'queued', $7, $8, $9, $10::jsonb, now() + make_interval(secs => $11), $12 from quota where queued < "limit"
    on conflict (project, idempotency_key) do nothing returning *
  ), labelled as (
    insert into skillwright.run_labels (project, label, submitted_at, run)
    select $2, key || '=' || value, submitted_at, id from added, jsonb_each_text($10::jsonb)
  ), noted as (
    insert into skillwright.audit (actor, project, act, target) select $9, $2, 'run-submit', id from added
  ) select "limit", queued, ${COLUMNS}, case when id is not null and queued < ${String(MANY_QUEUED)} then pg_notify('${CHANNEL}', '')::text end as told
    from quota left join added on true`;

function tooMany(project: string, limit: number): SkillError {
  return new SkillError({
    code: 'policy/refused',
    message: `project ${quoted(project)} has ${String(limit)} waiting runs, which is its limit`,
    hint: 'wait until some have run, or raise queued_limit of the project in the table skillwright.projects',
    data: { rule: 'quota/queued', approval: '', command: '' },
  });
}

/** The run that was submitted with this key before, if any. Another request under the same key is an error of the caller. */
async function sameKey(
  client: PoolClient,
  project: string,
  key: string,
  request: string,
): Promise<FleetRun | undefined> {
  const { rows } = await client.query<FleetRun>(
    `select ${COLUMNS} from skillwright.runs where project = $1 and idempotency_key = $2`,
    [project, key],
  );
  const [before] = rows;
  if (before !== undefined && before.request !== request)
    throw invalidInput('the idempotency key was used for another request', 'one key for each request');
  return before;
}

export interface Claim extends QueuedRun {
  readonly worker: string;
}

/**
 * Gives a queued run to a worker with these models. Returns undefined if the attempt is no longer the current one, another worker claimed it,
 * or the run needs another model. A worker may ask again when it did not hear the answer.
 */
export async function claimRun(
  pool: Pool,
  { run, attempt, worker }: Claim,
  models: readonly string[] = [],
): Promise<FleetRun | undefined> {
  const { rows } = await pool.query<FleetRun>({
    name: 'claim',
    text: CLAIM,
    values: [run, attempt, worker, RUN_FORMAT, models],
  });
  return rows[0];
}

const CLAIM = `with claimed as (
    update skillwright.runs set state = 'running', worker = $3, started_at = coalesce(started_at, now())
    where id = $1 and attempt = $2 and not is_cancelled and format <= $4
      and (options->>'model' is null or options->>'model' = any($5))
      and (state = 'queued' or (state = 'running' and worker = $3)) returning *
  ), added as (
    insert into skillwright.attempts (run, attempt, worker) select id, attempt, worker from claimed on conflict do nothing
  ) select ${COLUMNS} from claimed`;

export type Ending =
  | {
      readonly state: 'ended';
      readonly outcome: string;
      readonly answer: string;
      readonly reason: string;
      readonly used?: object;
    }
  /** Waits for an approval. */
  | { readonly state: 'waiting' };

/**
 * A delivery for each webhook of the project of a run, and for the address that its submission named, in the same transaction as the end of
 * the run. `runs` names a table or
 * query with runs.
 */
export const announceFrom = (runs: string): string => `insert into skillwright.deliveries (webhook, url, secret, body)
  select target.webhook, target.url, target.secret, jsonb_build_object('type', 'run-end', 'run', run.id, 'project', run.project,
    'outcome', run.outcome, 'labels', run.labels, 'endedAt', run.ended_at)
  from ${runs} run cross join lateral (
    select id as webhook, null as url, null as secret from skillwright.webhooks where project = run.project
    union all select null, run.notify->>'url', run.notify->>'secret' where run.notify is not null) target
  where run.state = 'ended'`;

export async function announce(client: PoolClient, run: string): Promise<void> {
  await client.query(`${announceFrom('skillwright.runs')} and run.id = $1`, [run]);
}

/** The reason of a cancelled run, in SQL: a run with a timeout is cancelled when that has passed. */
export const cancelReason = (otherwise: string): string =>
  `case when deadline <= now() then 'its timeout passed before it ended' else ${otherwise} end`;

export async function readRow(source: Pool | PoolClient, project: string, id: string): Promise<FleetRun | undefined> {
  const { rows } = await source.query<FleetRun>(
    `select ${COLUMNS} from skillwright.runs where id = $1 and project = $2`,
    [id, project],
  );
  return rows[0];
}

/** Cancels a run. A running one stops at its worker's next heartbeat, and at once if its worker is silent. Returns undefined if there is no such run. */
export async function cancelRun(
  { pool, queue }: RunDatabase,
  project: string,
  id: string,
): Promise<FleetRun | undefined> {
  const run = await inTransaction(pool, async (client) => {
    // The lock comes first: what is decided below would otherwise be decided by the row before a change that is being committed.
    await client.query('select 1 from skillwright.runs where id = $1 and project = $2 for no key update', [
      id,
      project,
    ]);
    const { rows } = await client.query<FleetRun>(
      `update skillwright.runs set is_cancelled = true, state = case when is_over then 'ended' else state end,
         outcome = case when is_over then 'cancelled' else outcome end, ended_at = case when is_over then now() else ended_at end,
         reason = case when not is_over then reason else ${cancelReason(`case when state = 'running' then 'cancelled; its worker was lost'
           when started_at is null then 'cancelled before it ran' else 'cancelled' end`)} end
       from (select r.id as target, state in ('queued', 'waiting') or w.id is null as is_over from skillwright.runs r
         left join skillwright.workers w on w.id = r.worker and w.seen_at > now() - interval '10 seconds') found
       where id = target and id = $1 and project = $2 and state <> 'ended' returning ${COLUMNS}`,
      [id, project],
    );
    const [cancelled] = rows;
    if (cancelled?.state === 'ended') await announce(client, id);
    return cancelled;
  });
  if (run === undefined) return readRow(pool, project, id);
  // Not in the transaction: it takes a second connection, and many transactions that wait for one would wait for each other.
  if (run.state === 'ended') await removeEntry(queue, { run: id, attempt: run.attempt });
  return run;
}

const OVERDUE_AT_ONCE = 100;

/** Cancels runs whose timeout has passed; returns their ids. */
export async function cancelOverdue(database: RunDatabase): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ id: string; project: string }>(
    `select id, project from skillwright.runs where deadline <= now() and deadline is not null
       and state in ('queued', 'running', 'waiting') and not is_cancelled limit ${String(OVERDUE_AT_ONCE)}`,
  );
  for (const { project, id } of rows) await cancelRun(database, project, id);
  return rows.map(({ id }) => id);
}
