/** What each route of the fleet API does, for the owner of a key. */
import {
  Answered,
  ApprovalAnswer,
  conflict,
  eventRoute,
  httpError,
  jsonRoute,
  readingRoutes,
  type Route,
} from '#server';
import * as api from './api.ts';
import { defined } from '#core';
import { answerQuestion, listQuestions, openFleetApprovals } from './approval-table.ts';
import { consoleRoutes } from './console-routes.ts';
import type { FleetContext } from './context.ts';
import { newestActs, recordAct } from './audit.ts';
import { fleetState } from './fleet-state.ts';
import { createKey, hasRight, listKeys, needRight, revokeKey, type Identity, type Right } from './keys.ts';
import { followStored } from './follow-stored.ts';
import { newRunId } from '#journal';
import { cancelRun } from './cancel-run.ts';
import { newestRuns, readRow, submitRun, type FleetRun } from './run-table.ts';
import { openStoredRecords } from './stored-records.ts';
import { addWebhook, listWebhooks, removeWebhook } from './webhooks.ts';

export function fleetRoutes(context: FleetContext, identity: Identity): readonly Route[] {
  const { pool, queue, schedules } = context;
  const { project } = identity;
  const need = (right: Right): void => needRight(identity, right);
  /** What a key may know of a run that it submitted or cancelled. */
  const receipt = (run: FleetRun) => shown(hasRight(identity, 'read') ? run : { ...run, ...UNREADABLE });
  const did = (act: string, target: string, detail: object = {}): Promise<void> =>
    recordAct(pool, identity, { act, target, detail });
  const found = async (id = ''): Promise<FleetRun> => {
    const run = await readRow(pool, project, id);
    if (run === undefined) throw httpError(404, 'there is no such run', 'GET /api/v1/runs lists the runs');
    return run;
  };
  const book = openFleetApprovals(pool, queue, identity);
  const records = openStoredRecords(context, project);
  const reading =
    context.page === undefined
      ? readingRoutes(records).filter(isIntegrity)
      : consoleRoutes(context, context.page, identity, records);
  return [
    ...reading.map((route): Route => ({
      ...route,
      handle(call) {
        need('read');
        return route.handle(call);
      },
    })),
    jsonRoute(
      'POST /runs',
      'Submit a run',
      { body: api.Submission, answer: api.Run, status: 201 },
      async ({ body }) => {
        need('submit');
        const { request, skills, budget, vocabulary, priority, delaySeconds, idempotencyKey, traceparent } = body;
        const run = await submitRun(
          pool,
          queue,
          {
            id: newRunId(new Date()),
            skillSet: await context.skillSet(),
            request,
            options: {
              required: skills,
              budget: budget === undefined ? undefined : defined(budget),
              vocabulary,
              trace: traceparent?.slice(3, -3),
            },
            priority,
            delaySeconds,
            idempotencyKey,
          },
          identity,
        );
        return receipt(run);
      },
    ),
    jsonRoute(
      'GET /fleet/runs',
      'List the states of runs, newest first',
      { query: api.RunListQuery, answer: api.RunList },
      async ({ query: { limit, before } }) => {
        need('read');
        const runs = await newestRuns(pool, project, { limit, before });
        return { runs: runs.map(shown), next: runs.length === limit ? (runs.at(-1)?.id ?? null) : null };
      },
    ),
    jsonRoute(
      'GET /fleet/runs/{id}',
      'Show the state of a run; cheap, for programs that wait',
      { answer: api.Run },
      async ({ params }) => {
        need('read');
        return shown(await found(params['id']));
      },
    ),
    eventRoute('/runs/{id}/events', 'Stream the events of a run', {}, async ({ params, signal, lastEventId }) => {
      need('read');
      const { id } = await found(params['id']);
      return followStored(pool, { run: id, project }, { signal, lastEventId });
    }),
    jsonRoute('POST /runs/{id}/cancel', 'Cancel a run', { answer: api.Run }, async ({ params }) => {
      need('submit');
      const { id } = await found(params['id']);
      const run = await cancelRun(pool, queue, project, id);
      await did('run-cancel', id);
      return receipt(run ?? (await found(id)));
    }),
    jsonRoute(
      'GET /approvals',
      'List questions that wait for an answer, oldest first',
      { answer: api.QuestionList },
      async () => {
        need('approve');
        const questions = await listQuestions(pool, project);
        return {
          ...(await book.list()),
          questions: questions.map(({ askedAt, ...rest }) => ({ ...rest, askedAt: askedAt.toISOString() })),
        };
      },
    ),
    jsonRoute(
      'POST /approvals/{id}',
      'Answer a question by the id in the list; the first answer counts',
      { body: ApprovalAnswer, answer: Answered },
      async ({ params: { id = '' }, body }) => {
        need('approve');
        await book.answer(id, body);
        const { verdict, scope } = body;
        await did('approval-answer', id.replace('/', ' '), { verdict, scope });
        return { id, verdict, scope };
      },
    ),
    jsonRoute(
      'POST /approvals/{run}/{id}',
      'Answer a question; the run goes on',
      { body: api.QuestionAnswer, answer: api.Done },
      async ({ params, body: { verdict, scope, note } }) => {
        need('approve');
        const { run = '', id = '' } = params;
        await answerQuestion(pool, queue, { run, id, verdict, scope, note }, identity).catch((error: unknown) => {
          throw conflict(error);
        });
        await did('approval-answer', `${run} ${id}`, { verdict, scope });
        return { done: true };
      },
    ),
    jsonRoute('GET /fleet', 'Show workers, and the runs of this project by state', { answer: api.Fleet }, async () => {
      need('read');
      return fleetState(pool, project);
    }),
    jsonRoute('GET /keys', 'List the keys of this project', { answer: api.KeyList }, async () => {
      need('admin');
      return { keys: (await listKeys(pool, project)).map(shownKey) };
    }),
    jsonRoute(
      'POST /keys',
      'Create a key for this project',
      { body: api.NewKey, answer: api.CreatedKey, status: 201 },
      async ({ body }) => {
        need('admin');
        const { key, secret } = await createKey(pool, { ...body, project }, identity.actor);
        return { key: shownKey(key), secret };
      },
    ),
    jsonRoute('DELETE /keys/{id}', 'Revoke a key', { answer: api.Done }, async ({ params: { id = '' } }) => {
      need('admin');
      if (!(await revokeKey(pool, identity, id))) throw httpError(404, 'there is no such key');
      return { done: true };
    }),
    jsonRoute('GET /webhooks', 'List webhooks', { answer: api.WebhookList }, async () => {
      need('admin');
      return { webhooks: (await listWebhooks(pool, project)).map(withTime) };
    }),
    jsonRoute(
      'POST /webhooks',
      'Send a signed request for each run that ends',
      { body: api.NewWebhook, answer: api.CreatedWebhook, status: 201 },
      async ({ body: { url } }) => {
        need('admin');
        const webhook = await addWebhook(pool, project, url, context.webhooksTo ?? []);
        await did('webhook-create', webhook.id, { url });
        return withTime(webhook);
      },
    ),
    jsonRoute('DELETE /webhooks/{id}', 'Remove a webhook', { answer: api.Done }, async ({ params: { id = '' } }) => {
      need('admin');
      if (!(await removeWebhook(pool, project, id))) throw httpError(404, 'there is no such webhook');
      await did('webhook-remove', id);
      return { done: true };
    }),
    jsonRoute('GET /schedules', 'List scheduled runs', { answer: api.ScheduleList }, async () => {
      need('read');
      return { schedules: await schedules.list(project) };
    }),
    jsonRoute(
      'POST /schedules',
      'Submit a run at regular times',
      { body: api.NewSchedule, answer: api.Done, status: 201 },
      async ({ body }) => {
        need('admin');
        await schedules.add(identity, body, await context.skillSet());
        await did('schedule-create', body.name, { cron: body.cron });
        return { done: true };
      },
    ),
    jsonRoute(
      'DELETE /schedules/{name}',
      'Remove a schedule',
      { answer: api.Done },
      async ({ params: { name = '' } }) => {
        need('admin');
        if (!(await schedules.remove(project, name)))
          throw httpError(404, 'there is no such schedule', 'GET /api/v1/schedules lists the schedules');
        await did('schedule-remove', name);
        return { done: true };
      },
    ),
    jsonRoute(
      'GET /audit',
      'List who did what, newest first',
      { query: api.AuditQuery, answer: api.AuditList },
      async ({ query: { limit, before } }) => {
        need('admin');
        const acts = await newestActs(pool, project, { limit, before });
        return { acts: acts.map(({ at, ...rest }) => ({ ...rest, at: at.toISOString() })) };
      },
    ),
  ];
}

function isIntegrity({ path }: Route): boolean {
  return path === '/runs/{id}/integrity';
}

/** A key without the right to read learns of a run only its id and its state. */
const UNREADABLE = {
  request: '',
  outcome: null,
  answer: null,
  reason: null,
  attempt: 0,
  worker: null,
  used: null,
  submittedBy: '',
} as const;

function shown(run: FleetRun) {
  const { id, state, request, outcome, answer, reason, attempt, worker, used, submittedBy } = run;
  return {
    run: id,
    state,
    request,
    outcome,
    answer,
    reason,
    attempt,
    worker,
    used: used === null ? null : { ...used },
    submittedBy,
    submittedAt: run.submittedAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
    events: `/api/v1/runs/${id}/events`,
  };
}

function shownKey(key: Awaited<ReturnType<typeof listKeys>>[number]) {
  return { ...key, createdAt: key.createdAt.toISOString(), revokedAt: key.revokedAt?.toISOString() ?? null };
}

function withTime<T extends { readonly createdAt: Date }>(
  value: T,
): Omit<T, 'createdAt'> & { readonly createdAt: string } {
  return { ...value, createdAt: value.createdAt.toISOString() };
}
