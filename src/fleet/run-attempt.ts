/** Evaluations on a fleet: how a worker runs an attempt, and how the machine of the evaluation sends attempts to workers. */
import { setMaxListeners } from 'node:events';
import path from 'node:path';

import { quoted, SkillError, type Model } from '#core';
import type { Elsewhere, PackedAttempt, PackedAttemptOptions } from '#evals';
import type { Runtime } from '#runtime';
import type { StoredAttempt } from './attempt-format.ts';
import { openAttemptsOnWorkers } from './attempts-on-workers.ts';
import type { Fleet } from './open-fleet.ts';
import type { RunAttempt } from './stored-attempt.ts';

type SuiteModel = NonNullable<PackedAttemptOptions['model']>;

interface AttemptRunner {
  readonly runtime: Pick<Runtime, 'executionPlaces'>;
  readonly executor: PackedAttemptOptions['executor'];
  readonly openModel: () => Promise<Model>;
  readonly openJudge: (name: string) => Promise<Model>;
}

/** Runs attempts with the model and the executor of this worker, in an isolated home and project as `eval` does. */
export function createAttemptRunner({ runtime, executor, openModel, openJudge }: AttemptRunner): RunAttempt {
  return async ({ packed, skillsDigest, timeoutMs, model, judge }, context) => {
    const { runPackedAttempt } = await import('#evals');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `openEvaluationWorkers` of the same format wrote it.
    const result = await runPackedAttempt(packed as PackedAttempt, {
      ...context,
      skillsDigest,
      executor,
      places: runtime.executionPlaces,
      timeoutMs,
      model: model === undefined ? undefined : await modelFor(model, openModel),
      judge: judge === undefined ? undefined : await openJudge(judge),
    });
    return { ...result };
  };
}

/** Results of another model would be reported under a wrong name. */
async function modelFor(
  { id, way }: NonNullable<StoredAttempt['model']>,
  openModel: () => Promise<Model>,
): Promise<SuiteModel> {
  const model = await openModel();
  if (model.id === id) return { id, way: way === 'rules' ? 'rules' : 'live', open: () => model };
  throw new SkillError({
    code: 'model/unavailable',
    message: `the evaluation wants the model ${quoted(id)}, and this worker has ${quoted(model.id)}`,
    hint: 'pass the same --model to eval and to all workers',
    data: { model: id, reasons: [] },
  });
}

interface EvaluationWorkers {
  readonly elsewhere: (model: SuiteModel | undefined) => Elsewhere;
  close(): Promise<void>;
}

/** Attempts run on the workers; cases, skills and results are those of this machine. Throws if no worker could take an attempt. */
export async function openEvaluationWorkers(
  fleet: Fleet,
  { database, judge, signal }: { readonly database: string; readonly judge?: string; readonly signal: AbortSignal },
): Promise<EvaluationWorkers> {
  const { packAttempt } = await import('#evals');
  // Each attempt of the suite waits with it.
  setMaxListeners(0, signal);
  const attempts = await openAttemptsOnWorkers(fleet, { database, signal });
  return {
    elsewhere:
      (model) =>
      async ({ evalCase, arm, attempt, set, timeoutMs, runs, outputs }) => {
        const pack = packAttempt({ evalCase, arm, attempt });
        // The run here reports a file that cannot be read.
        if (pack === undefined) return undefined;
        await fleet.contents.save(pack.bytes);
        const stored = {
          packed: pack.packed,
          timeoutMs,
          roots: await attempts.pin(set),
          skillsDigest: set.digest,
          model: model === undefined ? undefined : { id: model.id, way: model.way },
          judge,
        };
        const { result, record } = await attempts.run(stored, evalCase.input, { runs, outputs });
        const { id, name, place, input, tags } = evalCase;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `createAttemptRunner` of a worker returned it.
        const graded = result as unknown as NonNullable<Awaited<ReturnType<Elsewhere>>>;
        const run = record === undefined ? {} : { run: path.join(runs, record) };
        return { ...graded, case: id, name, place, input, tags, ...run };
      },
    close: () => attempts.close(),
  };
}
