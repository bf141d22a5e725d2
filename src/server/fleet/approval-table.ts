/** Questions of runs to people, in the database. An answer is used once, whichever worker continues the run. */
import type { Pool } from 'pg';

import { APPROVAL_SCOPES } from '../../core/approval.ts';
import type { ApprovalAnswer, ApprovalRequest, ApprovalScope, Approve } from '../../core/approval.ts';
import { invalidInput } from './invalid-input.ts';
import { quoted } from '../../core/text/text.ts';
import { inTransaction } from './database.ts';
import type { RunQueue } from './run-queue.ts';
import { continueRun } from './run-table.ts';

export interface FleetQuestion {
  readonly run: string;
  readonly id: string;
  readonly question: ApprovalRequest;
  readonly askedAt: Date;
}

/** Answers of people to the questions of one run. A question without an answer is left in the table, and the run waits. */
export function openApprovalTable(pool: Pool, run: string): { readonly approve: Approve } {
  return {
    async approve(request) {
      const { rows } = await pool.query<{ verdict: 'yes' | 'no'; scope: ApprovalScope }>(
        `update skillwright.approvals set used_at = now()
         where run = $1 and verdict is not null
           and ((id = $2 and used_at is null) or (scope = 'run' and question->>'coverage' = $3))
         returning verdict, scope`,
        [run, request.id, request.coverage],
      );
      const [said] = rows;
      if (said !== undefined) {
        const answer: ApprovalAnswer = { verdict: said.verdict, scope: said.scope, by: 'callback' };
        return answer;
      }
      await pool.query(
        `insert into skillwright.approvals (run, id, question) values ($1, $2, $3)
         on conflict (run, id) do update set verdict = null, scope = null, note = null, answered_by = null, answered_at = null,
           used_at = null, asked_at = now() where approvals.used_at is not null`,
        [run, request.id, JSON.stringify(request)],
      );
      return 'pending';
    },
  };
}

/** How many questions of a run wait for an answer. */
export async function pendingQuestions(pool: Pool, run: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    'select count(*) from skillwright.approvals where run = $1 and verdict is null',
    [run],
  );
  return Number(rows[0]?.count ?? 0);
}

/** The questions of a project that wait for an answer, oldest first. */
export async function listQuestions(pool: Pool, project: string): Promise<readonly FleetQuestion[]> {
  const { rows } = await pool.query<FleetQuestion>(
    `select a.run, a.id, a.question, a.asked_at as "askedAt" from skillwright.approvals a
     join skillwright.runs r on r.id = a.run
     where r.project = $1 and r.state <> 'ended' and a.verdict is null order by a.asked_at limit 1000`,
    [project],
  );
  return rows;
}

export interface GivenAnswer {
  readonly run: string;
  readonly id: string;
  readonly verdict: 'yes' | 'no';
  readonly scope?: ApprovalScope;
  readonly note?: string;
}

/** Answers a question and continues the run, in one transaction. Throws `input/invalid` if it does not wait for an answer. */
export async function answerQuestion(
  pool: Pool,
  queue: RunQueue,
  { run, id, verdict, scope = 'once', note }: GivenAnswer,
  { actor, project }: { readonly actor: string; readonly project: string },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ question: ApprovalRequest }>(
      `select a.question from skillwright.approvals a join skillwright.runs r on r.id = a.run
       where a.run = $1 and a.id = $2 and a.verdict is null and r.project = $3 and r.state <> 'ended' for update of a`,
      [run, id, project],
    );
    const [asked] = rows;
    if (asked === undefined)
      throw invalidInput(`no question ${quoted(id, 80)} of ${quoted(run)} waits for an answer`, 'a waiting question');
    const offered = APPROVAL_SCOPES.filter((one) => one !== 'skill' && asked.question.scopes.includes(one));
    if (verdict === 'yes' && !offered.includes(scope))
      throw invalidInput(`this question cannot be answered for ${quoted(scope)}`, offered.join(', '));
    await client.query(
      `update skillwright.approvals set verdict = $3, scope = $4, note = $5, answered_by = $6, answered_at = now()
       where run = $1 and id = $2`,
      [run, id, verdict, scope, note ?? null, actor],
    );
    await continueRun(client, queue, run);
  });
}
