/** A run to its result: what its workspace shows before it goes away, and all else from its record. */
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { ZERO_COST } from '../report/result.ts';
import type { Model } from '../../core/model.ts';
import type { CheckerCheck, CheckerEnd } from '../grade/checker.ts';
import { factsOfRun } from '../grade/facts-of-run.ts';
import { withOutputs } from '../grade/files-of-steps.ts';
import { brokenReason, caseVerdict, gradeRun } from '../grade/grade-run.ts';
import { loadedNames } from '../grade/run-facts.ts';
import { keepFiles, takeFiles } from './kept-outputs.ts';
import { runChecker } from './run-checker.ts';
import { NOTHING_SEEN } from './run-case.ts';
import type { Grade, LookAtWorkspace } from './run-case.ts';

export interface CaseGraderOptions {
  /** Judges what code cannot check; absent: those lines are skipped. */
  readonly judge?: Model;
  /** For one checker; 30,000. */
  readonly checkerMs?: number;
  /** Where files of runs are kept, a folder a run; absent: nowhere. */
  readonly outputs?: string;
}

export interface CaseGrader {
  readonly grade: Grade;
  readonly lookAtWorkspace: LookAtWorkspace;
}

const CHECKER_MS = 30_000;

export function openCaseGrader({ judge, checkerMs = CHECKER_MS, outputs }: CaseGraderOptions = {}): CaseGrader {
  return {
    async lookAtWorkspace(evalCase, { session, project }, signal) {
      const { execution } = session;
      if (execution === undefined || !looksAtFiles(evalCase)) return NOTHING_SEEN;
      const readOutput = takeFiles((await execution.openWorkspace()).place.root);
      const checkers = new Map<CheckerCheck, CheckerEnd>();
      for (const check of checkersOf(evalCase))
        checkers.set(check, await runChecker(check, { execution, project, deadlineMs: checkerMs, signal }));
      return { readOutput, checkers };
    },
    async grade(evalCase, { folder, streamed, look }, signal) {
      const reading = factsOfRun(folder);
      if (reading.type === 'unusable') return { status: 'error', reason: reading.reason, ...NOTHING_GRADED };
      const facts = withOutputs({ ...reading.facts, streamed }, look.readOutput);
      if (outputs !== undefined && looksAtFiles(evalCase))
        keepFiles(path.join(outputs, path.basename(folder)), reading.facts.files, look.readOutput);
      const { checkers } = look;
      const checks = await gradeRun(evalCase, facts, {
        checkerMs,
        signal,
        ...(judge === undefined ? {} : { judge }),
        ...(checkers === undefined ? {} : { runChecker: async (check) => checkers.get(check) ?? NEVER_RUN }),
      });
      return {
        ...caseVerdict(evalCase, checks, brokenReason(evalCase, facts)),
        checks,
        loaded: loadedNames(facts),
        answer: facts.answer,
        cost: facts.cost,
      };
    },
  };
}

const NOTHING_GRADED = { checks: [], loaded: [], answer: '', cost: ZERO_COST } as const;
const NEVER_RUN: CheckerEnd = { type: 'broken', reason: 'it was never run' };

function checkersOf({ expect }: EvalCase): readonly CheckerCheck[] {
  return (expect.output ?? []).filter((check) => check.type === 'checker');
}

function looksAtFiles({ expect }: EvalCase): boolean {
  return (expect.output ?? []).some(({ type }) => type === 'file' || type === 'checker');
}
