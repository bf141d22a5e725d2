/** One attempt at one case by another agent, graded from its record. */
import path from 'node:path';

import { defined, stableJson } from '#core';
import { sha256 } from '#platform';
import type { Session } from '#runtime';
import { CHECKER_MS } from '../grade/grade-run.ts';
import { OWN_SKILLS } from '../report/arm-doubts.ts';
import { ungradedResult, type CaseResult } from '../report/result.ts';
import { gradeAttempt, placeFiles } from '../run/run-case.ts';
import { checkerRunner, withoutIdleCheckers } from '../run/idle-checkers.ts';
import type { OpenSubject } from './open-subject.ts';
import { runSubject, type SubjectRun } from './run-subject.ts';

interface SubjectAttempt extends SubjectRun {
  /** Opens a session that can run checker scripts; absent if no program can run. */
  readonly openSession?: (() => Promise<Session>) | undefined;
}

/** The agent with its version and its model, as reports name it. */
export function subjectName({ label, model }: Pick<OpenSubject, 'label' | 'model'>): string {
  return model === undefined ? label : `${label} (${model})`;
}

/** Distinguishes the agent and its environment from others in the cache key. */
export function subjectIdentity(subject: OpenSubject): string {
  const { program, searchPath, env, ownSkills } = subject;
  return stableJson(['subject', subjectName(subject), program, searchPath, env, ownSkills]);
}

/** Rejects only with the abort reason; any other problem is an `error` result of this case. */
export async function runSubjectCase(attempt: SubjectAttempt): Promise<CaseResult> {
  const { subject, grading, signal } = attempt;
  const empty = ungradedResult(attempt, { id: subjectName(subject), way: 'live' });
  const startedAt = performance.now();
  try {
    const { folder, project, files, ownSkills, models } = await runSubject(attempt);
    const readOutput = (name: string): Buffer | undefined => files.get(name);
    const { openSession, evalCase, work } = attempt;
    const checkIn = (folder: string) =>
      openSession && checkerRunner(openSession, folder, grading.checkerMs ?? CHECKER_MS);
    const given = {
      environment: sha256(stableJson([subject.program, subject.env])).slice(0, 16),
      ...defined({ [OWN_SKILLS]: ownSkills?.join(', ') }),
    };
    const served = models.length === 0 ? undefined : { models, fingerprints: [] };
    const model = { ...empty.model, ...defined({ served }) };
    const result = await gradeAttempt(attempt, { ...empty, model, given }, { folder, readOutput }, checkIn(project));
    const untouched = path.join(work, 'untouched');
    const prepare = () => {
      placeFiles(evalCase, untouched);
      return checkIn(untouched);
    };
    return await withoutIdleCheckers(result, evalCase, prepare, signal);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { ...empty, reason, cost: { ...empty.cost, wallMs: performance.now() - startedAt } };
  }
}
