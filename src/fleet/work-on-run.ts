/**
 * One attempt of a run on a worker: with the same agent as on a single machine, in a folder of its own. What another worker began is
 * continued from its stored record.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';

import type { Pool } from 'pg';

import { resumeAgent, runAgent, type AgentOptions, type AgentResult } from '#agent';
import { isSkillError, lastAnswer, SkillError, type Model } from '#core';
import { readRun, toTraceId } from '#journal';
import { VOCABULARY_NAMES } from '#tools';
import { continueAnswered, openApprovalTable, pendingQuestions } from './approval-table.ts';
import type { ProjectCounters } from './counters.ts';
import { isDisconnected, reached, untilReached } from './database.ts';
import { returnRun } from './hand-over.ts';
import { openMirror } from './mirror.ts';
import { openRunFiles } from './run-files.ts';
import type { RunQueue } from './run-queue.ts';
import { openRunStore, restoreRecord, storedRecords } from './run-store.ts';
import type { Claim, Ending, FleetRun } from './run-table.ts';
import { openStoredArtifacts } from './stored-artifacts.ts';
import { workOnAttempt } from './stored-attempt.ts';
import type { WorkerOptions } from './worker-options.ts';
import type { Runtimes } from './worker-runtimes.ts';

/** The reason of a stop that a person asked for. After any other the run goes back to the queue. */
export const CANCELLED = new Error('the run was cancelled');

export interface Work extends WorkerOptions {
  readonly runtimes: Runtimes;
  readonly queue: RunQueue;
  readonly counters: ProjectCounters;
  readonly stop: AbortSignal;
}

export async function workOn(run: FleetRun, claim: Claim, work: Work): Promise<void> {
  const { pool, contents, directory, stop } = work;
  const folder = path.join(directory, 'runs', claim.worker, run.id);
  const store = openRunStore(pool, contents, claim);
  const mirror = openMirror(store, run.id);
  const isGivenUp = (): boolean => stop.aborted && stop.reason !== CANCELLED;
  // Before the agent hears of it: what it records about the stop is not part of the run, and what it has recorded before is.
  stop.addEventListener('abort', () => isGivenUp() && mirror.seal());
  const giveBack = async (): Promise<void> => {
    await untilReached(() => mirror.push());
    const why: unknown = stop.reason;
    const because = `its worker ${claim.worker} gave it back: ${why instanceof Error ? why.message : 'its connection broke'}`;
    await untilReached(() => returnRun(pool, work.queue, claim, because));
  };
  if (claim.attempt === 1) work.counters.countWait(secondsSince(run));
  const files = openRunFiles(claim, { pool, contents });
  // Files first: the record says that their program has ended, so nothing would make them again.
  const settle = (): Promise<void> => reached(() => files.keepChanges().then(() => mirror.push()), stop);
  try {
    stop.throwIfAborted();
    const { evaluation } = run.options;
    if (evaluation !== undefined)
      return await workOnAttempt(run, evaluation, claim, { ...work, runAttempt: work.runAttempt });
    const runtime = await reached(() => work.runtimes.of(run.skillSet), stop);
    const approvals = openApprovalTable(pool, run.id, (act) => reached(act, stop));
    const { execution } = work.run ?? {};
    const artifacts = openStoredArtifacts(pool, contents, run.project);
    const options: Starting['options'] = {
      runtime,
      model: durable(await work.openModel(), settle),
      signal: stop,
      unapproved: 'stop',
      beforeEnd:
        execution === undefined
          ? undefined
          : async (session, recorded) => {
              const notes = await untilReached(() => files.keepAll(session));
              for (const message of notes) recorded.record({ type: 'note', message });
            },
      run: {
        ...work.run,
        ...(execution === undefined
          ? {}
          : { execution: { artifacts, ...execution, idempotencyKey: run.id, afterProgram: files.afterProgram } }),
        directory: folder,
        openPlace: mirror.openPlace,
        sinks: [work.counters.openSink()],
        trace: run.options.trace ?? toTraceId(run.id),
        approve: approvals.approve,
        settle,
        notes: run.queuedBecause === null ? [] : [`attempt ${String(run.attempt)}: ${run.queuedBecause}`],
      },
    };
    const result = await start(run, claim, folder, { ...work, options });
    if (isGivenUp()) return await giveBack();
    const ending = await untilReached(() => decideEnding(result, claim, pool));
    await untilReached(() => mirror.finish(ending));
    if (ending.state === 'waiting') await untilReached(() => continueAnswered(pool, work.queue, run.id));
  } catch (error) {
    // Another worker has the run now.
    if (isSkillError(error) && error.code === 'record/failed') return;
    const reason = error instanceof Error ? error.message : String(error);
    if (isGivenUp()) await giveBack();
    else if (isDisconnected(error))
      await untilReached(() =>
        returnRun(pool, work.queue, claim, `its worker ${claim.worker} gave it back: ${reason}`),
      );
    else await untilReached(() => store.append([], { state: 'ended', outcome: 'failed', answer: '', reason }));
    if (!isSkillError(error)) throw error;
  } finally {
    if (claim.attempt > 1) await rm(folder, { recursive: true, force: true });
  }
}

/** The clock of the database at both ends would cost a round trip; this is a metric. */
function secondsSince({ submittedAt }: FleetRun): number {
  return Math.max(0, Date.now() - submittedAt.getTime()) / 1_000;
}

/** What is stored of a finished run. */
type Finished = Pick<AgentResult, 'outcome' | 'answer' | 'reason'> & Partial<Pick<AgentResult, 'used'>>;

interface Starting extends Work {
  readonly options: Pick<AgentOptions, 'runtime' | 'model' | 'run' | 'signal' | 'unapproved' | 'beforeEnd'>;
}

/** Starts a run, or continues what an earlier attempt recorded. */
async function start(run: FleetRun, { attempt }: Claim, folder: string, work: Starting): Promise<Finished> {
  const { pool, contents, options } = work;
  const { budget, required = [], vocabulary } = run.options;
  const name = VOCABULARY_NAMES.find((known) => known === vocabulary);
  const begin = (): Promise<AgentResult> =>
    runAgent({
      ...options,
      request: run.request,
      required,
      budget,
      vocabulary: name,
    });
  if (attempt === 1) return begin();
  // Every record that a later one resumed is needed, in case the later one was lost before it had repeated all of it.
  const earlier = await reached(async () => {
    const found = (await storedRecords(pool, run.id)).filter((one) => one.attempt < attempt);
    for (const one of found) await restoreRecord(pool, contents, { run: run.id, ...one }, folder);
    return found;
  }, work.stop);
  const last = earlier.findLast(({ isChild }) => !isChild);
  if (last === undefined) return begin();
  const finished = finishedRun(path.join(folder, last.record));
  if (finished !== undefined) return finished;
  const resumed = await resumeAgent({
    ...options,
    path: path.join(folder, last.record),
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

/** The result of a record that is complete: its worker was lost before it could say so. */
function finishedRun(folder: string): Finished | undefined {
  const { info, lines } = readRun(folder);
  if (info.outcome !== 'done' && info.outcome !== 'degraded' && info.outcome !== 'failed') return undefined;
  return { outcome: info.outcome, answer: lastAnswer(lines), reason: info.reason };
}

async function decideEnding(result: Finished, claim: Claim, pool: Pool): Promise<Ending> {
  const { outcome, answer, reason, used } = result;
  if (outcome === 'refused' && (await pendingQuestions(pool, claim)) > 0) return { state: 'waiting' };
  return { state: 'ended', outcome, answer, reason, used };
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
