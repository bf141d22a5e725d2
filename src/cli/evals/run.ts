/** `eval` and `eval trigger`: run cases and store each result at once, so that an interruption loses nothing. */
import path from 'node:path';

import { docsPage, EXECUTOR_NAMES, printable } from '#core';
import {
  openEvaluation,
  PORTABILITY_FILES,
  readInputs,
  renderPortability,
  terminalPortability,
  type CaseProblem,
  type EvaluationRequest,
  type EvaluationResult,
} from '#evals';
import type { Runtime } from '#runtime';
import { wholeNumber } from '../arguments.ts';
import { EXIT, UsageError } from '../exit.ts';
import { fleetOptions, openFleetFor } from '../fleet/fleet-flags.ts';
import { openRuntime } from '../open-runtime.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { parseThresholds, readReportFlags, resolveCwd, type EvalInvocation, type ReportFlag } from './flags.ts';
import { printReport, writeFiles, writeReports } from './write-reports.ts';

const CONCURRENCY = 4;
/** As many as a project may run at the same time by default. */
const WORKERS_CONCURRENCY = 20;
const TIMEOUT_S = 300;
const TRIGGER_TIMEOUT_S = 120;
const USUAL_DETECT = 20;

export async function runEvaluation(
  invocation: EvalInvocation,
  kind: EvaluationRequest['kind'],
  paths: readonly string[],
): Promise<number> {
  const { flags, terminal, signal } = invocation;
  const thresholds = parseThresholds(flags);
  const reports = readReportFlags(flags);
  if ((flags.subject?.length ?? 0) > 1) checkMatrixReports(reports);
  if (flags.workers !== true && (flags.database !== undefined || flags.artifacts !== undefined))
    throw new UsageError('--database and --artifacts belong to --workers', 'pass --workers too, or omit them');
  const request = { ...readRequest(invocation, await openRuntime(invocation)), paths };
  const inputs = readInputs(request);
  if (reportProblems(inputs.problems, invocation)) return EXIT.invalidEvaluation;
  const evaluation = await openEvaluation({
    ...request,
    kind,
    inputs,
    baseline: flags.baseline,
    detect: parseDetect(invocation),
    stopWhenDecided: flags['stop-when'] !== undefined,
    judge: flags.judge,
    executor: (['none', ...EXECUTOR_NAMES] as const).find((known) => known === flags.executor) ?? 'auto',
    resume: flags.resume === true,
    thresholds,
  });
  if (flags['dry-run'] === true)
    return printPlans(
      evaluation.plans.map(({ plan }) => plan),
      invocation,
    );
  for (const { isLive, plan } of evaluation.plans) if (isLive) terminal.remark(plan.lines.map(printable));
  const workers = await openWorkers(invocation);
  const progress = openProgress(terminal);
  let result: EvaluationResult;
  let status: number;
  try {
    result = await evaluation.run({
      elsewhere: workers?.elsewhere,
      onProgress: (text) => progress.show(text),
      onEnd: (notes) => {
        progress.end();
        terminal.remark(notes.map(printable));
      },
      onReport: (report, folder) => writeReports(report, invocation, { folder, only: 'html' }),
    });
    status =
      result.type === 'matrix'
        ? printMatrix(result, reports, invocation)
        : await printReport(result.report, invocation, { thresholds, folder: result.folder });
  } finally {
    await workers?.close();
  }
  if (result.type === 'report' && result.missing !== '') {
    const message = `all cases were skipped: ${printable(result.missing)}`;
    reportProblem(terminal, { message, hint: SUBJECT_HINT });
    status = EXIT.impossible;
  }
  terminal.remark(`results: ${printable(path.relative(resolveCwd(invocation), result.folder))}`);
  if (!signal.aborted) return status;
  terminal.err('interrupted: finished results are kept; continue with the same command and --resume');
  return EXIT.interrupted;
}

const SUBJECT_HINT = `agents and their variables: skillwright eval --help and ${docsPage('eval-subjects')}`;

type Plan = Awaited<ReturnType<typeof openEvaluation>>['plans'][number]['plan'];

function printPlans(plans: readonly Plan[], { terminal }: EvalInvocation): number {
  const lines = plans.flatMap((plan) => plan.lines);
  if (!terminal.printJson(plans.length > 1 ? { plans } : { plan: plans[0] ?? { runs: 0 } }))
    terminal.out(lines.length > 0 ? lines : ['plan: no run needs a model']);
  return EXIT.done;
}

/** The flags that `eval`, `eval trigger` and `eval tune` share. */
export function readRequest(invocation: EvalInvocation, runtime: Runtime) {
  const { flags, positionals, signal } = invocation;
  const usual = positionals[0] === 'trigger' ? TRIGGER_TIMEOUT_S : TIMEOUT_S;
  const openModel = async (name: string) => {
    const { chooseModel } = await import('../agent/agent-model.ts');
    return (await chooseModel({ name, runtime, signal })).model;
  };
  return {
    cwd: resolveCwd(invocation),
    suite: flags.suite,
    updateCassettes: flags['update-cassettes'] === true,
    cassettes: flags.cassettes,
    runtime,
    signal,
    subjects: flags.subject,
    subjectEnv: flags['subject-env'],
    model: flags.model,
    openModel,
    concurrency:
      wholeNumber(flags.concurrency, '--concurrency', { least: 1, most: 256 }) ??
      (flags.workers === true ? WORKERS_CONCURRENCY : CONCURRENCY),
    timeoutMs: (wholeNumber(flags.timeout, '--timeout', { least: 1, most: 86_400 }) ?? usual) * 1000,
    repeat: wholeNumber(flags.repeat, '--repeat', { least: 1, most: 1000 }),
    distractors: flags.distractors,
    useCache: flags['no-eval-cache'] !== true,
  };
}

/** The difference of interest: --detect, else the threshold of the difference. */
function parseDetect({ flags }: EvalInvocation): number {
  const points = wholeNumber(flags.detect, '--detect', { least: 1, most: 100 });
  const { difference } = parseThresholds(flags);
  if (points !== undefined) return points / 100;
  return difference === undefined || difference <= 0 ? USUAL_DETECT / 100 : difference;
}

/** Whether a format can show a matrix; the others are about one subject. */
function checkMatrixReports(reports: readonly ReportFlag[]): void {
  const wrong = reports.find(({ format }) => !Object.hasOwn(PORTABILITY_FILES, format));
  if (wrong === undefined) return;
  throw new UsageError(
    `--report ${wrong.format} is about one subject`,
    `use ${Object.keys(PORTABILITY_FILES).join(', ')}, or name one --subject`,
  );
}

/** Prints the matrix of several subjects, writes the requested files, and returns the exit code. */
function printMatrix(
  { matrix, folder, exit }: Extract<EvaluationResult, { type: 'matrix' }>,
  reports: readonly ReportFlag[],
  invocation: EvalInvocation,
): number {
  const { terminal } = invocation;
  if (!terminal.printJson(matrix) && !reports.some(({ file }) => file === '-'))
    terminal.out(terminalPortability(matrix, terminal));
  for (const { format, file } of reports) {
    if (format !== 'json' && format !== 'markdown' && format !== 'html') continue;
    const place =
      file === undefined ? path.join(folder, PORTABILITY_FILES[format]) : path.resolve(resolveCwd(invocation), file);
    const text = renderPortability(matrix, format, path.dirname(place) === folder);
    if (file === '-') terminal.out(text.trimEnd());
    else writeFiles([{ path: '', text }], place, format, invocation);
  }
  return exit;
}

/** Reports problems of case files, one per line. Returns true if one is an error, which makes the evaluation invalid. */
export function reportProblems(problems: readonly CaseProblem[], invocation: EvalInvocation): boolean {
  const { terminal } = invocation;
  const { err, style } = terminal;
  const cwd = resolveCwd(invocation);
  for (const { file, line, column, message, hint, severity } of problems) {
    const place = `${printable(path.relative(cwd, file) || file)}:${String(line)}:${String(column)}`;
    err(`${place}: ${style(severity === 'error' ? 'red' : 'yellow', severity)}: ${printable(message)}`);
    if (hint !== '') err(style('dim', `  hint: ${printable(hint)}`));
  }
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error');
  if (first === undefined) return false;
  terminal.printJson({ error: problemsError(first, others.length, problems) });
  return true;
}

function problemsError(first: CaseProblem, others: number, problems: readonly CaseProblem[]): object {
  const more = others === 0 ? '' : `, and ${String(others)} more`;
  return {
    code: 'input/invalid',
    message: printable(`${first.file}:${String(first.line)}:${String(first.column)}: ${first.message}${more}`),
    hint: printable(first.hint) || 'fix the case files',
    data: { problems: problems.map(withoutCode) },
  };
}

function withoutCode({ file, line, column, message, hint, severity }: CaseProblem): object {
  return { file, line, column, message, hint, severity };
}

/** Opens the workers of `eval --workers`. Returns nothing without the flag, and throws if no worker could take an attempt. */
async function openWorkers({ flags, signal }: EvalInvocation) {
  if (flags.workers !== true) return undefined;
  for (const other of ['update-cassettes', 'subject', 'executor'] as const)
    if (flags[other] !== undefined && flags[other] !== false)
      throw new UsageError(`--workers and --${other} exclude each other`, `omit --${other}: workers have their own`);
  const { openEvaluationWorkers } = await import('#fleet');
  const fleet = await openFleetFor(fleetOptions(flags));
  try {
    const workers = await openEvaluationWorkers(fleet, { judge: flags.judge, signal });
    return { elsewhere: workers.elsewhere, close: () => workers.close().finally(() => fleet.close()) };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}
