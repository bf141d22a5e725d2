/**
 * Attempts of evaluations as runs of a fleet: a worker runs one as a suite does on one machine, stores its record like that of any run, and
 * its result beside it. Half an attempt measures nothing, so one whose worker was lost begins again.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { quoted, SkillError, type Model } from '#core';
import type { runPackedAttempt } from '#evals';
import { EVENTS_FILE, isDerivedFile, isRunId } from '#journal';
import { namesIn, sha256 } from '#platform';
import type { Runtime } from '#runtime';
import type { ContentStore } from './content-store.ts';
import { storableJson } from './database.ts';
import { appendRecords, type RecordPart, type RecordTables } from './run-store.ts';
import type { Claim, FleetRun, StoredAttempt } from './run-table.ts';
import { fetchSkills } from './skill-sets.ts';

interface AttemptContext {
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** The attempt puts its record into `runs/` and its output files into `outputs/`. */
  readonly directory: string;
  /** Bytes that match their digest. */
  readonly load: (digest: string) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

export type RunAttempt = (attempt: StoredAttempt, places: AttemptContext) => Promise<Readonly<Record<string, unknown>>>;

interface AttemptWork extends RecordTables {
  readonly directory: string;
  readonly stop: AbortSignal;
  readonly runAttempt?: RunAttempt;
}

export async function workOnAttempt(
  run: FleetRun,
  stored: StoredAttempt,
  claim: Claim,
  work: AttemptWork,
): Promise<void> {
  const { pool, contents, stop, runAttempt } = work;
  if (runAttempt === undefined) throw damaged('this worker runs no evaluations');
  const directory = path.join(work.directory, 'runs', claim.worker, run.id);
  try {
    const roots = [];
    for (const { source, skillSet } of stored.roots)
      roots.push({ source, path: await fetchSkills(work, skillSet, work.directory) });
    const result = await runAttempt(stored, {
      roots,
      directory,
      load: (digest) => checked(contents, digest),
      signal: stop,
    });
    stop.throwIfAborted();
    const outputs = filesBelow(path.join(directory, 'outputs'));
    await contents.save(outputs);
    const files = outputs.map(({ path: name, digest }) => ({ path: name, digest }));
    await pool.query(
      `update skillwright.runs set result = $4 where id = $1 and attempt = $2 and worker = $3 and state = 'running'`,
      [run.id, claim.attempt, claim.worker, storableJson({ result, outputs: files })],
    );
    const ending = { state: 'ended', outcome: 'done', answer: '', reason: '' } as const;
    await appendRecords(work, claim, recordParts(path.join(directory, 'runs')), ending);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function recordParts(directory: string): readonly RecordPart[] {
  return namesIn(directory)
    .filter(isRunId)
    .map((record) => {
      const folder = path.join(directory, record);
      const lines = readFileSync(path.join(folder, EVENTS_FILE), 'utf8').split('\n').slice(0, -1);
      const files = filesBelow(folder).filter(({ path: name }) => name !== EVENTS_FILE);
      return { record, from: 0, lines, files: files.map((file) => ({ ...file, isOwn: isDerivedFile(file.path) })) };
    });
}

function filesBelow(
  folder: string,
): readonly { readonly path: string; readonly digest: string; readonly bytes: Buffer }[] {
  if (namesIn(folder).length === 0) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const bytes = readFileSync(file);
      return { path: path.relative(folder, file).split(path.sep).join('/'), digest: sha256(bytes), bytes };
    });
}

/** Throws if the bytes are missing or do not match their digest. */
export async function checked(contents: ContentStore, digest: string): Promise<Uint8Array> {
  const bytes = await contents.load(digest);
  if (bytes === undefined || sha256(bytes) !== digest) throw damaged(`${digest} is missing or changed`);
  return bytes;
}

export function damaged(reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `the attempt cannot be run: ${reason}`,
    hint: 'run the evaluation again; if it repeats, check the artifact store',
    data: { path: '' },
  });
}

type AttemptOptions = Parameters<typeof runPackedAttempt>[1];
export type SuiteModel = NonNullable<AttemptOptions['model']>;

interface AttemptRunner {
  readonly runtime: Pick<Runtime, 'executionPlaces'>;
  readonly executor: AttemptOptions['executor'];
  readonly openModel: () => Promise<Model>;
  readonly openJudge: (name: string) => Promise<Model>;
}

/** Runs attempts with the model and the executor of this worker, in an isolated home and project as `eval` does. */
export function createAttemptRunner({ runtime, executor, openModel, openJudge }: AttemptRunner): RunAttempt {
  return async ({ packed, skillsDigest, timeoutMs, model, judge }, context) => {
    const evals = await import('#evals');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `openEvaluationWorkers` of the same format wrote it.
    const result = await evals.runPackedAttempt(packed as Parameters<typeof runPackedAttempt>[0], {
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
