/**
 * One attempt of a run on a worker: with the same agent as on a single machine, in a folder of its own. What another worker began is
 * continued from its stored record.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { resumeAgent, runAgent, type AgentOptions, type AgentResult } from '#agent';
import { isSkillError, lastAnswer, SkillError, type Model, VOCABULARY_NAMES } from '#core';
import { readRun, toTraceId } from '#journal';
import { createRuntime } from '#packs';
import type { Runtime, RuntimeOptions } from '#runtime';
import { continueAnswered, hasPendingQuestions, openApprovalTable } from './approval-table.ts';
import type { Counters } from './counters.ts';
import { isDisconnected, reached, reasonText, untilReached } from './database.ts';
import { returnRun } from './hand-over.ts';
import { openMirror } from './mirror.ts';
import type { Fleet } from './open-fleet.ts';
import { openRunFiles } from './run-files.ts';
import { placeInputs } from './run-inputs.ts';
import { appendRecords, restoreRecord, storedRecords } from './run-store.ts';
import type { Claim, Ending, FleetRun } from './run-table.ts';
import { fetchSkills } from './skill-sets.ts';
import { openStoredArtifacts } from './stored-artifacts.ts';
import { workOnAttempt, type RunAttempt } from './stored-attempt.ts';

export interface WorkerOptions extends Fleet {
  /** Without a name: the model of runs that name none. */
  readonly openModel: (name?: string) => Promise<Model>;
  /** The names that runs may have (default: none). */
  readonly models?: readonly string[];
  /** A folder of this worker: fetched skills stay in it, records leave it with their run. */
  readonly directory: string;
  /** Options of every run: execution and policy. */
  readonly run?: AgentOptions['run'];
  readonly settings?: Pick<RuntimeOptions, 'config' | 'configFile'>;
  /** Runs attempts of evaluations (default: they fail). */
  readonly runAttempt?: RunAttempt;
}

export interface WorkerContext extends WorkerOptions {
  readonly counters: Counters;
  /** By set of skills: runs with the same skills share a runtime. */
  readonly runtimes: Map<string, Promise<Runtime>>;
}

interface Work extends WorkerContext {
  readonly stop: AbortSignal;
}

/** The reason of a stop that a person asked for. After any other the run goes back to the queue. */
export const CANCELLED = new Error('the run was cancelled');

export async function workOn(run: FleetRun, claim: Claim, work: Work): Promise<void> {
  const { pool, directory, stop } = work;
  const folder = path.join(directory, 'runs', claim.worker, run.id);
  const mirror = openMirror(work, claim);
  const counters = work.counters.of(run.project);
  const isGivenUp = (): boolean => stop.aborted && stop.reason !== CANCELLED;
  // Before the agent hears of it: what it records about the stop is not part of the run, and what it has recorded before is.
  stop.addEventListener('abort', () => isGivenUp() && mirror.seal());
  const giveBack = async (): Promise<void> => {
    await untilReached(() => mirror.push());
    const why: unknown = stop.reason;
    const because = `its worker ${claim.worker} gave it back: ${why instanceof Error ? why.message : 'its connection broke'}`;
    await untilReached(() => returnRun(work, claim, because));
  };
  // The clock of the database at both ends would cost a round trip; this is a metric.
  if (claim.attempt === 1) counters.countWait(Math.max(0, Date.now() - run.submittedAt.getTime()) / 1_000);
  const inputs = `${folder}.in`;
  const outputs = openRunFiles(claim, work);
  // Files first: the record says that their program has ended, so nothing would make them again.
  const settle = (): Promise<void> => reached(() => outputs.keepChanges().then(() => mirror.push()), stop);
  try {
    stop.throwIfAborted();
    const { evaluation } = run.options;
    if (evaluation !== undefined) return await workOnAttempt(run, evaluation, claim, work);
    const runtime = await reached(() => openRuntime(work, run.skillSet), stop);
    const { execution } = work.run ?? {};
    const given = run.options.files ?? [];
    if (given.length > 0 && execution === undefined) throw cannotBring();
    const files = await reached(() => placeInputs(work.contents, inputs, given), stop);
    const artifacts = openStoredArtifacts(work, run.project);
    const options: Starting['options'] = {
      runtime,
      model: durable(await work.openModel(run.options.model), settle),
      signal: stop,
      unapproved: 'stop',
      beforeEnd:
        execution === undefined
          ? undefined
          : async (session, recorded) => {
              const notes = await untilReached(() => outputs.keepAll(session));
              for (const message of notes) recorded.record({ type: 'note', message });
            },
      run: {
        ...work.run,
        ...(execution === undefined
          ? {}
          : { execution: { artifacts, ...execution, idempotencyKey: run.id, afterProgram: outputs.afterProgram } }),
        directory: folder,
        openPlace: mirror.openPlace,
        sinks: [counters.openSink()],
        trace: run.options.trace ?? toTraceId(run.id),
        approve: openApprovalTable(pool, run.id, (act) => reached(act, stop)),
        settle,
        notes: run.queuedBecause === null ? [] : [`attempt ${String(run.attempt)}: ${run.queuedBecause}`],
      },
    };
    const result = await start(run, claim, folder, { ...work, files, options });
    if (isGivenUp()) return await giveBack();
    const isWaiting = result.outcome === 'refused' && (await untilReached(() => hasPendingQuestions(pool, claim)));
    const ending: Ending = isWaiting ? { state: 'waiting' } : { ...result, state: 'ended' };
    await untilReached(() => mirror.finish(ending));
    if (isWaiting) await untilReached(() => continueAnswered(work, run.id));
  } catch (error) {
    // Another worker has the run now.
    if (isSkillError(error) && error.code === 'record/failed') return;
    const reason = reasonText(error);
    const failed: Ending = { state: 'ended', outcome: 'failed', answer: '', reason };
    if (isGivenUp()) await giveBack();
    else if (isDisconnected(error))
      await untilReached(() => returnRun(work, claim, `its worker ${claim.worker} gave it back: ${reason}`));
    else await untilReached(() => appendRecords(work, claim, [], failed));
    if (!isSkillError(error)) throw error;
  } finally {
    if (claim.attempt > 1) await rm(folder, { recursive: true, force: true });
    if (run.options.files !== undefined) await rm(inputs, { recursive: true, force: true });
  }
}

async function openRuntime({ runtimes, settings, directory, ...fleet }: Work, skillSet: string): Promise<Runtime> {
  const known = runtimes.get(skillSet);
  if (known !== undefined) return known;
  const opening = fetchSkills(fleet, skillSet, directory).then((root) =>
    // Answers are kept per run, and another worker, with another folder, may continue it.
    createRuntime({
      ...settings,
      cwd: directory,
      approvalProject: '',
      roots: [root],
      onlyRoots: true,
      vouched: [root],
    }),
  );
  runtimes.set(skillSet, opening);
  opening.catch(() => runtimes.delete(skillSet));
  return opening;
}

type Finished = Pick<AgentResult, 'outcome' | 'answer' | 'reason'> & Partial<Pick<AgentResult, 'used'>>;

interface Starting extends Work {
  readonly files: readonly string[];
  readonly options: Pick<AgentOptions, 'runtime' | 'model' | 'run' | 'signal' | 'unapproved' | 'beforeEnd'>;
}

/** Starts a run, or continues what an earlier attempt recorded. */
async function start(run: FleetRun, { attempt }: Claim, folder: string, work: Starting): Promise<Finished> {
  const { pool, options, files } = work;
  const { budget, required = [], vocabulary } = run.options;
  const begin = (): Promise<AgentResult> =>
    runAgent({
      ...options,
      request: run.request,
      required,
      files,
      budget,
      vocabulary: VOCABULARY_NAMES.find((known) => known === vocabulary),
    });
  if (attempt === 1) return begin();
  // Every record that a later one resumed is needed, in case the later one was lost before it had repeated all of it.
  const earlier = await reached(async () => {
    const found = (await storedRecords(pool, run.id)).filter((one) => one.attempt < attempt);
    for (const one of found) await restoreRecord(work, { run: run.id, ...one }, folder);
    return found;
  }, work.stop);
  const last = earlier.findLast(({ isChild }) => !isChild);
  if (last === undefined) return begin();
  const finished = finishedRun(path.join(folder, last.record));
  if (finished !== undefined) return finished;
  const resumed = await resumeAgent({
    ...options,
    path: path.join(folder, last.record),
    files,
    hasEnded: true,
    repeatsPrograms: true,
  });
  if (resumed.type === 'resumed') return resumed.result;
  throw new SkillError({
    code: 'run/invalid',
    message: `the run cannot be continued: ${resumed.problems.join('; ')}`,
    hint: 'submit it again',
    data: { path: run.id },
  });
}

function cannotBring(): SkillError {
  return new SkillError({
    code: 'executor/unavailable',
    message: 'the run has input files, and this worker runs no programs that could read them',
    hint: 'start the workers with an executor: skillwright worker --executor auto',
    data: { executor: 'none', reasons: [], install: '' },
  });
}

/** The result of a record that is complete: its worker was lost before it could say so. */
function finishedRun(folder: string): Finished | undefined {
  const { info, lines } = readRun(folder);
  if (info.outcome !== 'done' && info.outcome !== 'degraded' && info.outcome !== 'failed') return undefined;
  return { outcome: info.outcome, answer: lastAnswer(lines), reason: info.reason };
}

/** The model is called only when the record of everything before the call is stored. */
function durable(model: Model, settle: () => Promise<void>): Model {
  return {
    ...model,
    async call(request, options) {
      await settle();
      return model.call(request, options);
    },
  };
}
