/** States of runs and their places in the queue: what disagrees is found and repaired, and nothing is decided by a row that is about to change. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ApprovalRequest } from '../../src/core/approval.ts';
import { answerQuestion, continueAnswered, openApprovalTable } from '../../src/fleet/approval-table.ts';
import { inTransaction, type Database } from '../../src/fleet/database.ts';
import { leaveRun, returnRun, takeOverRuns } from '../../src/fleet/hand-over.ts';
import { ensureProject } from '../../src/fleet/keys.ts';
import { metricsText } from '../../src/fleet/metrics.ts';
import { openFleet, type Fleet } from '../../src/fleet/open-fleet.ts';
import { reconcile } from '../../src/fleet/reconcile.ts';
import { appendRecords } from '../../src/fleet/run-store.ts';
import { cancelRun, claimRun, submitRun } from '../../src/fleet/run-table.ts';
import { deliver } from '../../src/fleet/webhooks.ts';
import { verifies } from '../conformance/verifies.ts';
import { needs } from '../needs.ts';
import { until } from './fleet-processes.ts';
import { openPostgres, type Postgres } from './postgres.ts';

const OWNER = { actor: 'key', project: 'default' };
const QUESTION = { id: 'sha256:q', coverage: 'c', scopes: ['once', 'run'] } as unknown as ApprovalRequest;

describe('runs and the queue', { ...needs('postgresql'), timeout: 120_000 }, () => {
  let postgres: Postgres;
  let pool: Database;
  let fleet: Fleet;
  let number = 0;

  beforeAll(async () => {
    postgres = await openPostgres();
    fleet = await openFleet({ database: postgres.url, env: {}, connections: 20 });
    ({ pool } = fleet);
    await ensureProject(pool, 'default');
    await pool.query(`insert into skillwright.skill_sets (id, skills) values ('none', '[]')`);
    // Workers of other tests count as lost only after the database has run for a while.
    await until(async () => {
      const { rows } = await pool.query<{ up: boolean }>(
        `select pg_postmaster_start_time() < now() - interval '3 seconds' as up`,
      );
      return rows[0]?.up === true;
    });
  });

  beforeEach(async () => {
    await pool.query('truncate skillwright.runs, skillwright.workers, skillwright.totals, skillwright.audit cascade');
    await pool.query('truncate dbos.workflow_status cascade');
  });

  afterAll(async () => {
    await fleet.close();
    postgres.close();
  });

  const submit = async (more: object = {}): Promise<string> => {
    number += 1;
    const id = `20261117T${String(number).padStart(6, '0')}Z-00000000`;
    await submitRun(fleet, { id, request: 'r', skillSet: 'none', ...more }, OWNER);
    return id;
  };
  const seen = (worker: string, ago = '0 seconds'): Promise<unknown> =>
    pool.query(
      `insert into skillwright.workers (id, host, version, format, slots, seen_at) values ($1, 'h', '1', 1, 1, now() - $2::interval)
       on conflict (id) do update set seen_at = excluded.seen_at`,
      [worker, ago],
    );
  const claim = async (run: string, worker = 'w', attempt = 1): Promise<void> => {
    await seen(worker);
    expect(await claimRun(pool, { run, attempt, worker })).toMatchObject({ state: 'running', worker });
    await pool.query(
      `update dbos.workflow_status set status = 'PENDING', executor_id = $2, updated_at = 0 where workflow_uuid = $1 || '/' || $3::text`,
      [run, worker, attempt],
    );
  };
  const finishEntry = (run: string, attempt = 1): Promise<unknown> =>
    pool.query(`update dbos.workflow_status set status = 'SUCCESS' where workflow_uuid = $1 || '/' || $2::text`, [
      run,
      attempt,
    ]);
  const wait = async (run: string): Promise<void> => {
    await claim(run);
    expect(await openApprovalTable(pool, run)(QUESTION, {})).toBe('pending');
    expect(await appendRecords(fleet, { run, attempt: 1, worker: 'w' }, [], { state: 'waiting' })).toBe(true);
    await finishEntry(run);
  };
  const shown = async (run: string): Promise<unknown> => {
    const { rows } = await pool.query<object>(
      `select state, attempt, outcome, reason, queued_because as because from skillwright.runs where id = $1`,
      [run],
    );
    return rows[0];
  };
  const places = (): readonly string[] =>
    postgres
      .query(
        `select workflow_uuid from dbos.workflow_status where status in ('ENQUEUED', 'DELAYED', 'PENDING') order by priority, created_at`,
      )
      .split('\n')
      .filter((name) => name !== '');
  /** A pass as if the last one was long ago. */
  const pass = async (): Promise<readonly string[]> => {
    await pool.query(`update skillwright.reconciler set passed_at = '-infinity'`);
    return (await reconcile(fleet, 'test')).map(({ run, found }) => `${run} ${found}`);
  };
  const passes = async (): Promise<readonly string[]> => {
    const found = [];
    for (let i = 0; i < 3; i += 1) found.push(...(await pass()));
    return found.toSorted();
  };

  verifies(
    'DIST-2',
    'every run whose state and place in the queue disagree is repaired, and the others are left alone',
    async () => {
      const fine = [await submit(), await submit({ delaySeconds: 3_600 }), await submit(), await submit()];
      await claim(fine[2] ?? '');
      await wait(fine[3] ?? '');

      const finished = await submit();
      await finishEntry(finished);
      const removed = await submit({ delaySeconds: 60 });
      await pool.query(`delete from dbos.workflow_status where workflow_uuid = $1 || '/1'`, [removed]);
      const answered = await submit();
      await wait(answered);
      await pool.query(`update skillwright.approvals set verdict = 'yes' where run = $1`, [answered]);
      const cancelledQueued = await submit();
      const cancelledWaiting = await submit();
      await wait(cancelledWaiting);
      await pool.query('update skillwright.runs set is_cancelled = true where id = any($1)', [
        [cancelledQueued, cancelledWaiting],
      ]);
      const ended = await submit({ delaySeconds: 60 });
      await pool.query(
        `update skillwright.runs set state = 'ended', outcome = 'cancelled', ended_at = now() where id = $1`,
        [ended],
      );
      const before = await Promise.all(fine.map(shown));

      expect(await passes()).toEqual(
        [
          `${finished} entry-missing`,
          `${removed} entry-missing`,
          `${answered} answered-waiting`,
          `${cancelledQueued} cancelled-open`,
          `${cancelledWaiting} cancelled-open`,
          `${ended} entry-stale`,
        ].toSorted(),
      );
      expect(await passes()).toEqual([]);
      expect(await Promise.all(fine.map(shown))).toEqual(before);
      const queued = { state: 'queued', attempt: 2, outcome: null, reason: null };
      expect(await Promise.all([finished, removed, answered, cancelledQueued, cancelledWaiting].map(shown))).toEqual([
        { ...queued, because: 'it had no place in the queue' },
        { ...queued, because: 'it had no place in the queue' },
        { ...queued, because: 'it waited although its questions had answers' },
        expect.objectContaining({ state: 'ended', outcome: 'cancelled', reason: 'cancelled before it ran' }),
        expect.objectContaining({ state: 'ended', outcome: 'cancelled', reason: 'cancelled' }),
      ]);
      expect(places().toSorted()).toEqual(
        [
          `${fine[0] ?? ''}/1`,
          `${fine[1] ?? ''}/1`,
          `${fine[2] ?? ''}/1`,
          ...[finished, removed, answered].map((run) => `${run}/2`),
        ].toSorted(),
      );
      const text = await metricsText(pool, 'default');
      expect(text.split('\n')).toEqual(
        expect.arrayContaining([
          'skillwright_repairs_total{found="entry-missing"} 2',
          'skillwright_repairs_total{found="answered-waiting"} 1',
          'skillwright_repairs_total{found="cancelled-open"} 2',
          'skillwright_repairs_total{found="entry-stale"} 1',
        ]),
      );
      expect(
        postgres.query(`select target from skillwright.audit where act = 'run-repair' order by 1`).split('\n'),
      ).toEqual([finished, removed, answered, cancelledQueued, cancelledWaiting, ended].toSorted());
    },
  );

  verifies('DIST-2', 'twenty processes that repair the same runs at once repair each once', async () => {
    const runs = await Promise.all(Array.from({ length: 30 }, () => submit()));
    for (const run of runs.slice(0, 15)) await finishEntry(run);
    for (const run of runs.slice(15)) await claim(run, 'lost');
    await seen('lost', '1 minute');
    const found = await Promise.all(
      Array.from({ length: 20 }, async () => [
        ...(await takeOverRuns(fleet, 'test')).map(({ run }) => run),
        ...(await pass()).map((text) => text.split(' ')[0]),
      ]),
    );
    expect(found.flat().map(String).toSorted()).toEqual(runs);
    expect(places().toSorted()).toEqual(runs.map((run) => `${run}/2`));
  });

  test('a pass looks at one page by an index, and the next one goes on after it', async () => {
    await pool.query(
      `insert into skillwright.runs (id, project, request, options, skill_set, format, state, submitted_by)
       select 'r' || lpad(n::text, 5, '0'), 'default', 'r', '{}', 'none', 1, 'queued', 'k' from generate_series(1, 1200) n`,
    );
    await pool.query(
      `insert into dbos.workflow_status (workflow_uuid, status, name, queue_name, priority, application_version, application_name, recovery_attempts)
       select id || '/1', 'ENQUEUED', 'run', 'runs', 0, 'format-1', 'skillwright', 0 from skillwright.runs
       where id not in ('r00001', 'r00700', 'r01200')`,
    );
    await pool.query(`update skillwright.reconciler set cursors = '{}'`);
    expect([await pass(), await pass(), await pass(), await pass()]).toEqual([
      ['r00001 entry-missing'],
      ['r00700 entry-missing'],
      ['r01200 entry-missing'],
      [],
    ]);
    // Only one of two passes at the same time is made.
    await pool.query(`update skillwright.reconciler set passed_at = '-infinity', cursors = '{}'`);
    await finishEntry('r00001', 2);
    const both = await Promise.all([reconcile(fleet, 'a'), reconcile(fleet, 'b')]);
    expect(both.flat().map(({ run }) => run)).toEqual(['r00001']);
    await pool.query(
      `insert into skillwright.runs (id, project, request, options, skill_set, format, state, submitted_by)
       select 'a' || n, 'default', 'r', '{}', 'none', 1, 'ended', 'k' from generate_series(10000, 20000) n`,
    );
    await pool.query('analyze skillwright.runs');
    for (const state of ['queued', 'waiting', 'running']) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
        `explain select id, attempt, is_cancelled from skillwright.runs where state = '${state}' and id > '' order by id limit 500`,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Index Scan using runs_open/);
    }
  });

  test('an answer that is committed while its run begins to wait continues the run', async () => {
    const run = await submit();
    await claim(run);
    await openApprovalTable(pool, run)(QUESTION, {});
    const answer = (): Promise<void> =>
      answerQuestion(fleet, { run, id: QUESTION.id, verdict: 'yes', scope: 'once' }, OWNER);
    // The worker has stored that the run waits, and has not committed it yet.
    const answering = await inTransaction(pool, async (worker) => {
      await worker.query(`update skillwright.runs set state = 'waiting', worker = null where id = $1`, [run]);
      const pending = answer();
      await until(async () => {
        const { rows } = await pool.query<{ waits: boolean }>(
          `select exists (select 1 from pg_stat_activity where wait_event_type = 'Lock') as waits`,
        );
        return rows[0]?.waits === true;
      });
      return { pending };
    });
    await answering.pending;
    await continueAnswered(fleet, run);
    expect(await shown(run)).toMatchObject({ state: 'queued', attempt: 2 });
    expect(places()).toContain(`${run}/2`);
    await expect(answer()).rejects.toThrow('waits for an answer');
  });

  test('a run that is cancelled while it begins to wait ends', async () => {
    const run = await submit();
    await claim(run);
    expect(await cancelRun(fleet, 'default', run)).toMatchObject({ state: 'running', isCancelled: true });
    expect(await appendRecords(fleet, { run, attempt: 1, worker: 'w' }, [], { state: 'waiting' })).toBe(true);
    expect(await shown(run)).toMatchObject({ state: 'ended', outcome: 'cancelled', reason: 'cancelled' });
    // The other order, with the change of the worker not committed yet.
    const other = await submit();
    await claim(other);
    const cancelling = await inTransaction(pool, async (worker) => {
      await worker.query(`update skillwright.runs set state = 'waiting', worker = null where id = $1`, [other]);
      const pending = cancelRun(fleet, 'default', other);
      await sleep(200);
      return { pending };
    });
    expect(await cancelling.pending).toMatchObject({ state: 'ended', outcome: 'cancelled' });
  });

  test('the use of an answer can be repeated when it was not heard, and nothing else uses the answer again', async () => {
    const run = await submit();
    await claim(run);
    const ask = async (reached?: <T>(act: () => Promise<T>) => Promise<T>): Promise<unknown> =>
      openApprovalTable(pool, run, reached)(QUESTION, {});
    await ask();
    await answerQuestion(fleet, { run, id: QUESTION.id, verdict: 'no', note: 'not today' }, OWNER);
    const said = { verdict: 'no', scope: 'once', by: 'callback', reason: 'not today' };
    expect(
      await ask(async (act) => {
        await act();
        return act();
      }),
    ).toEqual(said);
    expect(await ask()).toBe('pending');
    // A yes for the whole run does not cover a call that was refused.
    const other = { ...QUESTION, id: 'sha256:other' };
    await openApprovalTable(pool, run)(other, {});
    await answerQuestion(fleet, { run, id: other.id, verdict: 'yes', scope: 'run' }, OWNER);
    await answerQuestion(fleet, { run, id: QUESTION.id, verdict: 'no', note: 'not today' }, OWNER);
    expect(await ask()).toEqual(said);
  });

  test('runs that come back keep their place before those that were submitted later', async () => {
    const [returned, waiting, lost, left, later] = [
      await submit(),
      await submit(),
      await submit(),
      await submit(),
      await submit(),
    ];
    await claim(returned);
    await returnRun(fleet, { run: returned, attempt: 1, worker: 'w' }, 'drained');
    await wait(waiting);
    await answerQuestion(fleet, { run: waiting, id: QUESTION.id, verdict: 'yes' }, OWNER);
    await claim(lost, 'gone');
    await seen('gone', '1 minute');
    await takeOverRuns(fleet, 'test');
    await leaveRun(fleet, { run: left, attempt: 1 });
    await finishEntry(returned);
    await finishEntry(lost);
    await finishEntry(left);
    expect(places()).toEqual([`${returned}/2`, `${waiting}/2`, `${lost}/2`, `${left}/2`, `${later}/1`]);
  });

  test('every way to end is counted once', async () => {
    const [done, cancelled, aside, lost, running] = [
      await submit(),
      await submit(),
      await submit(),
      await submit(),
      await submit(),
    ];
    await claim(done);
    await appendRecords(fleet, { run: done, attempt: 1, worker: 'w' }, [], {
      state: 'ended',
      outcome: 'done',
      answer: '',
      reason: '',
    });
    await cancelRun(fleet, 'default', cancelled);
    await claim(aside, 'gone');
    await pool.query('update skillwright.runs set crashes = 2 where id = $1', [aside]);
    await claim(lost, 'gone');
    await pool.query('update skillwright.runs set is_cancelled = true where id = $1', [lost]);
    await seen('gone', '1 minute');
    await takeOverRuns(fleet, 'test');
    await claim(running, 'gone too');
    await seen('gone too', '1 minute');
    await cancelRun(fleet, 'default', running);
    expect(
      (await metricsText(pool, 'default'))
        .split('\n')
        .filter((line) => /^skillwright_(?:runs_ended|run_seconds_c)/.test(line)),
    ).toEqual([
      'skillwright_runs_ended_total{outcome="cancelled"} 3',
      'skillwright_runs_ended_total{outcome="done"} 1',
      'skillwright_runs_ended_total{outcome="failed"} 1',
      'skillwright_run_seconds_count 5',
    ]);
    expect(await shown(lost)).toMatchObject({ outcome: 'cancelled', reason: 'cancelled; its worker was lost' });
  });

  test('the time of a schedule that a lost worker took is given to another one', async () => {
    await seen('alive');
    for (const worker of ['alive', 'gone'])
      await pool.query(
        `insert into dbos.workflow_status (workflow_uuid, status, name, executor_id, queue_name, application_version, application_name, recovery_attempts)
         values ($1, 'PENDING', 'scheduled-run', $2, '_dbos_internal_queue', 'format-1', 'skillwright', 1)`,
        [`sched-${worker}`, worker],
      );
    await pool.query('update dbos.workflow_status set updated_at = 0');
    await pass();
    expect(postgres.query('select workflow_uuid, status from dbos.workflow_status order by 1').split('\n')).toEqual([
      'sched-alive|PENDING',
      'sched-gone|ENQUEUED',
    ]);
  });

  test('a delivery whose last try was interrupted is given up instead of waiting for ever', async () => {
    await pool.query(
      `insert into skillwright.webhooks (id, project, url, secret) values ('h', 'default', 'https://example.com', 's')`,
    );
    await pool.query(
      `insert into skillwright.deliveries (webhook, body, tries, due_at) values ('h', '{}', 8, now() - interval '1 hour')`,
    );
    expect(await deliver(pool, new AbortController().signal, [])).toBe(0);
    expect(postgres.query('select done_at is not null, problem from skillwright.deliveries')).toBe(
      't|the last try was interrupted',
    );
  });
});
