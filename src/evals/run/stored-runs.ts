/** Finds stored runs and their cases: from the results of an evaluation, or by comparing requests. */
import path from 'node:path';

import { readRun } from '#journal';
import { isSkillError } from '#core';
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult } from '../report/result.ts';
import { isPresent } from '#platform';
import type { StoredRun } from '../grade/regrade.ts';
import { storedFiles } from './stored-outputs.ts';
import { readStoredResults } from './stored-results.ts';

const RESULTS_FILE = 'results.jsonl';

/** For the folder of an evaluation, returns all its runs with their last result; any other folder is a single run. */
export function storedRuns(folder: string, cases: readonly EvalCase[]): readonly StoredRun[] {
  const results = path.join(folder, RESULTS_FILE);
  if (!isPresent(results)) return [singleRun(folder, cases)];
  const byRun = new Map<string, CaseResult & { readonly run: string }>();
  for (const result of readStoredResults(results))
    if (result.run !== undefined) byRun.set(result.run, { ...result, run: result.run });
  // The folder of an evaluation may have been moved or copied from another machine.
  return [...byRun.values()].map(({ run, case: id, arm, attempt, model }) => ({
    folder: [path.join(folder, 'runs', path.basename(run))].find(isPresent) ?? run,
    case: id,
    arm,
    attempt,
    way: model.way,
    answers: model.answers,
    readOutput: storedFiles(path.join(folder, 'outputs', path.basename(run))),
  }));
}

/** The case of a single run is unknown if several cases have its request, or if none has and there are several cases. */
function singleRun(folder: string, cases: readonly EvalCase[]): StoredRun {
  const request = readRequest(folder);
  const asked = cases.filter(({ input }) => input === request);
  const [only] = asked.length > 0 ? asked : cases;
  const isClear = asked.length === 1 || (asked.length === 0 && cases.length === 1);
  const id = isClear ? (only?.id ?? '') : path.basename(folder);
  return { folder, case: id, arm: 'with', attempt: 1, way: 'live' };
}

function readRequest(folder: string): string | undefined {
  try {
    for (const { event } of readRun(folder, { content: 'whole' }).lines)
      if (event.type === 'run-start') return event.request;
    return undefined;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}
