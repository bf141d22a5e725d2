/** Routes that start, continue, fork and cancel runs, and move files in and out. */
import { z } from 'zod';
import { resumeAgent, runAgent } from '#agent';
import { defined, describeAction, sliceStart, type Model } from '#core';
import { readRun } from '#journal';
import { isInside, readSealKey, tryRealPath } from '#platform';
import { refuseReserved, replayRun } from '#runtime';
import { ContinueRequest, ForkRequest, ReplayReport, StartRequest, Started, Uploaded } from '../api/runs.ts';
import type { ServerContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { API_PATH } from '../open-api.ts';
import { route, type Route } from '../router.ts';
import { runFolder } from '../records.ts';
import { openUploads } from '../uploads.ts';

const UploadQuery = z.strictObject({ name: z.string().min(1).max(200) });

export function runControlRoutes(context: ServerContext): readonly Route[] {
  const { options, surroundings, starter, closing } = context;
  const { runtime, directory, agent = {}, runAgent: begin = (run) => runAgent(run) } = options;
  const uploads = openUploads(() => starter.uploads, { isRunning: (run) => starter.find(run) !== undefined });

  return [
    route(
      'POST /runs',
      'Start a run',
      { body: StartRequest, answer: Started, status: 201 },
      async ({ body: { request, model, budget = {}, skills, uploads: ids = [] } }) => {
        refuseReserved(runtime.index, skills);
        const files = ids.map(uploadedFile);
        const chosen = await openModel(model);
        const run = await starter.start((parts, live) =>
          begin(
            {
              ...agent,
              ...defined(parts),
              runtime,
              model: chosen,
              request,
              ...defined({ required: skills, files: files.length === 0 ? undefined : files }),
              budget: { ...agent.budget, ...defined(budget) },
            },
            live,
          ),
        );
        uploads.use(ids, run);
        return startedRun(run);
      },
    ),
    route(
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
    route(
      'POST /runs/{id}/resume',
      'Continue a run that was killed, waits for an approval, or exhausted a budget',
      { body: ContinueRequest, answer: Started, status: 201 },
      ({ params: { id = '' }, body }) => continueRun(id, body, { again: body.again }),
    ),
    route(
      'POST /runs/{id}/fork',
      'Run again from a turn, with another model or another request; the record stays as it is',
      { body: ForkRequest, answer: Started, status: 201 },
      ({ params: { id = '' }, body }) => continueRun(id, body, { keepAnswers: body.turn, request: body.request }),
    ),
    route(
      'POST /runs/{id}/replay',
      'Repeat the recorded actions without writes and network, and compare the results',
      { answer: ReplayReport },
      async ({ params: { id = '' }, signal }) => {
        const { status, problems, remarks, steps } = await replayRun({
          runtime,
          path: runFolder(directory, id),
          sealKey: sealKey(),
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
    route(
      'POST /uploads',
      'Upload a file for a run that starts next',
      { query: UploadQuery, body: 'bytes', answer: Uploaded, status: 201 },
      ({ query: { name }, body }) => uploads.store(name, body),
    ),
    route(
      'DELETE /uploads/{id}',
      'Remove an uploaded file',
      { answer: Uploaded.pick({ id: true }) },
      ({ params: { id = '' } }) => {
        if (!uploads.remove(id)) throw httpError(404, 'no such upload');
        return { id };
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

  async function continueRun(
    id: string,
    { model, budget = {} }: z.output<typeof ContinueRequest>,
    from: { readonly again?: boolean; readonly keepAnswers?: number; readonly request?: string },
  ): Promise<Started> {
    const folder = runFolder(directory, id);
    const { info } = readRun(folder, { content: 'start' });
    const chosen = await openModel(model);
    const run = await starter.start(async (parts, live) => {
      const { execution, ...run } = { ...parts.run, ...defined(options.resumed?.(live) ?? {}) };
      const resumed = await resumeAgent({
        ...parts,
        ...from,
        runtime,
        path: folder,
        model: chosen,
        budget: { ...agent.budget, ...defined(budget) },
        mayBring: isOwnFile,
        projectInstructions: agent.projectInstructions,
        unapproved: agent.unapproved,
        sealKey: sealKey(),
        run: info.executor !== null && execution !== undefined ? { ...run, execution } : run,
      });
      if (resumed.type === 'resumed') return resumed.result;
      throw httpError(409, resumed.problems.join('; '));
    });
    return startedRun(run);
  }

  function sealKey(): Uint8Array | undefined {
    return readSealKey(surroundings.home);
  }

  /** Files that came with a run from this page or lie in the project; a record grants no others. */
  function isOwnFile(file: string): boolean {
    const real = tryRealPath(file);
    return [starter.uploads, surroundings.cwd].some((folder) => {
      const base = tryRealPath(folder);
      return real !== undefined && base !== undefined && isInside(real, base);
    });
  }

  function uploadedFile(id: string): string {
    const file = uploads.find(id);
    if (file === undefined) throw httpError(400, `no uploaded file ${id}`);
    return file;
  }
}

function startedRun(run: string): Started {
  return { run, events: `${API_PATH}/runs/${run}/events` };
}
