/** Questions of runs to people, in the database. An answer is used once, whichever worker continues the run. */
import { randomUUID } from 'node:crypto';

import type { Pool, PoolClient } from 'pg';

import { APPROVAL_SCOPES, quoted, type ApprovalAnswer, type ApprovalRequest, type Approve } from '#core';
import { httpError, type sharedRoutes } from '#server';
import { inTransaction, storableJson, storableText } from './database.ts';
import { continueRun } from './hand-over.ts';
import { recordAct } from './keys.ts';
import type { QueuedRun, RunDatabase, Submitter } from './queue.ts';

/**
 * Answers of people to the questions of one run. A question without an answer is left in the table, and the run waits. `reached` repeats a
 * statement whose answer was not heard.
 */
export function openApprovalTable(
  pool: Pool,
  run: string,
  reached: <T>(act: () => Promise<T>) => Promise<T> = (act) => act(),
): Approve {
  return async (request) => {
    // Names this use of the answer, so that a repeated statement finds what it has used before.
    const use = randomUUID();
    const { rows } = await reached(() =>
      pool.query<{ verdict: 'yes' | 'no'; scope: ApprovalAnswer['scope']; note: string | null }>(
        `update skillwright.approvals set used_at = now(), used_by = $4
         where run = $1 and id = (select id from skillwright.approvals where run = $1 and verdict is not null
           and ((id = $2 and (used_at is null or used_by = $4)) or (scope = 'run' and question->>'coverage' = $3))
           order by id = $2 desc, answered_at desc limit 1)
         returning verdict, scope, note`,
        [run, request.id, storableText(request.coverage), use],
      ),
    );
    const [answered] = rows;
    if (answered !== undefined) {
      const { verdict, scope, note } = answered;
      return { verdict, scope, by: 'callback', reason: note ?? undefined };
    }
    await reached(() =>
      pool.query(
        `insert into skillwright.approvals (run, id, question) values ($1, $2, $3)
         on conflict (run, id) do update set verdict = null, scope = null, note = null, answered_by = null, answered_at = null,
           used_at = null, used_by = null, asked_at = now() where approvals.used_at is not null`,
        [run, request.id, storableJson(request)],
      ),
    );
    return 'pending';
  };
}

/** Whether a question of an attempt has no answer yet, or one that came before the attempt ended. */
export async function hasPendingQuestions(pool: Pool, { run, attempt }: QueuedRun): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select 1 from skillwright.approvals a join skillwright.attempts t on t.run = a.run and t.attempt = $2
     where a.run = $1 and (a.verdict is null or (a.used_at is null and a.asked_at >= t.started_at)) limit 1`,
    [run, attempt],
  );
  return rowCount !== 0;
}

export async function continueAnswered({ pool, queue }: RunDatabase, run: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockRun(client, run);
    if (await isAnswered(client, run)) await continueRun(client, queue, run);
  });
}

/**
 * An answer and a run that begins to wait for it must not miss each other: both lock the row of the run before they look at the other. Rows
 * that refer to the run may be added meanwhile.
 */
async function lockRun(client: PoolClient, run: string): Promise<void> {
  await client.query('select 1 from skillwright.runs where id = $1 for no key update', [run]);
}

/** Whether no question of a run is open. The caller has locked the row of the run. */
export async function isAnswered(client: PoolClient, run: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'select 1 from skillwright.approvals where run = $1 and verdict is null limit 1',
    [run],
  );
  return rowCount === 0;
}

/** Answered ones make room for the next. */
const MAX_LISTED = 1_000;

export interface QuestionAnswer {
  readonly run: string;
  readonly id: string;
  readonly verdict: 'yes' | 'no';
  readonly scope?: ApprovalAnswer['scope'];
  readonly note?: string;
}

/** Answers a question and continues the run, in one transaction. Throws a 409 if it does not wait for this answer. */
export async function answerQuestion(
  { pool, queue }: RunDatabase,
  { run, id, verdict, scope = 'once', note }: QuestionAnswer,
  { actor, project }: Submitter,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockRun(client, run);
    const { rows } = await client.query<{ question: ApprovalRequest }>(
      `select a.question from skillwright.approvals a join skillwright.runs r on r.id = a.run
       where a.run = $1 and a.id = $2 and a.verdict is null and r.project = $3 and r.state <> 'ended' for update of a`,
      [run, id, project],
    );
    const [asked] = rows;
    if (asked === undefined)
      throw httpError(
        409,
        `no question ${quoted(id, 80)} of ${quoted(run)} waits for an answer`,
        'pass a waiting question',
      );
    const offered = offeredScopes(asked.question);
    if (verdict === 'yes' && !offered.includes(scope))
      throw httpError(409, `this question cannot be answered for ${quoted(scope)}`, `pass ${offered.join(', ')}`);
    await client.query(
      `update skillwright.approvals set verdict = $3, scope = $4, note = $5, answered_by = $6, answered_at = now()
       where run = $1 and id = $2`,
      [run, id, verdict, scope, note ?? null, actor],
    );
    await continueRun(client, queue, run);
  });
  await recordAct(
    pool,
    { actor, project },
    { act: 'approval-answer', target: `${run} ${id}`, detail: { verdict, scope } },
  );
}

/** The questions of a project for the API. An id names the run too: `RUN/QUESTION`. */
export function openFleetApprovals(
  database: RunDatabase,
  owner: Submitter,
): Parameters<typeof sharedRoutes>[0]['book'] {
  return {
    async list() {
      const { rows } = await database.pool.query<{ run: string; id: string; question: ApprovalRequest; askedAt: Date }>(
        `select a.run, a.id, a.question, a.asked_at as "askedAt" from skillwright.approvals a
         join skillwright.runs r on r.id = a.run
         where r.project = $1 and r.state in ('queued', 'running', 'waiting') and a.verdict is null order by a.asked_at limit ${String(MAX_LISTED)}`,
        [owner.project],
      );
      return {
        waiting: rows.map(({ run, id, question, askedAt }) => ({
          request: { ...question, id: `${run}/${id}`, scopes: offeredScopes(question) },
          at: askedAt.toISOString(),
          run,
        })),
        questions: rows.map(({ askedAt, ...rest }) => ({ ...rest, askedAt: askedAt.toISOString() })),
        stored: [],
        problems:
          rows.length < MAX_LISTED
            ? []
            : [`only the oldest ${String(MAX_LISTED)} questions are listed; answer some to see more`],
      };
    },
    answer(name, { verdict, scope, reason }) {
      const [, run = '', id = ''] = /^([^/]*)\/(.*)$/.exec(name) ?? [];
      return answerQuestion(database, { run, id, verdict, scope, note: reason }, owner);
    },
    revoke: () => Promise.resolve(0),
  };
}

/** An answer for a skill is stored in the home folder of one machine, so a fleet offers none. */
function offeredScopes({ scopes }: ApprovalRequest): readonly ApprovalAnswer['scope'][] {
  return APPROVAL_SCOPES.filter((one) => one !== 'skill' && scopes.includes(one));
}
