/** Runs one attempt at one case with an isolated home and project, and grades it from its record. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';

import { isSystemError, makeFolders, timerMs } from '#platform';
import { runAgent, type AgentResult } from '#agent';
import type { EvalCase } from '../cases/case.ts';
import { ungradedResult, type CaseResult } from '../report/result.ts';
import { defined, printable, type Executor, type Model } from '#core';
import type { Runtime, Session } from '#runtime';
import type { CheckerCheck, CheckerEnd, RunChecker } from '../grade/checker.ts';
import { CHECKER_MS, gradeFolder, type RecordedRun } from '../grade/grade-run.ts';
import type { ReadOutput } from '../grade/output-files.ts';
import { storeFiles, readOutputFiles } from './stored-outputs.ts';
import { checkerRunner, withoutIdleCheckers } from './idle-checkers.ts';
import { runChecker } from './run-checker.ts';
import type { CaseModel } from './case-model.ts';
import { requestConditions, watchRequest, type Conditions } from './conditions.ts';
import type { Job } from './suite-jobs.ts';

export interface CaseGrading {
  /** Grades what code cannot check; without a judge those lines are skipped. */
  readonly judge?: Model;
  /** Deadline for one checker (default: 30,000). */
  readonly checkerMs?: number;
  /** Keeps the files of runs here, one folder per run. */
  readonly outputs?: string;
}

interface WorkspaceFacts {
  readonly readOutput: ReadOutput;
  /** Absent if program execution is disabled. */
  readonly checkers?: ReadonlyMap<CheckerCheck, CheckerEnd>;
}

const NO_WORKSPACE: WorkspaceFacts = { readOutput: () => undefined };

/** One attempt at a case, on this machine or another, by the own loop or another agent. */
export interface AttemptBasis extends Job {
  readonly runs: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly grading: CaseGrading;
}

interface Attempt extends AttemptBasis {
  readonly runtime: Runtime;
  readonly model: CaseModel;
  readonly executor: Executor | undefined;
  /** An unused folder for this attempt only. */
  readonly project: string;
}

/** The time limit is a budget of the run, so that its record shows it. This is for the sandbox and the checkers around the run. */
const BEYOND_MS = 120_000;

/** Rejects only with the abort reason; any other problem is an `error` result of this case. */
export async function runCase(attempt: Attempt): Promise<CaseResult> {
  const { evalCase, signal, timeoutMs, model } = attempt;
  const deadline = AbortSignal.timeout(timerMs(timeoutMs + BEYOND_MS));
  const startedAt = performance.now();
  const broken = (reason: string, result?: AgentResult): CaseResult => {
    const empty = emptyResult(attempt);
    return {
      ...empty,
      reason: deadline.aborted ? `the harness did not end within ${String((timeoutMs + BEYOND_MS) / 1000)} s` : reason,
      answer: result?.answer ?? '',
      cost: { ...empty.cost, wallMs: performance.now() - startedAt },
      run: result?.path,
    };
  };
  try {
    const result = await askAgent(attempt, AbortSignal.any([signal, deadline]));
    signal.throwIfAborted();
    const failure = deadline.aborted ? '' : result.isTimeUp ? undefined : describeFailure(evalCase, model);
    return failure === undefined ? await graded(attempt, result) : broken(failure, result);
  } catch (error) {
    signal.throwIfAborted();
    return broken(error instanceof Error ? error.message : String(error));
  }
}

function wallLimit({ evalCase, timeoutMs }: Attempt): number {
  return Math.min(timeoutMs, evalCase.limits.wallMs ?? Infinity);
}

interface Ran extends AgentResult {
  readonly streamed: string;
  readonly workspace: WorkspaceFacts;
  readonly given: Conditions;
  readonly isTimeUp: boolean;
}

async function askAgent(attempt: Attempt, signal: AbortSignal): Promise<Ran> {
  const { evalCase, executor, project, runs, runtime, model } = attempt;
  const files = placeFiles(evalCase, project);
  let streamed = '';
  let workspace = NO_WORKSPACE;
  let isTimeUp = false;
  let given: Conditions = {};
  const watched = watchRequest(model.model);
  const result = await runAgent({
    runtime,
    model: watched.model,
    request: evalCase.input,
    budget: { ...evalCase.limits, wallMs: wallLimit(attempt) },
    files: executor === undefined ? files.map((file) => path.relative(project, file)) : files,
    protocol: evalCase.protocol,
    run: {
      directory: runs,
      host: { project },
      approve: async () => ({ verdict: evalCase.approve, scope: 'once', by: 'callback' }),
      sinks: [
        ({ event }) => {
          if (event.type === 'answer-delta') streamed += event.text;
          isTimeUp ||= event.type === 'budget-end' && event.name === 'wallMs';
        },
      ],
      keepsTools: true,
      execution: executor === undefined ? undefined : { executor, artifacts: false },
    },
    async beforeEnd(session) {
      given = requestConditions({ request: watched.first(), session, runtime, project });
      workspace = await takeWorkspace(attempt, session, signal);
    },
    signal,
  });
  return { ...result, streamed, workspace, given, isTimeUp };
}

/** Reads the output files and runs the checkers while the workspace still exists. */
async function takeWorkspace(
  { evalCase, project, grading: { checkerMs = CHECKER_MS } }: Attempt,
  { execution }: Session,
  signal: AbortSignal,
): Promise<WorkspaceFacts> {
  if (execution === undefined || !needsFiles(evalCase)) return NO_WORKSPACE;
  const readOutput = readOutputFiles((await execution.openWorkspace()).place.root);
  const checkers = new Map<CheckerCheck, CheckerEnd>();
  for (const check of evalCase.expect.output ?? [])
    if (check.type === 'checker')
      checkers.set(check, await runChecker(check, { execution, project, deadlineMs: checkerMs, signal }));
  return { readOutput, checkers };
}

function needsFiles({ expect }: EvalCase): boolean {
  return (expect.output ?? []).some(({ type }) => type === 'file' || type === 'checker');
}

/** Copies the files of the case into its project under their own names. Two files with one name are an error. */
export function placeFiles({ files }: EvalCase, project: string): readonly string[] {
  makeFolders(project);
  return files.map((file) => {
    const target = path.join(project, path.basename(file));
    try {
      copyFileSync(file, target, 1);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw new Error(`cannot copy the file ${printable(path.basename(file))} into the project: ${error.code}`, {
        cause: error,
      });
    }
    return target;
  });
}

/** A failed model proves nothing about a skill, unless the script of the case fails on purpose. */
function describeFailure({ answers, expect }: EvalCase, model: CaseModel): string | undefined {
  const [first] = model.failures();
  const isExpected = answers?.type === 'script' && expect.outcome?.includes('failed') === true;
  if (first !== undefined && !isExpected) return `the model failed: ${first}`;
  try {
    model.assertDone();
    return undefined;
  } catch (error) {
    return isExpected
      ? undefined
      : `the recorded answers do not match this run: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function graded(attempt: Attempt, { path: folder, streamed, workspace, given }: Ran): Promise<CaseResult> {
  if (folder === undefined) throw new Error('the run has no record');
  const { readOutput, checkers } = workspace;
  const runChecker: RunChecker | undefined = checkers && (async (check) => checkers.get(check) ?? NOT_RUN);
  const { evalCase, executor, grading, model, project, runtime, signal } = attempt;
  const run = { folder, streamed, readOutput };
  const result = await gradeAttempt(attempt, { ...emptyResult(attempt), given }, run, runChecker);
  // Scripted answers test no model.
  if (executor === undefined || model.way === 'scripted') return result;
  const openSession = () => runtime.startSession({ execution: { executor, artifacts: false } });
  const prepare = () => {
    const untouched = `${project}-untouched`;
    placeFiles(evalCase, untouched);
    return checkerRunner(openSession, untouched, grading.checkerMs ?? CHECKER_MS);
  };
  return withoutIdleCheckers(result, evalCase, prepare, signal);
}

/** Grades the record of an attempt, and keeps the files that its case asks about. */
export async function gradeAttempt(
  { evalCase, grading: { judge, checkerMs, outputs }, signal }: AttemptBasis,
  empty: CaseResult,
  run: RecordedRun & Pick<WorkspaceFacts, 'readOutput'>,
  runChecker: RunChecker | undefined,
): Promise<CaseResult> {
  const { folder, readOutput } = run;
  const { model: _model, files, ...grade } = await gradeFolder(evalCase, run, { checkerMs, signal, judge, runChecker });
  if (outputs !== undefined && needsFiles(evalCase))
    storeFiles(path.join(outputs, path.basename(folder)), files, readOutput);
  return { ...empty, ...grade, run: folder };
}

const NOT_RUN: CheckerEnd = { type: 'broken', reason: 'the checker did not run' };

function emptyResult({ model, ...job }: Attempt): CaseResult {
  const { id, way, answers, isEdited } = model;
  return ungradedResult(job, { id, way, answers, ...defined({ isEdited, served: model.servedBy() }) });
}
