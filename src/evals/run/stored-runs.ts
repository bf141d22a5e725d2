/** Runs on the disk and what each is a run of: as the results of an evaluation say, else by the words of the request. */
import path from 'node:path';

import { readRun } from '../../journal/journal-reader.ts';
import { isSkillError } from '../../core/errors.ts';
import type { EvalCase } from '../cases/case.ts';
import type { CaseResult } from '../report/result.ts';
import { isPresent } from '../../platform/fs/paths.ts';
import type { StoredRun } from '../grade/regrade.ts';
import { keptFiles } from './kept-outputs.ts';
import { keptResults } from './kept-results.ts';

export const RESULTS_FILE = 'results.jsonl';

/** Of a folder of an evaluation all of its runs, the last result of each; else the folder is one run. */
export function storedRuns(folder: string, cases: readonly EvalCase[]): readonly StoredRun[] {
  const results = path.join(folder, RESULTS_FILE);
  if (!isPresent(results)) return [runAlone(folder, cases)];
  const byRun = new Map<string, CaseResult & { readonly run: string }>();
  for (const result of keptResults(results))
    if (result.run !== undefined) byRun.set(result.run, { ...result, run: result.run });
  return [...byRun.values()].map(({ run, case: id, arm, attempt, model }) => ({
    folder: placeOf(run, folder),
    case: id,
    arm,
    attempt,
    way: model.way,
    readOutput: keptFiles(path.join(folder, 'outputs', path.basename(run))),
  }));
}

/** The folder of an evaluation may have been moved, or brought from another machine. */
function placeOf(run: string, folder: string): string {
  const here = path.join(folder, 'runs', path.basename(run));
  return isPresent(here) ? here : run;
}

/** A run that belongs to no evaluation. A request that several cases have, or none, leaves open which one it is. */
function runAlone(folder: string, cases: readonly EvalCase[]): StoredRun {
  const request = requestOf(folder);
  const asked = cases.filter(({ input }) => input === request);
  const [only] = asked.length > 0 ? asked : cases;
  const isClear = asked.length === 1 || (asked.length === 0 && cases.length === 1);
  const id = isClear ? (only?.id ?? '') : path.basename(folder);
  return { folder, case: id, arm: 'with', attempt: 1, way: 'live' };
}

function requestOf(folder: string): string | undefined {
  try {
    for (const { event } of readRun(folder, { content: 'whole' }).lines)
      if (event.type === 'run-start') return event.request;
    return undefined;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}
