/** How a worker runs an attempt of an evaluation: with its own model and executor, in an isolated home and project as `eval` does. */
import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import type { Executor } from '../../core/execution.ts';
import type { Model } from '../../core/model.ts';
import { quoted } from '../../core/text/text.ts';
import { evaluateAttempt } from '../../evals/evaluate.ts';
import type { EvaluateOptions } from '../../evals/evaluate.ts';
import type { SuiteModel } from '../../evals/run/case-model.ts';
import { unpackAttempt } from '../../evals/run/portable-attempt.ts';
import type { PackedAttempt } from '../../evals/run/portable-attempt.ts';
import { makeSkillSet } from '../../evals/run/skill-set.ts';
import { namesIn } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { StoredAttempt } from '../../server/fleet/attempt-format.ts';
import type { AttemptPlaces, RunAttempt } from '../../server/fleet/stored-attempt.ts';

export interface AttemptOptions {
  readonly runtime: Runtime;
  readonly executor: Exclude<EvaluateOptions['executor'], Executor | undefined>;
  readonly openModel: () => Promise<Model>;
  readonly openJudge: (name: string) => Promise<Model>;
}

export function attemptRunner({ runtime, executor, openModel, openJudge }: AttemptOptions): RunAttempt {
  return async (stored, places) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `eval --workers` of the same format wrote it; see `workers.ts`.
    const packed = stored.packed as PackedAttempt;
    mkdirSync(places.directory, { recursive: true, mode: 0o700 });
    const { evalCase, arm, attempt } = await unpackAttempt(packed, path.join(places.directory, 'files'), places.load);
    const sources = new Map(
      places.roots.flatMap(({ source, path: root }) => skillsIn(root).map((dir) => [dir, source])),
    );
    await checkSkills(stored, sources, places);
    const result = await evaluateAttempt(
      { evalCase, arm, attempt, folders: [...sources.keys()].toSorted() },
      {
        executor,
        places: runtime.executionPlaces,
        timeoutMs: stored.timeoutMs,
        directory: places.directory,
        sourceOf: (folder) => sources.get(folder),
        signal: places.signal,
        ...(stored.model === undefined ? {} : { model: await modelFor(stored.model, openModel) }),
        ...(stored.judge === undefined ? {} : { judge: await openJudge(stored.judge) }),
      },
    );
    return { ...result };
  };
}

function skillsIn(root: string): readonly string[] {
  return namesIn(root).map((name) => realpathSync(path.join(root, name)));
}

/** The copies that the attempt gets have the digest of those that were pinned. */
async function checkSkills(
  { skillsDigest }: StoredAttempt,
  sources: ReadonlyMap<string, string>,
  { directory, signal }: AttemptPlaces,
): Promise<void> {
  const to = path.join(directory, 'checked');
  const { digest } = await makeSkillSet([...sources.keys()], { to, sourceOf: (dir) => sources.get(dir), signal });
  await removeTree(to);
  if (digest === skillsDigest) return;
  throw new SkillError({
    code: 'skill/invalid',
    message: 'the skills of the attempt do not match their digest',
    hint: 'run the evaluation again; if it repeats, check the artifact store',
    data: { path: directory },
  });
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
