/** One attempt at one case by another agent, graded from its record. */
import path from 'node:path';

import { defined, type Budget } from '#core';
import type { EvalCase } from '../cases/case.ts';
import type { Session } from '#runtime';
import type { RunChecker } from '../grade/checker.ts';
import { CHECKER_MS, gradeFolder } from '../grade/grade-run.ts';
import { ungradedResult, type CaseResult } from '../report/result.ts';
import { needsFiles, placeFiles, type AttemptBasis } from '../run/run-case.ts';
import { runChecker } from '../run/run-checker.ts';
import { storeFiles } from '../run/stored-outputs.ts';
import type { InstalledSkill } from './installed-skills.ts';
import type { OpenSubject } from './open-subject.ts';
import { runSubject } from './run-subject.ts';

export interface SubjectAttempt extends AttemptBasis {
  readonly subject: OpenSubject;
  readonly skills: readonly InstalledSkill[];
  readonly skillsDigest: string;
  /** An unused folder for this attempt only. */
  readonly work: string;
  /** Ends a run that has done enough for the question of the case. */
  readonly stopAfter?: Pick<Budget, 'turns' | 'toolCalls'> | undefined;
  /** Opens a session that can run checker scripts; absent if no program can run. */
  readonly openSession?: (() => Promise<Session>) | undefined;
}

/** The agent with its version and its model, as reports name it. */
export function subjectName({ label, model }: Pick<OpenSubject, 'label' | 'model'>): string {
  return model === undefined ? label : `${label} (${model})`;
}

/** Rejects only with the abort reason; any other problem is an `error` result of this case. */
export async function runSubjectCase(attempt: SubjectAttempt): Promise<CaseResult> {
  const { evalCase, arm, subject, grading, signal } = attempt;
  const { outputs, judge, checkerMs = CHECKER_MS } = grading;
  const model = { id: subjectName(subject), way: 'live' } as const;
  const empty = ungradedResult(evalCase, { arm, attempt: attempt.attempt, model });
  const startedAt = performance.now();
  try {
    const {
      folder,
      project,
      files: changed,
    } = await runSubject({
      ...attempt,
      request: buildRequest(evalCase),
      placeFiles: (project) => void placeFiles(evalCase, project),
      limits: evalCase.limits,
    });
    const readOutput = (name: string): Buffer | undefined => changed.get(name);
    const runChecks = checkerRunner(attempt.openSession, project, checkerMs);
    const options = {
      checkerMs,
      signal,
      ...defined({ judge, runChecker: runChecks }),
    };
    const { model: _model, files, ...grade } = await gradeFolder(evalCase, { folder, readOutput }, options);
    if (outputs !== undefined && needsFiles(evalCase))
      storeFiles(path.join(outputs, path.basename(folder)), files, readOutput);
    return { ...empty, ...grade, run: folder };
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { ...empty, reason, cost: { ...empty.cost, wallMs: performance.now() - startedAt } };
  }
}

/** Checkers get a copy of the project in `PROJECT_DIR`, in the sandbox of an own session. */
function checkerRunner(
  openSession: SubjectAttempt['openSession'],
  project: string,
  deadlineMs: number,
): RunChecker | undefined {
  if (openSession === undefined) return undefined;
  return async (check, { signal }) => {
    const session = await openSession();
    try {
      const { execution } = session;
      if (execution === undefined) return { type: 'broken', reason: 'the session runs no programs' };
      return await runChecker(check, { execution, project, deadlineMs, signal });
    } finally {
      await session.close();
    }
  };
}

/** Other agents are told about the files of a case as a person would. */
function buildRequest({ input, files }: EvalCase): string {
  if (files.length === 0) return input;
  return `${input}\n\nFiles in the current directory: ${files.map((file) => path.basename(file)).join(', ')}`;
}
