/** The routes of the fleet API for the owner of a key: those of the console, in the same shapes as on one machine, and those of a fleet. */
import { DEFAULT_BUDGET, defined, type HostPattern, type Surroundings } from '#core';
import { newRunId } from '#journal';
import type { Runtime } from '#runtime';
import { httpError, route, sharedRoutes, uploadRoutes } from '#server';
import { VERSION } from '../version.ts';
import * as api from './api.ts';
import { answerQuestion, openFleetApprovals } from './approval-table.ts';
import {
  createKey,
  hasRight,
  listKeys,
  needRight,
  newestActs,
  recordAct,
  revokeKey,
  type Identity,
  type Right,
} from './keys.ts';
import { fleetState } from './metrics.ts';
import type { Fleet } from './open-fleet.ts';
import { addSchedule, listSchedules, removeSchedule } from './queue.ts';
import { newestRuns } from './find-runs.ts';
import { listRunFiles } from './run-files.ts';
import { checkModel, findInputs, openStoredUploads } from './run-inputs.ts';
import { cancelRun, submitRun, type FleetRun } from './run-table.ts';
import { signLink } from './signed-links.ts';
import { findRun, openStoredRecords, type RecordFolders } from './stored-records.ts';
import { addWebhook, checkAddress, listWebhooks, removeWebhook } from './webhooks.ts';

/** What the console shows besides runs: the skills that submitted runs get, and the rules of this folder. */
interface FleetPage {
  readonly runtime: Runtime;
  readonly surroundings: Surroundings;
  readonly price?: Parameters<typeof sharedRoutes>[0]['options']['price'];
  readonly pages: string;
}

export interface FleetContext extends Fleet {
  /** A folder of this server, for records that are read. */
  readonly base: string;
  readonly folders: RecordFolders;
  readonly page: FleetPage;
  /** The skills of a run that is submitted now. */
  readonly skillSet: () => Promise<string>;
  /** Hosts that are not on the internet and may get webhooks (default: none). */
  readonly webhooksTo?: readonly HostPattern[];
}

type Route = ReturnType<typeof sharedRoutes>[number];

const CHANGE_MS = 500;
/** Bytes of a request. */
export const LIMITS = { bodyBytes: 1_048_576, uploadBytes: 33_554_432 };

export function fleetRoutes(context: FleetContext, identity: Identity): readonly Route[] {
  return [
    ...withRight(identity, 'read', [...pageRoutes(context, identity), ...stateRoutes(context, identity)]),
    ...withRight(identity, 'submit', submitRoutes(context, identity)),
    ...withRight(identity, 'admin', adminRoutes(context, identity)),
  ];
}

/** Questions need a right of their own. */
function withRight(identity: Identity, right: Right, routes: readonly Route[]): readonly Route[] {
  return routes.map((one) => ({
    ...one,
    async handle(call) {
      needRight(identity, one.path.startsWith('/approvals') ? 'approve' : right);
      return one.handle(call);
    },
  }));
}

function pageRoutes(context: FleetContext, identity: Identity): readonly Route[] {
  const { pool, page } = context;
  const { project } = identity;
  // Asked twice a second for each open page, so it reads open runs only.
  const state = async (): Promise<Readonly<Record<string, string | number>>> => {
    const { rows } = await pool.query<{ runs: number; active: number; newest: string | null; questions: string }>(
      `select count(*)::int as runs, count(*) filter (where state = 'running')::int as active,
         (select id || ' ' || state || ' ' || attempt from skillwright.runs where project = $1 order by submitted_at desc limit 1) as newest,
         (select coalesce(string_agg(a.run || a.id || a.asked_at, ' ' order by a.asked_at), '') from skillwright.approvals a
          join skillwright.runs r on r.id = a.run where r.project = $1 and r.state in ('queued', 'running', 'waiting') and a.verdict is null) as questions
       from skillwright.runs where project = $1 and state in ('queued', 'running', 'waiting')`,
      [project],
    );
    const [{ runs, active, newest, questions } = { runs: 0, active: 0, newest: '', questions: '' }] = rows;
    return {
      approvals: questions === '' ? 0 : questions.split('sha256:').length - 1,
      questions,
      answered: 0,
      runs,
      newest: newest ?? '',
      active,
      skills: page.runtime.index.indexHash,
    };
  };
  return sharedRoutes({
    options: page,
    surroundings: page.surroundings,
    records: openStoredRecords({ ...context, price: page.price }, project),
    book: openFleetApprovals(context, identity),
    state,
    pollMs: CHANGE_MS,
    status: async () => ({
      version: VERSION,
      project,
      model: 'fleet',
      reason: 'the workers of the fleet choose the model',
      isFleet: true,
      rights: (['submit', 'approve'] as const).filter((right) => hasRight(identity, right)),
      canInstall: false,
      canEvaluate: false,
      canChooseModel: false,
      runs: Number((await state())['active'] ?? 0),
      limits: { runs: 0, ...LIMITS },
      budget: { ...DEFAULT_BUDGET },
    }),
  });
}

function stateRoutes(context: FleetContext, identity: Identity): readonly Route[] {
  const { pool, queue } = context;
  const { project } = identity;
  return [
    route(
      'GET /fleet/runs',
      'List the states of runs, newest first',
      { query: api.RunListQuery, answer: api.RunList },
      async ({ query }) => {
        const { runs, next } = await newestRuns(pool, project, query);
        return { runs: runs.map(shown), next };
      },
    ),
    route(
      'GET /fleet/runs/{id}',
      'Show the state of a run; cheap, for programs that wait',
      { answer: api.Run },
      async ({ params: { id = '' } }) => shown(await findRun(pool, project, id)),
    ),
    route(
      'POST /runs/{id}/links',
      'Make a link to an output file or the answer of a run that works without a key for a time',
      { body: api.NewLink, answer: api.Link, status: 201 },
      async ({ params: { id = '' }, body: { file, seconds } }) => {
        await findRun(pool, project, id);
        if (file !== undefined && !(await listRunFiles(pool, project, id)).some(({ name }) => name === file))
          throw httpError(404, 'no such file', 'GET /api/v1/runs/ID lists the files of a run');
        const link = await signLink(pool, identity, { run: id, file, seconds });
        await recordAct(pool, identity, { act: 'link-create', target: id, detail: { file, seconds } });
        return api.Link.parse(link);
      },
    ),
    route(
      'POST /approvals/{run}/{id}',
      'Answer a question; the run goes on',
      { body: api.QuestionAnswer, answer: api.Done },
      async ({ params: { run = '', id = '' }, body }) => {
        await answerQuestion(context, { run, id, ...body }, identity);
        return { done: true };
      },
    ),
    route('GET /fleet', 'Show workers, and the runs of this project by state', { answer: api.Fleet }, () =>
      fleetState(pool, project),
    ),
    route('GET /schedules', 'List scheduled runs', { answer: api.ScheduleList }, async () => ({
      schedules: await listSchedules(queue, project),
    })),
  ];
}

function submitRoutes(context: FleetContext, identity: Identity): readonly Route[] {
  const { pool, skillSet, webhooksTo = [] } = context;
  const { project } = identity;
  /** A key without the right to read learns of a run only its id and its state. */
  const receipt = (run: FleetRun) => shown(hasRight(identity, 'read') ? run : { ...run, ...UNREADABLE });
  return [
    ...uploadRoutes(openStoredUploads(context, project)),
    route(
      'POST /runs',
      'Submit a run',
      { body: api.Submission, answer: api.Run, status: 201 },
      async ({ body: { skills, budget, vocabulary, traceparent, model, uploads, files, notify, ...submission } }) => {
        const inputs = await findInputs(pool, project, { uploads, files });
        if (model !== undefined) await checkModel(pool, model);
        const options = {
          required: skills,
          budget: budget === undefined ? undefined : defined(budget),
          vocabulary,
          model,
          files: inputs.length === 0 ? undefined : inputs,
          trace: traceparent?.slice(3, -3),
        };
        const run = {
          ...submission,
          id: newRunId(new Date()),
          skillSet: await skillSet(),
          options,
          notify: notify && { ...notify, url: checkAddress(notify.url, webhooksTo) },
        };
        return receipt(await submitRun(context, run, identity));
      },
    ),
    route('POST /runs/{id}/cancel', 'Cancel a run', { answer: api.Run }, async ({ params: { id = '' } }) => {
      await findRun(pool, project, id);
      const run = await cancelRun(context, project, id);
      await recordAct(pool, identity, { act: 'run-cancel', target: id });
      return receipt(run ?? (await findRun(pool, project, id)));
    }),
  ];
}

function adminRoutes({ pool, queue, skillSet, webhooksTo = [] }: FleetContext, identity: Identity): readonly Route[] {
  const { project } = identity;
  /** Records what was done, unless there was nothing to do it to. */
  const removed = async (isDone: boolean, kind: string, act: string, target: string): Promise<{ done: true }> => {
    if (!isDone) throw httpError(404, `there is no such ${kind}`, `GET /api/v1/${kind}s lists the ${kind}s`);
    if (act !== '') await recordAct(pool, identity, { act, target });
    return { done: true };
  };
  return [
    route('GET /keys', 'List the keys of this project', { answer: api.KeyList }, async () =>
      api.KeyList.parse({ keys: await listKeys(pool, project) }),
    ),
    route(
      'POST /keys',
      'Create a key for this project',
      { body: api.NewKey, answer: api.CreatedKey, status: 201 },
      async ({ body }) => api.CreatedKey.parse(await createKey(pool, { ...body, project }, identity.actor)),
    ),
    route('DELETE /keys/{id}', 'Revoke a key', { answer: api.Done }, async ({ params: { id = '' } }) =>
      removed(await revokeKey(pool, identity, id), 'key', '', id),
    ),
    route('GET /webhooks', 'List webhooks', { answer: api.WebhookList }, async () =>
      api.WebhookList.parse({ webhooks: await listWebhooks(pool, project) }),
    ),
    route(
      'POST /webhooks',
      'Send a signed request for each run that ends',
      { body: api.NewWebhook, answer: api.CreatedWebhook, status: 201 },
      async ({ body: { url } }) => {
        const webhook = await addWebhook(pool, project, url, webhooksTo);
        await recordAct(pool, identity, { act: 'webhook-create', target: webhook.id, detail: { url } });
        return api.CreatedWebhook.parse(webhook);
      },
    ),
    route('DELETE /webhooks/{id}', 'Remove a webhook', { answer: api.Done }, async ({ params: { id = '' } }) =>
      removed(await removeWebhook(pool, project, id), 'webhook', 'webhook-remove', id),
    ),
    route(
      'POST /schedules',
      'Submit a run at regular times',
      { body: api.NewSchedule, answer: api.Done, status: 201 },
      async ({ body }) => {
        await addSchedule(queue, identity, body, await skillSet());
        await recordAct(pool, identity, { act: 'schedule-create', target: body.name, detail: { cron: body.cron } });
        return { done: true };
      },
    ),
    route('DELETE /schedules/{name}', 'Remove a schedule', { answer: api.Done }, async ({ params: { name = '' } }) =>
      removed(await removeSchedule(queue, project, name), 'schedule', 'schedule-remove', name),
    ),
    route(
      'GET /audit',
      'List who did what, newest first',
      { query: api.AuditQuery, answer: api.AuditList },
      async ({ query }) => api.AuditList.parse({ acts: await newestActs(pool, project, query) }),
    ),
  ];
}

const UNREADABLE = {
  request: '',
  outcome: null,
  answer: null,
  reason: null,
  attempt: 0,
  worker: null,
  used: null,
  submittedBy: '',
  labels: {},
} as const;

function shown(run: FleetRun) {
  return api.Run.parse({ ...run, run: run.id, events: `/api/v1/runs/${run.id}/events` });
}
