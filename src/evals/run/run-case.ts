/** Runs one attempt at one case with an isolated home and project, and grades it from its record. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';

import { isSystemError, makeFolders, timerMs } from '#platform';
import { runAgent, type AgentResult } from '#agent';
import type { EvalCase } from '../cases/case.ts';
import { ungradedResult, type Arm, type CaseResult } from '../report/result.ts';
import { printable, type Executor, type Model } from '#core';
import type { Runtime, Session } from '#runtime';
import type { CheckerCheck, CheckerEnd } from '../grade/checker.ts';
import { CHECKER_MS, gradeFolder } from '../grade/grade-run.ts';
import type { ReadOutput } from '../grade/output-files.ts';
import { storeFiles, readOutputFiles } from './stored-outputs.ts';
import { runChecker } from './run-checker.ts';
import type { CaseModel } from './case-model.ts';

/** Grading settings of a suite. */
export interface CaseGrading {
  /** Grades what code cannot check; without a judge those lines are skipped. */
  readonly judge?: Model;
  /** Deadline for one checker (default: 30,000). */
  readonly checkerMs?: number;
  /** Keeps the files of runs here, one folder per run. */
  readonly outputs?: string;
}

/** What was taken from the workspace of a run before it was removed. */
interface WorkspaceFacts {
  readonly readOutput: ReadOutput;
  /** Absent if program execution is disabled. */
  readonly checkers?: ReadonlyMap<CheckerCheck, CheckerEnd>;
}

const NO_WORKSPACE: WorkspaceFacts = { readOutput: () => undefined };

/** One attempt at a case, on this machine or another, by the own loop or another agent. */
export interface AttemptBasis {
  readonly evalCase: EvalCase;
  readonly arm: Arm;
  readonly attempt: number;
  /** The folder for run records. */
  readonly runs: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly grading: CaseGrading;
}

export interface Attempt extends AttemptBasis {
  readonly runtime: Runtime;
  readonly model: CaseModel;
  /** Absent if program execution is disabled. */
  readonly executor: Executor | undefined;
  /** An unused folder for this attempt only. */
  readonly project: string;
}

/** Rejects only with the abort reason; any other problem is an `error` result of this case. */
export async function runCase(attempt: Attempt): Promise<CaseResult> {
  const { evalCase, signal, timeoutMs, model } = attempt;
  const deadline = AbortSignal.timeout(timerMs(timeoutMs));
  const startedAt = performance.now();
  try {
    const result = await askAgent(attempt, AbortSignal.any([signal, deadline]));
    signal.throwIfAborted();
    if (deadline.aborted) return toBrokenResult(attempt, timedOut(timeoutMs), performance.now() - startedAt, result);
    const failure = describeFailure(evalCase, model);
    if (failure !== undefined) return toBrokenResult(attempt, failure, performance.now() - startedAt, result);
    return await graded(attempt, result);
  } catch (error) {
    signal.throwIfAborted();
    const reason = deadline.aborted ? timedOut(timeoutMs) : error instanceof Error ? error.message : String(error);
    return toBrokenResult(attempt, reason, performance.now() - startedAt);
  }
}

interface Ran extends AgentResult {
  readonly streamed: string;
  readonly workspace: WorkspaceFacts;
}

async function askAgent(attempt: Attempt, signal: AbortSignal): Promise<Ran> {
  const { evalCase, executor, project, runs, runtime, model } = attempt;
  const files = placeFiles(evalCase, project);
  let streamed = '';
  let workspace = NO_WORKSPACE;
  const result = await runAgent({
    runtime,
    model: model.model,
    request: evalCase.input,
    budget: evalCase.limits,
    files: executor === undefined ? files.map((file) => path.relative(project, file)) : files,
    protocol: evalCase.protocol,
    run: {
      directory: runs,
      host: { project },
      approve: async () => ({ verdict: evalCase.approve, scope: 'once', by: 'callback' }),
      sinks: [({ event }) => void (event.type === 'answer-delta' && (streamed += event.text))],
      execution: executor === undefined ? undefined : { executor, artifacts: false },
    },
    async beforeEnd(session) {
      workspace = await takeWorkspace(attempt, session, signal);
    },
    signal,
  });
  return { ...result, streamed, workspace };
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

export function needsFiles({ expect }: EvalCase): boolean {
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

async function graded(attempt: Attempt, { path: folder, streamed, workspace }: Ran): Promise<CaseResult> {
  if (folder === undefined) throw new Error('the run has no record');
  const { evalCase, grading, signal } = attempt;
  const { judge, checkerMs = CHECKER_MS, outputs } = grading;
  const { readOutput, checkers } = workspace;
  const {
    model: _model,
    files,
    ...grade
  } = await gradeFolder(
    evalCase,
    { folder, streamed, readOutput },
    {
      checkerMs,
      signal,
      judge,
      runChecker: checkers === undefined ? undefined : async (check) => checkers.get(check) ?? NOT_RUN,
    },
  );
  if (outputs !== undefined && needsFiles(evalCase))
    storeFiles(path.join(outputs, path.basename(folder)), files, readOutput);
  return { ...emptyResult(attempt), ...grade, run: folder };
}

const NOT_RUN: CheckerEnd = { type: 'broken', reason: 'the checker did not run' };

function toBrokenResult(attempt: Attempt, reason: string, wallMs: number, result?: AgentResult): CaseResult {
  const empty = emptyResult(attempt);
  return {
    ...empty,
    reason,
    answer: result?.answer ?? '',
    cost: { ...empty.cost, wallMs },
    ...(result?.path === undefined ? {} : { run: result.path }),
  };
}

function timedOut(timeoutMs: number): string {
  return `timed out after ${String(timeoutMs / 1000)} s`;
}

function emptyResult({ evalCase, arm, attempt, model: { id, way, answers } }: Attempt): CaseResult {
  return ungradedResult(evalCase, { arm, attempt, model: { id, way, answers } });
}
