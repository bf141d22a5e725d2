/** Grades stored runs again, with other cases or newer graders. Nothing is run. */
import { defined } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { ungradedResult, type Arm, type CaseResult, type ModelWay } from '../report/result.ts';
import { gradeFolder, type GradeOptions, type RecordedRun } from './grade-run.ts';

type CaseHead = Parameters<typeof ungradedResult>[0]['evalCase'];

export interface StoredRun extends RecordedRun {
  readonly case: string;
  readonly arm: Arm;
  readonly attempt: number;
  /** The request that was asked, if it is known. */
  readonly input?: string;
  readonly way: ModelWay;
  readonly answers?: string;
  readonly served?: CaseResult['model']['served'];
  readonly isEdited?: CaseResult['model']['isEdited'];
  readonly given?: CaseResult['given'];
  readonly turn?: CaseResult['turn'];
}

/** Returns one result per run, in order. A run of an unknown case and a folder without a whole run are errors. */
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
    const place = { file: run.folder, line: 1, column: 1 };
    const head = { id: run.case, name: run.case, place, input: '', tags: [] };
    results.push(
      one === undefined
        ? { ...emptyResult(run, head), reason: 'the suite has no case with this id' }
        : run.input !== undefined && run.input !== one.input
          ? { ...emptyResult(run, one), reason: 'the run answers another request than that of its case' }
          : await gradeStored(run, one, options),
    );
    onProgress?.(results.length, runs.length);
  }
  return results;
}

/** A record with a valid hash chain can still hold events of the wrong shape; that is an error of the run. */
export async function gradeStored(run: StoredRun, one: EvalCase, options: GradeOptions = {}): Promise<CaseResult> {
  try {
    const { model: id, files: _files, ...graded } = await gradeFolder(one, run, options);
    const empty = emptyResult(run, one);
    return { ...empty, ...graded, model: { ...empty.model, id } };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    return { ...emptyResult(run, one), reason: `cannot grade the run: ${error.message}` };
  }
}

function emptyResult(stored: StoredRun, evalCase: CaseHead): CaseResult {
  const { folder, arm, attempt, way, answers, served, isEdited, given, turn } = stored;
  return {
    ...ungradedResult({ evalCase, arm, attempt }, { id: '', way, answers, ...defined({ served, isEdited }) }),
    run: folder,
    ...defined({ given, turn }),
  };
}
