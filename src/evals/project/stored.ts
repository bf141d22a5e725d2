/** What can be done with finished evaluations and stored runs, and first cases for a skill. None of it runs a case. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { countText, printable, quoted, isSkillError, type Config } from '#core';
import { isDirectory, isSystemError, makeFolders, padText, isPresent } from '#platform';
import { initCases } from '../cases/init-cases.ts';
import { readCases } from '../cases/read-cases.ts';
import { skillFoldersAt } from '../cases/suite.ts';
import { regrade, type StoredRun } from '../grade/regrade.ts';
import { lintSuite } from '../lint/lint-suite.ts';
import { dateText, rateText } from '../report/report-text.ts';
import { numberText } from '../report/cost-text.ts';
import { finishReport } from '../report/report.ts';
import { readThresholds, type WrittenThresholds } from '../report/thresholds.ts';
import { ARMS, type CaseResult } from '../report/result.ts';
import { buildTrend, type TrendRow } from '../report/trend.ts';
import { compareOutcomes, completeReport, toOutcome, type EvalOutcome } from './outcome.ts';
import { listNotRead } from './inputs.ts';
import { raiseUsage } from './raise-usage.ts';
import { openReport, reportIn, storedReports } from './report-folder.ts';
import type { SuiteRequest } from './run-evaluation.ts';
import { readRun } from '#journal';
import type { EvalCase } from '../cases/case.ts';
import type { Look } from '../report/terminal.ts';
import { storedFiles } from '../run/stored-outputs.ts';
import { readStoredResults } from '../run/stored-results.ts';

/** Compares two reports, each named by its file or folder, or `last`. */
export function compareRuns(cwd: string, before: string, after: string): EvalOutcome {
  return compareOutcomes(openReport(cwd, before), openReport(cwd, after), cwd);
}

/** How the cases of the last report did in the stored reports before it. */
export function showTrend(
  cwd: string,
  wrap: Look['wrap'],
): { readonly rows: readonly TrendRow[]; readonly lines: readonly string[] } {
  const rows = buildTrend(storedReports(cwd));
  if (rows.length === 0) raiseUsage('no evaluation found in this project', 'run skillwright eval first');
  const lines = rows.map(({ startedAt, passRate, cases, tokens, models, changed }) =>
    wrap(
      [
        dateText(startedAt),
        padText(rateText(passRate), 20),
        countText(cases, 'case'),
        `${numberText(tokens)} tokens a run`,
        printable(models),
        ...(changed.length === 0 ? [] : [`changed: ${printable(changed.join(', '))}`]),
      ].join('  '),
      2,
    ),
  );
  return { rows, lines };
}

interface GradeRequest extends Pick<SuiteRequest, 'cwd' | 'signal' | 'onProblems' | 'onProgress'> {
  readonly runs: readonly string[];
  readonly caseFiles: readonly string[];
  readonly thresholds: WrittenThresholds;
  /** The key `evals` of the configuration. */
  readonly settings: Config['evals'];
}

/** Grades stored runs with the current cases. Returns nothing if `onProblems` stops it. */
export async function gradeRuns(request: GradeRequest): Promise<EvalOutcome | undefined> {
  const { cwd, runs: words, caseFiles, signal } = request;
  const files = caseFiles.map((file) => path.resolve(cwd, file));
  const { cases, problems: read, passedOver, thresholds: written } = readCases(files);
  const problems = [
    ...read,
    ...listNotRead(passedOver),
    ...lintSuite(cases, { kind: 'cases', skills: files.flatMap(skillFoldersAt) }),
  ];
  if (request.onProblems(problems)) return undefined;
  const startedAt = new Date();
  const absent = words.find((word) => !isDirectory(path.resolve(cwd, word)));
  if (absent !== undefined)
    raiseUsage(`no run at ${quoted(absent, 200)}`, 'name run folders, or folders of .agent/evals');
  const folders = words.map((word) => path.resolve(cwd, word));
  const runs = collectRuns(folders, cases);
  if (runs.length === 0) raiseUsage('no runs found', 'name run folders, or folders of .agent/evals');
  const results = await regrade(runs, cases, {
    signal,
    onProgress: (done, of) => request.onProgress(`graded ${String(done)} of ${String(of)}`),
  });
  const order = new Map(cases.map(({ id }, place) => [id, place]));
  const sorted = results.toSorted(
    (a, b) =>
      (order.get(a.case) ?? 0) - (order.get(b.case) ?? 0) ||
      ARMS.indexOf(a.arm) - ARMS.indexOf(b.arm) ||
      a.attempt - b.attempt,
  );
  const { settings = {} } = request;
  const thresholds = readThresholds(settings.thresholds, written, request.thresholds);
  const missing = findMissing(runs, folders, cases);
  const leftOut = [...evaluationsOf(folders)].flatMap((folder) => reportIn(folder)?.leftOut ?? []);
  const report = finishReport(startedAt, { results: sorted, missing, isPartial: false, prices: settings.prices });
  return toOutcome(completeReport(report, { cwd, thresholds, problems, leftOut }), cwd, thresholds);
}

/** Writes first cases for a skill to `evals/cases.yaml`. Never overwrites a file. */
export function writeFirstCases(cwd: string, skill: string): { readonly file: string; readonly cases: number } {
  const folder = path.resolve(cwd, skill);
  const text = initCases(folder);
  const file = path.join(folder, 'evals/cases.yaml');
  try {
    makeFolders(path.dirname(file));
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code !== 'EEXIST')
      raiseUsage(`cannot write the cases: ${error.code}`, 'check the permissions of the folder');
    const isSame = readFileSync(file, 'utf8') === text;
    raiseUsage(
      `${quoted(path.relative(cwd, file), 200)} already exists`,
      isSame ? 'its content is up to date' : 'remove it, or add cases to it',
    );
  }
  return { file, cases: readCases([file]).cases.length };
}

/** Each run once, however often it is named. Runs of no evaluation are attempts at their case, in the order in which they are named. */
function collectRuns(folders: readonly string[], cases: readonly EvalCase[]): readonly StoredRun[] {
  const runs = new Map<string, StoredRun>();
  const attempts = new Map<string, string>();
  for (const folder of folders)
    for (const run of storedRuns(folder, cases)) {
      const place = path.resolve(run.folder);
      if (runs.has(place) || !isPresent(place)) continue;
      const isAlone = evaluationOf(folder) === undefined;
      let { attempt } = run;
      const key = (): string => JSON.stringify([run.case, run.arm, attempt]);
      if (isAlone) while (attempts.has(key())) attempt += 1;
      const other = attempts.get(key());
      if (other !== undefined)
        raiseUsage(
          `${quoted(path.basename(other), 200)} and ${quoted(path.basename(folder), 200)} both have attempt ${String(attempt)} at the case ${quoted(run.case, 200)}`,
          'grade one evaluation at a time; skillwright eval compare A B shows what changed between two',
        );
      attempts.set(key(), folder);
      runs.set(place, { ...run, attempt });
    }
  return [...runs.values()];
}

const RESULTS_FILE = 'results.jsonl';

/** For the folder of an evaluation, returns the last run of each attempt, as its report does; any other folder is a single run. */
export function storedRuns(folder: string, cases: readonly EvalCase[]): readonly StoredRun[] {
  const above = evaluationOf(folder);
  if (above === undefined) return [singleRun(folder, cases)];
  const last = new Map<string, CaseResult & { readonly run: string }>();
  for (const { run, ...result } of readStoredResults(path.join(above, RESULTS_FILE)))
    if (run !== undefined) last.set(JSON.stringify([result.case, result.arm, result.attempt]), { ...result, run });
  // The folder of an evaluation may have been moved or copied from another machine.
  const all = [...last.values()].map(({ run, case: id, arm, attempt, input, model, given, turn }) => ({
    folder: [path.join(above, 'runs', path.basename(run))].find(isPresent) ?? run,
    case: id,
    arm,
    attempt,
    input,
    way: model.way,
    answers: model.answers,
    served: model.served,
    isEdited: model.isEdited,
    given,
    turn,
    readOutput: storedFiles(path.join(above, 'outputs', path.basename(run))),
  }));
  if (above === folder) return all;
  const own = all.filter((run) => path.resolve(run.folder) === folder);
  return own.length > 0 ? own : [singleRun(folder, cases)];
}

/** The evaluation that a folder is, or whose run it is. */
function evaluationOf(folder: string): string | undefined {
  const above = path.basename(path.dirname(folder)) === 'runs' ? [path.dirname(path.dirname(folder))] : [];
  return [folder, ...above].find((one) => isPresent(path.join(one, RESULTS_FILE)));
}

function evaluationsOf(folders: readonly string[]): ReadonlySet<string> {
  return new Set(folders.map(evaluationOf).filter((folder) => folder !== undefined));
}

type AttemptName = Pick<CaseResult, 'case' | 'arm' | 'attempt'>;

/** Names what was planned and has no stored run: attempts of the evaluations, and whole cases. */
function findMissing(
  runs: readonly StoredRun[],
  folders: readonly string[],
  cases: readonly EvalCase[],
): readonly string[] {
  const planned: readonly AttemptName[] = [...evaluationsOf(folders)].flatMap((folder) => [
    ...readStoredResults(path.join(folder, RESULTS_FILE)),
    ...(reportIn(folder)?.results ?? []),
  ]);
  const known = [...planned, ...runs];
  const arms = ARMS.filter((arm) => known.some((one) => one.arm === arm));
  const name = ({ case: id, arm, attempt }: AttemptName): string =>
    `${id}${arms.length > 1 ? ` ${arm}` : ''}${attempt > 1 ? ` (attempt ${String(attempt)})` : ''}`;
  const expected = cases.flatMap(({ id }) => {
    const attempts = new Set([1, ...known.filter((one) => one.case === id).map(({ attempt }) => attempt)]);
    return arms.flatMap((arm) => [...attempts].map((attempt) => name({ case: id, arm, attempt })));
  });
  const graded = new Set(runs.map(name));
  return expected.filter((one) => !graded.has(one));
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
