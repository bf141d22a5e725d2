/** `eval` and `eval trigger`: run cases and store each result at once, so that an interruption loses nothing. */
import path from 'node:path';

import { defined, docsPage, EXECUTOR_NAMES, printable, quoted, type Executor, type Model } from '#core';
import {
  evaluate,
  evaluateTrigger,
  htmlPortability,
  makePortability,
  markdownPortability,
  MOST_DISTRACTORS,
  mostRepetitions,
  buildPlan,
  portabilityExit,
  skillFoldersIn,
  terminalPortability,
  type EvalReport,
  type EvaluateOptions,
  type PlanOptions,
  type PortabilityReport,
  type SubjectReport,
  type SuiteBasis,
  type SuiteModel,
  type SuiteProgress,
  type Thresholds,
  type TriggerOptions,
} from '#evals';
import { readSurroundings, type Runtime } from '#runtime';
import { wholeNumber } from '../arguments.ts';
import {
  MATRIX_FILE,
  dropIfEmpty,
  newEvaluation,
  saveReport,
  storedReports,
  unfinishedEvaluation,
} from './report-folder.ts';
import { parseThresholds, wantedReports, type EvalInvocation } from './flags.ts';
import { resolveCwd, noModel, readInputs, reportProblems, type EvalInputs } from './inputs.ts';
import { isCommand, openSubjects, type EvalSubject } from './subjects.ts';
import { openWorkers } from './workers.ts';
import { printReport, writeReports } from './write-reports.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { jsonText } from '../json.ts';
import { makeFolders, writeFileAtomically, writeNamedFile } from '#platform';
import { VERSION } from '../../version.ts';

const CONCURRENCY = 4;
/** As many as a project may run at the same time by default. */
const WORKERS_CONCURRENCY = 20;
const TIMEOUT_S = 300;
const TRIGGER_TIMEOUT_S = 120;

export async function evalCases(invocation: EvalInvocation): Promise<number> {
  return runEvaluation(invocation, invocation.positionals, async (basis, inputs, runtime) => {
    const { flags } = invocation;
    const { env, home } = readSurroundings({});
    const judge = await openJudge(invocation, runtime);
    return evaluate({
      ...basis,
      stopWhenDecided: flags['stop-when'] === undefined ? undefined : { detect: parseDetect(invocation) },
      skills: inputs.skills,
      places: runtime.executionPlaces,
      home,
      env,
      updateCassettes: flags['update-cassettes'] === true,
      executor: toExecutorName(flags.executor),
      ...defined({ baseline: flags.baseline, judge }),
    });
  });
}

export async function evalTrigger(invocation: EvalInvocation): Promise<number> {
  const words = invocation.positionals.slice(1);
  const others = parseDistractors(invocation);
  return runEvaluation(invocation, words, async (basis, inputs) => {
    const { cassettes, cwd, 'update-cassettes': updateCassettes = false } = invocation.flags;
    if (updateCassettes && cassettes === undefined)
      throw new UsageError('--update-cassettes needs --cassettes DIR with eval trigger', 'see skillwright eval --help');
    if (basis.model === undefined && (cassettes === undefined || updateCassettes)) throw noModel();
    const recordings =
      cassettes === undefined ? {} : { cassettes: path.resolve(cwd ?? '.', cassettes), updateCassettes };
    return evaluateTrigger({ ...basis, skills: inputs.skills, ...others, ...recordings });
  });
}

type Evaluator = (basis: SuiteBasis, inputs: EvalInputs, runtime: Runtime) => Promise<EvalReport>;

async function runEvaluation(
  invocation: EvalInvocation,
  words: readonly string[],
  evaluator: Evaluator,
): Promise<number> {
  const { flags, terminal, signal } = invocation;
  const [thresholds, cwd] = [parseThresholds(flags), resolveCwd(invocation)];
  wantedReports(flags);
  const numbers = parseNumbers(invocation);
  if (flags.workers !== true && (flags.database !== undefined || flags.artifacts !== undefined))
    throw new UsageError('--database and --artifacts belong to --workers', 'pass --workers too, or omit them');
  const unfinished = flags.resume === true ? unfinishedEvaluation(cwd) : undefined;
  const runtime = await openRuntime(invocation);
  const inputs = readInputs(invocation, words, runtime);
  if (reportProblems(inputs.problems, invocation)) return EXIT.invalidEvaluation;
  const subjects = await openSubjects(invocation, runtime);
  if (subjects.length > 1) checkMatrixReports(invocation);
  const hasModel = subjects.every(({ model }) => model !== undefined);
  if (!hasModel && inputs.cases.every(({ answers }) => answers === undefined)) throw noModel();
  const plans = subjects.flatMap(({ model }) =>
    model === undefined ? [] : [{ model, plan: buildPlan(planOptions(invocation, inputs, model)) }],
  );
  if (flags['dry-run'] === true) {
    const lines = plans.flatMap(({ plan }) => plan.lines);
    const known = plans.map(({ plan }) => plan);
    const planJson = known.length > 1 ? { plans: known } : { plan: known[0] ?? { runs: 0 } };
    const planText = lines.length > 0 ? lines : ['plan: no run needs a model'];
    terminal.out(flags.json === true ? jsonText(planJson) : planText);
    return EXIT.done;
  }
  for (const { model, plan } of plans) if (model.way === 'live') terminal.remark(plan.lines.map(printable));
  const [firstPlan] = plans;
  const most =
    flags['stop-when'] === undefined || firstPlan === undefined ? {} : { repeat: mostRepetitions(firstPlan.plan) };
  const workers = await openWorkers(invocation);
  const directory = unfinished ?? newEvaluation(cwd, new Date());
  const cache = flags['no-eval-cache'] === true ? undefined : runtime.cacheDir;
  const progress = openProgress(terminal);
  const notes: string[] = [];
  const sources = new Map(runtime.index.all.map(({ dir, source }) => [path.resolve(dir), source]));
  const evaluateOne = ({ name, model, subject }: EvalSubject, folder: string): Promise<EvalReport> =>
    evaluator(
      {
        cases: inputs.cases,
        ...most,
        ...numbers,
        directory: folder,
        signal,
        sourceOf: (skill) => sources.get(skill),
        resume: unfinished !== undefined,
        ...defined({ model, subject }),
        elsewhere: workers?.elsewhere(model),
        ...(cache === undefined || isCommand(subject) ? {} : { cache: path.join(cache, 'evals') }),
        onProgress: (state) => progress.show(`${subjects.length > 1 ? `${name}: ` : ''}${progressText(state)}`),
        onNote: (note) => void notes.push(note),
      },
      inputs,
      runtime,
    )
      .catch((error: unknown) => {
        dropIfEmpty(folder);
        throw error;
      })
      .finally(() => {
        progress.end();
        terminal.remark([...new Set(notes.splice(0))].map(printable));
      });
  const [first] = subjects;
  let status: number;
  try {
    status =
      subjects.length > 1 || first === undefined
        ? await runMatrix({ subjects, directory, thresholds, evaluateOne }, invocation)
        : await printOne(first, await evaluateOne(first, directory), { thresholds, directory, invocation });
  } finally {
    await workers?.close();
  }
  terminal.remark(`results: ${printable(path.relative(cwd, directory))}`);
  if (!signal.aborted) return status;
  terminal.err('interrupted: finished results are kept; continue with the same command and --resume');
  return EXIT.interrupted;
}

interface PrintOptions {
  readonly thresholds: Thresholds;
  readonly directory: string;
  readonly invocation: EvalInvocation;
}

/** Stores and prints the report of one subject. */
async function printOne(
  { subject }: EvalSubject,
  report: EvalReport,
  { thresholds, directory, invocation }: PrintOptions,
): Promise<number> {
  saveReport(directory, report);
  const status = await printReport(report, invocation, { thresholds, folder: directory });
  const missing = subject?.missing ?? '';
  if (missing === '') return status;
  reportProblem(invocation.terminal, { message: `all cases were skipped: ${printable(missing)}`, hint: SUBJECT_HINT });
  return EXIT.impossible;
}

const SUBJECT_HINT = `agents and their variables: skillwright eval --help and ${docsPage('eval-subjects')}`;

const USUAL_DETECT = 20;

/** The difference of interest: --detect, else the threshold of the difference. */
function parseDetect({ flags }: EvalInvocation): number {
  const points = wholeNumber(flags.detect, '--detect', { least: 1, most: 100 });
  const { difference } = parseThresholds(flags);
  if (points !== undefined) return points / 100;
  return difference === undefined || difference <= 0 ? USUAL_DETECT / 100 : difference;
}

function planOptions(invocation: EvalInvocation, { cases }: EvalInputs, model: SuiteModel): PlanOptions {
  const { flags, positionals } = invocation;
  const { baseline, judge } = flags;
  if (flags['stop-when'] !== undefined && (baseline === undefined || positionals[0] === 'trigger'))
    throw new UsageError('--stop-when decided needs --baseline', 'pass --baseline none, old or a git revision');
  const { repeat } = parseNumbers(invocation);
  return {
    cases,
    model,
    arms: baseline === undefined ? 1 : 2,
    repeat,
    detect: parseDetect(invocation),
    hasJudge: judge !== undefined,
    earlier: storedReports(resolveCwd(invocation)),
  };
}

interface Numbers {
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly repeat?: number;
}

export function parseNumbers({ flags, positionals }: EvalInvocation): Numbers {
  const repeat = wholeNumber(flags.repeat, '--repeat', { least: 1, most: 1000 });
  const usual = positionals[0] === 'trigger' ? TRIGGER_TIMEOUT_S : TIMEOUT_S;
  const seconds = wholeNumber(flags.timeout, '--timeout', { least: 1, most: 86_400 }) ?? usual;
  return {
    concurrency:
      wholeNumber(flags.concurrency, '--concurrency', { least: 1, most: 256 }) ??
      (flags.workers === true ? WORKERS_CONCURRENCY : CONCURRENCY),
    timeoutMs: seconds * 1000,
    ...defined({ repeat }),
  };
}

function toExecutorName(name: string | undefined): Exclude<EvaluateOptions['executor'], Executor | undefined> {
  if (name === 'none') return 'none';
  return EXECUTOR_NAMES.find((known) => known === name) ?? 'auto';
}

async function openJudge({ flags, signal }: EvalInvocation, runtime: Runtime): Promise<Model | undefined> {
  if (flags.judge === undefined) return undefined;
  const { chooseModel } = await import('../agent/agent-model.ts');
  return (await chooseModel({ name: flags.judge, runtime, signal })).model;
}

/** Parses --distractors: numbers of generated skills, or a folder whose skills are used in steps of 10, 100 and 1000. */
export function parseDistractors(invocation: EvalInvocation): Pick<TriggerOptions, 'distractors' | 'others'> {
  const given = invocation.flags.distractors;
  if (given === undefined) return {};
  if (/^\d{1,6}(?:,\d{1,6})*$/.test(given)) {
    const distractors = given.split(',').map(Number);
    if (distractors.every((count) => count >= 1 && count <= MOST_DISTRACTORS)) return { distractors };
    throw new UsageError(
      `--distractors must be numbers from 1 to ${String(MOST_DISTRACTORS)}`,
      `got ${quoted(given, 200)}`,
    );
  }
  const others = skillFoldersIn(path.resolve(resolveCwd(invocation), given));
  if (others.length === 0) throw new UsageError(`no skills in ${quoted(given, 200)}`, 'name a folder of skills');
  const steps = [10, 100, 1000].filter((count) => count < others.length);
  return { others, distractors: [...steps, others.length] };
}

export function progressText({ done, total, counts, remainingMs }: SuiteProgress): string {
  const seconds = remainingMs === undefined ? undefined : Math.ceil(remainingMs / 1000);
  const parts = [
    `${String(done)} of ${String(total)}`,
    `${String(counts.passed)} passed`,
    ...(['failed', 'error', 'skipped'] as const)
      .filter((status) => counts[status] > 0)
      .map((status) => `${String(counts[status])} ${status}`),
    ...(seconds === undefined ? [] : [`about ${String(seconds)} s left`]),
  ];
  return parts.join(', ');
}

const FORMATS = { json: 'portability.json', markdown: 'portability.md', html: 'portability.html' } as const;

interface MatrixOptions {
  readonly subjects: readonly EvalSubject[];
  /** The folder of the evaluation. */
  readonly directory: string;
  readonly thresholds: Thresholds;
  readonly evaluateOne: (subject: EvalSubject, directory: string) => Promise<EvalReport>;
}

/** Whether a format can show a matrix; the others are about one subject. */
function checkMatrixReports({ flags }: EvalInvocation): void {
  const wrong = wantedReports(flags).find(({ format }) => !Object.hasOwn(FORMATS, format));
  if (wrong === undefined) return;
  throw new UsageError(
    `--report ${wrong.format} is about one subject`,
    `use ${Object.keys(FORMATS).join(', ')}, or name one --subject`,
  );
}

/** Runs the subjects one after the other, writes and prints the matrix, and returns the exit code. */
async function runMatrix(options: MatrixOptions, invocation: EvalInvocation): Promise<number> {
  const { subjects, directory, thresholds, evaluateOne } = options;
  const { terminal, signal } = invocation;
  const startedAt = new Date();
  const reports: SubjectReport[] = [];
  for (const [place, one] of subjects.entries()) {
    if (signal.aborted) break;
    const folder = toFolderName(one, place);
    const report = await evaluateOne(one, path.join(directory, folder));
    saveReport(path.join(directory, folder), report);
    await writeReports(report, invocation, { folder: path.join(directory, folder), only: 'html' });
    reports.push({ subject: one.name, folder, missing: one.subject?.missing ?? '', report });
  }
  const made = makePortability(reports, {
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    thresholds,
  });
  const matrix = reports.length === subjects.length ? made : { ...made, isPartial: true };
  writeFileAtomically(path.join(directory, MATRIX_FILE), Buffer.from(jsonText(matrix)));
  const wanted = wantedReports(invocation.flags);
  if (invocation.flags.json === true) terminal.out(jsonText(matrix));
  else if (!wanted.some(({ file }) => file === '-')) terminal.out(terminalPortability(matrix, terminal));
  for (const { format, file } of wanted) writeMatrix(matrix, format, file, { directory, invocation });
  return portabilityExit(matrix);
}

function toFolderName({ subject, name }: EvalSubject, place: number): string {
  const words = (subject?.agent.id ?? name).replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  return `${String(place + 1)}-${words}`;
}

function writeMatrix(
  matrix: PortabilityReport,
  format: string,
  file: string | undefined,
  { directory, invocation }: { readonly directory: string; readonly invocation: EvalInvocation },
): void {
  const known = Object.entries(FORMATS).find(([name]) => name === format);
  if (known === undefined) return;
  const cwd = resolveCwd(invocation);
  const place = file === undefined ? path.join(directory, known[1]) : path.resolve(cwd, file);
  const hasPages = format === 'html' && path.dirname(place) === directory;
  const text =
    format === 'json'
      ? jsonText(matrix)
      : format === 'markdown'
        ? markdownPortability(matrix)
        : htmlPortability(matrix, { hasPages });
  if (file === '-') {
    invocation.terminal.out(text.trimEnd());
    return;
  }
  makeFolders(path.dirname(place));
  writeNamedFile(place, text);
  invocation.terminal.remark(`${format}: ${printable(path.relative(cwd, place) || place)}`);
}
