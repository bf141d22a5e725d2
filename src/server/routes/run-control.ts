/** Routes that start, continue, fork and cancel runs, and move files in and out. */
import { readFileSync } from 'node:fs';

import { z } from 'zod';
import { resumeAgent, runAgent } from '#agent';
import { defined, describeAction, sliceStart, type Model } from '#core';
import { readRun } from '#journal';
import { isInside, readSealKey, timerMs, tryRealPath } from '#platform';
import { refuseReserved, replayRun } from '#runtime';
import { ContinueRequest, ForkRequest, ReplayReport, StartRequest, Started } from '../api/runs.ts';
import { ModeChoice } from '../api/govern.ts';
import type { ServerContext } from '../context.ts';
import { httpError } from '../http-error.ts';
import { API_PATH } from '../open-api.ts';
import { route, type Route } from '../router.ts';
import { runFolder } from '../records.ts';
import { openIdempotency } from '../idempotency.ts';
import { openUploads } from '../uploads.ts';
import { uploadRoutes } from './uploads.ts';

export function runControlRoutes(context: ServerContext): readonly Route[] {
  const { options, surroundings, starter, closing } = context;
  const { runtime, directory, agent = {}, runAgent: begin = (run) => runAgent(run) } = options;
  const uploads = openUploads(() => starter.uploads, { isRunning: (run) => starter.find(run) !== undefined });

  const once = openIdempotency(directory);

  return [
    route('POST /runs', 'Start a run', { body: StartRequest, answer: Started, status: 201 }, async ({ body }) =>
      startedRun(await once(body, () => startRun(body))),
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
      'POST /mode',
      'Choose what runs of this server do without asking: nothing, or edits that git can restore',
      { body: ModeChoice, answer: ModeChoice },
      ({ body }) => {
        if (options.mode === undefined)
          throw httpError(409, 'the runs of this server have no mode', 'pass `mode` to createRunServer');
        options.mode.choose(body.mode);
        return body;
      },
    ),
    ...uploadRoutes(uploads),
  ];

  async function startRun(body: z.output<typeof StartRequest>): Promise<string> {
    const { request, model, vocabulary, budget = {}, skills, labels, idempotencyKey: key, timeoutSeconds } = body;
    refuseReserved(runtime.index, skills);
    const ids = [...(body.uploads ?? []), ...(body.files ?? []).map(({ name, digest }) => uploadedAs(name, digest))];
    const files = ids.map(uploadedFile);
    const chosen = await openModel(model);
    const run = await starter.start(({ signal, run: recorded, ...parts }, live) =>
      begin(
        {
          ...agent,
          ...defined(parts),
          runtime,
          model: chosen,
          request,
          run: { ...recorded, ...defined({ labels, key }) },
          ...defined({ required: skills, vocabulary, files: files.length === 0 ? undefined : files }),
          budget: { ...agent.budget, ...defined(budget) },
          signal:
            timeoutSeconds === undefined
              ? signal
              : AbortSignal.any([
                  ...(signal === undefined ? [] : [signal]),
                  AbortSignal.timeout(timerMs(timeoutSeconds * 1_000)),
                ]),
        },
        live,
      ),
    );
    uploads.use(ids, run);
    return run;
  }

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
        run: {
          ...run,
          ...defined({ labels: info.labels, key: from.request === undefined ? info.key : undefined }),
          ...(info.executor !== null && execution !== undefined ? { execution } : {}),
        },
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

  /** The id of an upload with this name, and the bytes of one that came before. */
  function uploadedAs(name: string, digest: string): string {
    const known = uploads.findBytes(digest.replace('sha256:', ''));
    if (known === undefined)
      throw httpError(400, `no uploaded file has the digest ${digest}`, 'POST /uploads it first');
    return uploads.store(name, readFileSync(known)).id;
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
