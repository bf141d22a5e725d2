/** Routes that start, continue, fork and cancel runs, and move files in and out. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';
import { resumeAgent, type AgentOptions } from '#agent';
import { defined, describeAction, sliceStart, type Budget, type Model } from '#core';
import { readRun } from '#journal';
import { isInside, readSealKey, tryRealPath } from '#platform';
import { replayRun } from '#runtime';
import { ContinueRequest, ForkRequest, ReplayReport, StartRequest, Started, Uploaded } from '../api/runs.ts';
import type { ServerContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { API_PATH } from '../open-api.ts';
import { fileRoute, jsonRoute, type Immutable, type Route } from '../router.ts';
import { resolveRunAgent, filesIn } from '../run-starter.ts';
import { runFolder } from '../records.ts';
import { openUploads } from '../uploads.ts';

const UploadQuery = z.strictObject({ name: z.string().min(1).max(200) });

interface Continued {
  readonly id: string;
  readonly model: string | undefined;
  readonly budget: Partial<Budget>;
  readonly again?: boolean;
  readonly keepAnswers?: number;
  readonly request?: string;
}

export function runControlRoutes(context: ServerContext): readonly Route[] {
  const { options, surroundings, starter, closing } = context;
  const { runtime, directory, agent = {} } = options;
  const uploads = openUploads(() => starter.uploads, { isRunning: (run) => starter.find(run) !== undefined });

  return [
    jsonRoute(
      'POST /runs',
      'Start a run',
      { body: StartRequest, answer: Started, status: 201 },
      async ({ body: { request, model, budget, skills, uploads: given = [] } }) => {
        const files = given.map(uploadedFile);
        const chosen = await openModel(model);
        const run = await starter.start((parts, live) =>
          resolveRunAgent(options)(
            {
              ...agent,
              ...defined(parts),
              runtime,
              model: chosen,
              request,
              ...defined({ required: skills }),
              ...(files.length === 0 ? {} : { files }),
              ...(budget === undefined ? {} : { budget: { ...agent.budget, ...defined(budget) } }),
            },
            live,
          ),
        );
        uploads.use(given, run);
        return startedRun(run);
      },
    ),
    jsonRoute(
      'POST /runs/{id}/cancel',
      'Cancel a run of this server',
      { answer: z.object({ run: z.string() }) },
      ({ params: { id = '' } }) => {
        const started = starter.find(id);
        if (started === undefined)
          throw httpError(409, 'this server has no such run in progress', 'end a run of a terminal there');
        started.cancel();
        return { run: id };
      },
    ),
    jsonRoute(
      'POST /runs/{id}/resume',
      'Continue a run that was killed, waits for an approval, or exhausted a budget',
      { body: ContinueRequest, answer: Started, status: 201 },
      ({ params: { id = '' }, body: { model, budget, again = false } }) =>
        continueRun({ id, model, budget: defined(budget ?? {}), again }),
    ),
    jsonRoute(
      'POST /runs/{id}/fork',
      'Run again from a turn, with another model or another request; the record stays as it is',
      { body: ForkRequest, answer: Started, status: 201 },
      ({ params: { id = '' }, body: { model, budget, turn, request } }) =>
        continueRun({
          id,
          model,
          budget: defined(budget ?? {}),
          keepAnswers: turn,
          request,
        }),
    ),
    jsonRoute(
      'POST /runs/{id}/replay',
      'Repeat the recorded actions without writes and network, and compare the results',
      { answer: ReplayReport },
      async ({ params: { id = '' }, signal }) => {
        const key = surroundings.home === undefined ? undefined : readSealKey(surroundings.home);
        const { status, problems, remarks, steps } = await replayRun({
          runtime,
          path: runFolder(directory, id),
          sealKey: key,
          signal,
        });
        return {
          status,
          problems,
          remarks,
          steps: steps.map(({ call, action, same, expected, got, notRepeated }) => ({
            call,
            action: describeAction(action),
            isSame: same,
            expected: sliceStart(JSON.stringify(expected), 4_000),
            got: sliceStart(JSON.stringify(got), 4_000),
            note: notRepeated,
          })),
        };
      },
    ),
    {
      method: 'POST',
      path: '/uploads',
      summary: 'Upload a file for a run that starts next',
      query: UploadQuery,
      body: 'bytes',
      answer: Uploaded,
      status: 201,
      handle: ({ query, body }) =>
        Promise.resolve({ type: 'json', status: 201, value: storeUpload(UploadQuery.safeParse(query), body) }),
    },
    jsonRoute(
      'DELETE /uploads/{id}',
      'Remove an uploaded file',
      { answer: Uploaded.pick({ id: true }) },
      ({ params: { id = '' } }) => {
        if (!uploads.remove(id)) throw httpError(404, 'no such upload');
        return { id };
      },
    ),
    fileRoute(
      '/runs/{id}/files/{path}',
      'Download an output file of a run',
      {},
      ({ params: { id = '', path: name = '' } }) => {
        runFolder(directory, id);
        const folder = starter.outputs(id);
        // Only names that the list shows are read.
        if (!filesIn(folder).includes(name)) throw httpError(404, 'no such file');
        return {
          name: path.basename(name),
          mediaType: 'application/octet-stream',
          chunks: [readFileSync(path.join(folder, name))],
        };
      },
    ),
  ];

  async function openModel(name: string | undefined): Promise<Model> {
    if (name === undefined || name === '') return options.model;
    // Files of the machine are not models of a page.
    if (options.openModel === undefined || /^(?:scripted|cassette):/.test(name))
      throw httpError(400, 'this server uses one model', 'start it with another --model');
    return options.openModel(name, closing);
  }

  async function continueRun({
    id,
    model,
    budget,
    again = false,
    keepAnswers,
    request,
  }: Continued): Promise<Immutable<Started>> {
    const folder = runFolder(directory, id);
    const { info } = readRun(folder, { content: 'start' });
    const chosen = await openModel(model);
    const key = surroundings.home === undefined ? undefined : readSealKey(surroundings.home);
    let problems: readonly string[] = [];
    const run = await starter.start(async (parts, live) => {
      const resumed = await resumeAgent({
        runtime,
        path: folder,
        model: chosen,
        budget: { ...agent.budget, ...budget },
        mayBring: (file) => isOwnFile(file),
        again,
        projectInstructions: agent.projectInstructions,
        unapproved: agent.unapproved,
        keepAnswers,
        request,
        sealKey: key,
        ...withExecution(parts, live, info.executor !== null),
      });
      if (resumed.type === 'resumed') return resumed.result;
      ({ problems } = resumed);
      throw httpError(409, problems.join('; '));
    });
    return startedRun(run);
  }

  /** Files that came with a run from this page or lie in the project; a record grants no others. */
  function isOwnFile(file: string): boolean {
    const real = tryRealPath(file);
    return [starter.uploads, surroundings.cwd].some((folder) => {
      const base = tryRealPath(folder);
      return real !== undefined && base !== undefined && isInside(real, base);
    });
  }

  function withExecution(
    parts: Pick<AgentOptions, 'run' | 'signal' | 'beforeEnd'>,
    live: Parameters<NonNullable<typeof options.runAgent>>[1],
    hadPrograms: boolean,
  ): Pick<AgentOptions, 'run' | 'signal' | 'beforeEnd'> {
    const { execution, ...run } = { ...parts.run, ...defined(options.resumed?.(live) ?? {}) };
    return { ...parts, run: hadPrograms && execution !== undefined ? { ...run, execution } : run };
  }

  function uploadedFile(id: string): string {
    const file = uploads.find(id);
    if (file === undefined) throw httpError(400, `no uploaded file ${id}`);
    return file;
  }

  function storeUpload(query: ReturnType<typeof UploadQuery.safeParse>, body: unknown): Uploaded {
    if (!query.success || !Buffer.isBuffer(body)) throw httpError(400, 'an upload needs the query name');
    return uploads.store(query.data.name, body);
  }
}

function startedRun(run: string): Started {
  return { run, events: `${API_PATH}/runs/${run}/events` };
}
