/** Submissions with an idempotency key: a second one gets the run of the first, also after the server was started again. */
import { quoted } from '#core';
import { listRuns } from '#journal';
import { httpError } from './http-error.ts';

/** Records that are searched for a key which this server has not seen. */
const MAX_SEARCHED = 1_000;

interface Submitted {
  readonly request: string;
  readonly idempotencyKey?: string | undefined;
}

/** Starts what a key was not used for, and returns the id of its run otherwise. Throws 400 if the key was used for another request. */
export function openIdempotency(
  directory: string,
): (submission: Submitted, start: () => Promise<string>) => Promise<string> {
  const known = new Map<string, { readonly request: string; readonly run: Promise<string> }>();
  return async ({ request, idempotencyKey: key }, start) => {
    if (key === undefined) return start();
    const before = known.get(key) ?? findRecorded(directory, key);
    if (before !== undefined && before.request !== request)
      throw httpError(
        400,
        `the idempotency key ${quoted(key, 80)} was used for another request`,
        'use one key for each request',
      );
    if (before !== undefined) return before.run;
    const run = start();
    known.set(key, { request, run });
    // A run that did not begin has not used its key.
    run.catch(() => known.delete(key));
    return run;
  };
}

function findRecorded(
  directory: string,
  key: string,
): { readonly request: string; readonly run: Promise<string> } | undefined {
  for (const { id, reading } of listRuns(directory).slice(0, MAX_SEARCHED))
    if (reading.type === 'run' && reading.info.key === key)
      return { request: reading.info.request, run: Promise.resolve(id) };
  return undefined;
}
