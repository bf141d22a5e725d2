/** One attempt at one case: an agent in a home and a project of its own, and a grade from the record that it left. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';

import { runAgent } from '../../agent/agent.ts';
import type { AgentResult } from '../../agent/agent-options.ts';
import type { EvalCase } from '../cases/case.ts';
import { ZERO_COST } from '../report/result.ts';
import type { Arm, CaseResult } from '../report/result.ts';
import type { Executor } from '../../core/execution.ts';
import { printable } from '../../core/text/text.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Session } from '../../runtime/session.ts';
import type { CheckerCheck, CheckerEnd } from '../grade/checker.ts';
import type { ReadOutput } from '../grade/files-of-steps.ts';
import type { CaseModel } from './case-model.ts';

/** What was seen of the workspace of a run before it went away. */
export interface WorkspaceLook {
  /** Bytes of files that the run left; nothing for those that were not kept. */
  readonly readOutput: ReadOutput;
  /** How the checkers of the case ended; absent where nothing runs them. */
  readonly checkers?: ReadonlyMap<CheckerCheck, CheckerEnd>;
}

/** What a grader is told of a run; all else it reads from the record. */
export interface GradedRun {
  /** The run folder. */
  readonly folder: string;
  /** What was shown while the answer grew. */
  readonly streamed: string;
  readonly look: WorkspaceLook;
}

export type Graded = Pick<CaseResult, 'status' | 'reason' | 'checks' | 'loaded' | 'answer' | 'cost'>;

/** Grades from the record; a record that cannot be read is an error of the case, never a verdict. */
export type Grade = (evalCase: EvalCase, run: GradedRun, signal: AbortSignal) => Promise<Graded>;

/** Looks at the workspace of a run while it is still there: files, checker scripts. */
export type LookAtWorkspace = (
  evalCase: EvalCase,
  place: { readonly session: Session; readonly project: string },
  signal: AbortSignal,
) => Promise<WorkspaceLook>;

/** Where nothing was kept. */
export const NOTHING_SEEN: WorkspaceLook = { readOutput: () => undefined };

export interface Attempt {
  readonly evalCase: EvalCase;
  readonly arm: Arm;
  readonly attempt: number;
  readonly runtime: Runtime;
  readonly model: CaseModel;
  /** Absent: nothing can be run here. */
  readonly executor: Executor | undefined;
  /** A new folder, for this attempt alone. */
  readonly project: string;
  /** Where its record goes. */
  readonly runs: string;
  readonly timeoutMs: number;
  readonly grade: Grade;
  readonly lookAtWorkspace: LookAtWorkspace;
  readonly signal: AbortSignal;
}

/** Rejects only with the reason of the signal: whatever else goes wrong is an `error` of this case. */
export async function runCase(attempt: Attempt): Promise<CaseResult> {
  const { evalCase, signal, timeoutMs, model } = attempt;
  const deadline = AbortSignal.timeout(timeoutMs);
  const startedAt = performance.now();
  try {
    const result = await askAgent(attempt, AbortSignal.any([signal, deadline]));
    signal.throwIfAborted();
    if (deadline.aborted) return broken(attempt, timedOut(timeoutMs), performance.now() - startedAt, result);
    const failure = failureOf(evalCase, model);
    if (failure !== undefined) return broken(attempt, failure, performance.now() - startedAt, result);
    return await graded(attempt, result);
  } catch (error) {
    signal.throwIfAborted();
    const reason = deadline.aborted ? timedOut(timeoutMs) : error instanceof Error ? error.message : String(error);
    return broken(attempt, reason, performance.now() - startedAt);
  }
}

interface Ran extends AgentResult {
  readonly streamed: string;
  readonly look: WorkspaceLook;
}

async function askAgent(attempt: Attempt, signal: AbortSignal): Promise<Ran> {
  const { evalCase, executor, project, runs, runtime, model, lookAtWorkspace } = attempt;
  const files = placeFiles(evalCase, project);
  let streamed = '';
  let look = NOTHING_SEEN;
  const result = await runAgent({
    runtime,
    model: model.model,
    request: evalCase.input,
    budget: evalCase.limits,
    files: executor === undefined ? files.map((file) => path.relative(project, file)) : files,
    ...(evalCase.protocol === undefined ? {} : { protocol: evalCase.protocol }),
    run: {
      directory: runs,
      host: { project },
      approve: async () => ({ verdict: evalCase.approve, scope: 'once', by: 'callback' }),
      sinks: [({ event }) => void (event.type === 'answer-delta' && (streamed += event.text))],
      ...(executor === undefined ? {} : { execution: { executor, artifacts: false } }),
    },
    async beforeEnd(session) {
      look = await lookAtWorkspace(evalCase, { session, project }, signal);
    },
    signal,
  });
  return { ...result, streamed, look };
}

/** The case's files lie in its project under their own names; two of one name are an error of the case. */
function placeFiles({ files }: EvalCase, project: string): readonly string[] {
  makeFolders(project);
  return files.map((file) => {
    const target = path.join(project, path.basename(file));
    try {
      copyFileSync(file, target, 1);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw new Error(`the file ${printable(path.basename(file))} cannot be given to the run: ${error.code}`, {
        cause: error,
      });
    }
    return target;
  });
}

/** A model that broke tells nothing about a skill. A script that has failures of the model in it means them. */
function failureOf({ answers, expect }: EvalCase, model: CaseModel): string | undefined {
  const [first] = model.failures();
  const isMeant = answers?.type === 'script' && expect.outcome?.includes('failed') === true;
  if (first !== undefined && !isMeant) return `the model failed: ${first}`;
  try {
    model.assertDone();
    return undefined;
  } catch (error) {
    return isMeant
      ? undefined
      : `the answers do not fit this run: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function graded(attempt: Attempt, { path: folder, streamed, look }: Ran): Promise<CaseResult> {
  if (folder === undefined) throw new Error('nothing was recorded');
  const grade = await attempt.grade(attempt.evalCase, { folder, streamed, look }, attempt.signal);
  return { ...basis(attempt), ...grade, run: folder };
}

function broken(attempt: Attempt, reason: string, wallMs: number, result?: AgentResult): CaseResult {
  return {
    ...basis(attempt),
    status: 'error',
    reason,
    checks: [],
    loaded: [],
    answer: result?.answer ?? '',
    cost: { ...ZERO_COST, wallMs },
    ...(result?.path === undefined ? {} : { run: result.path }),
  };
}

function timedOut(timeoutMs: number): string {
  return `it was not done after ${String(timeoutMs / 1000)} s`;
}

function basis({ evalCase, arm, attempt, model }: Attempt) {
  const { id, name, place, input, tags } = evalCase;
  return { case: id, name, place, input, tags, arm, attempt, model: { id: model.id, way: model.way }, isCached: false };
}
