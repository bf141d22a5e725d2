/** Runs that are stored, graded again: with other cases, or with graders that have changed since. Nothing is run. */
import type { EvalCase } from '../cases/case.ts';
import { ungradedResult } from '../report/result.ts';
import type { Arm, CaseHead, CaseResult, ModelWay } from '../report/result.ts';
import { factsOfRun } from './facts-of-run.ts';
import { withOutputs } from './files-of-steps.ts';
import type { ReadOutput } from './files-of-steps.ts';
import { brokenReason, caseVerdict, gradeRun } from './grade-run.ts';
import type { GradeOptions } from './grade-run.ts';
import { loadedNames } from './run-facts.ts';
import type { RunFacts } from './run-facts.ts';

/** A run folder and what it was a run of. */
export interface StoredRun {
  readonly folder: string;
  readonly case: string;
  readonly arm: Arm;
  /** From 1. */
  readonly attempt: number;
  readonly way: ModelWay;
  /** What was heard while the answer grew, where somebody listened. */
  readonly streamed?: string;
  /** Files that the run left, where they were kept. */
  readonly readOutput?: ReadOutput;
}

/** In the order of the runs, one result each. A run of no case, and a folder that is no whole run, are errors that say so. */
export async function regrade(
  runs: readonly StoredRun[],
  cases: readonly EvalCase[],
  { onProgress, ...options }: GradeOptions & { readonly onProgress?: (done: number, of: number) => void } = {},
): Promise<readonly CaseResult[]> {
  const byId = new Map(cases.map((one) => [one.id, one]));
  const results: CaseResult[] = [];
  for (const run of runs) {
    options.signal?.throwIfAborted();
    const one = byId.get(run.case);
    results.push(one === undefined ? resultOfNothing(run) : await gradeStored(run, one, options));
    onProgress?.(results.length, runs.length);
  }
  return results;
}

/** One run folder against its case. A record that is whole and makes no sense all the same is an error too. */
export async function gradeStored(run: StoredRun, one: EvalCase, options: GradeOptions = {}): Promise<CaseResult> {
  try {
    return await gradeWhole(run, one, options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    return { ...emptyResult(run, one), reason: `the run cannot be graded: ${error.message}` };
  }
}

async function gradeWhole(run: StoredRun, one: EvalCase, options: GradeOptions): Promise<CaseResult> {
  const reading = factsOfRun(run.folder);
  if (reading.type === 'unusable') return { ...emptyResult(run, one), reason: reading.reason };
  const { streamed, readOutput } = run;
  const heard: RunFacts = streamed === undefined ? reading.facts : { ...reading.facts, streamed };
  const facts = readOutput === undefined ? heard : withOutputs(heard, readOutput);
  const checks = await gradeRun(one, facts, options);
  return {
    ...emptyResult(run, one),
    ...caseVerdict(one, checks, brokenReason(one, facts)),
    checks,
    loaded: loadedNames(facts),
    answer: facts.answer,
    cost: facts.cost,
    model: { id: facts.model, way: run.way },
  };
}

function emptyResult({ folder, arm, attempt, way }: StoredRun, head: CaseHead): CaseResult {
  return { ...ungradedResult(head, { arm, attempt, model: { id: '', way } }), run: folder };
}

function resultOfNothing(run: StoredRun): CaseResult {
  const place = { file: run.folder, line: 1, column: 1 };
  const head: CaseHead = { id: run.case, name: run.case, place, input: '', tags: [] };
  return { ...emptyResult(run, head), reason: 'no case of the suite has this id' };
}
