/** `eval`, `eval trigger` and `eval tune`: run cases and store each result at once, so that an interruption loses nothing. */
import path from 'node:path';

import { countText, docsPage, printable } from '#core';
import { generateDrafts, openEvaluation, readInputs, tuneDescription } from '#evals';
import type { Runtime } from '#runtime';
import { wholeNumber } from '../arguments.ts';
import { EXIT, usageError } from '../exit.ts';
import { fleetOptions, openFleetFor } from '../fleet/fleet-flags.ts';
import { openRuntime } from '../open-runtime.ts';
import { requireValidConfig } from '../surroundings.ts';
import { printDrafts } from './print-drafts.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportProblem } from '../terminal/terminal.ts';
import { parseThresholds, readReportFlags, type EvalInvocation } from './flags.ts';
import { printOutcome, emptyOldReports } from './write-reports.ts';

const CONCURRENCY = 4;
/** As many as a project may run at the same time by default. */
const WORKERS_CONCURRENCY = 20;
const TIMEOUT_S = 300;
const TRIGGER_TIMEOUT_S = 120;
const USUAL_DETECT = 20;

export async function runEvaluation(
  invocation: EvalInvocation,
  kind: 'cases' | 'trigger',
  paths: readonly string[],
): Promise<number> {
  const { flags, terminal, signal } = invocation;
  const thresholds = parseThresholds(flags);
  const hasPages = readReportFlags(invocation).some(({ format }) => format === 'html');
  if (flags.offline === true) {
    if (kind === 'trigger')
      throw usageError(
        'eval trigger asks a model: --offline leaves it no case',
        'pass --cassettes DIR for recorded answers',
      );
    for (const other of ['model', 'judge', 'subject', 'update-cassettes'] as const)
      if (flags[other] !== undefined && flags[other] !== false)
        throw usageError(`--offline and --${other} exclude each other`, `omit one of them: --${other} asks a model`);
  }
  if (flags.workers !== true && (flags.database !== undefined || flags.artifacts !== undefined))
    throw usageError('--database and --artifacts belong to --workers', 'pass --workers too, or omit them');
  // A threshold that is not read would let every evaluation pass.
  await requireValidConfig(invocation);
  if (flags['dry-run'] !== true) emptyOldReports(invocation);
  const progress = openProgress(terminal, { isLogged: true });
  const evaluation = await openEvaluation({
    ...readRequest(invocation, await openRuntime(invocation), progress),
    kind,
    paths,
    baseline: flags.baseline,
    detect: parseDetect(invocation),
    stopWhenDecided: flags['stop-when'] !== undefined,
    judge: flags.judge,
    offline: flags.offline === true,
    executor: flags.executor ?? 'auto',
    resume: flags.resume === true,
    thresholds,
    hasPages,
  });
  if (evaluation === undefined) return EXIT.invalidEvaluation;
  if (flags['dry-run'] === true) {
    const plans = evaluation.plans.map(({ plan }) => plan);
    const lines = plans.flatMap((plan) => plan.lines);
    if (!terminal.printJson(plans.length > 1 ? { plans } : { plan: plans[0] ?? { runs: 0 } }))
      terminal.out(lines.length > 0 ? lines : ['plan: no run needs a model']);
    return EXIT.done;
  }
  for (const { isLive, plan } of evaluation.plans) if (isLive) terminal.remark(plan.lines.map(printable));
  const workers = await openWorkers(invocation);
  const shown = (file: string): string => printable(path.relative(invocation.surroundings.cwd, file));
  try {
    const { outcome, folder, missing } = await evaluation.run({
      elsewhere: workers?.elsewhere,
      onEnd: (notes) => {
        progress.end();
        terminal.remark(notes.map(printable));
      },
      onPage: (file) => terminal.remark(`html: ${shown(file)}`),
    });
    const status = await printOutcome(outcome, invocation, folder);
    if (missing !== '')
      reportProblem(terminal, { message: `all cases were skipped: ${printable(missing)}`, hint: SUBJECT_HINT });
    terminal.remark(`results: ${shown(folder)}`);
    if (!signal.aborted) return missing === '' ? status : EXIT.impossible;
    terminal.err('interrupted: finished results are kept; continue with the same command and --resume');
    return EXIT.interrupted;
  } finally {
    await workers?.close();
  }
}

/** Reads the cases as an evaluation does, and runs nothing. */
export async function evalCheck(invocation: EvalInvocation): Promise<number> {
  const { flags, positionals, terminal, signal } = invocation;
  const { cwd } = invocation.surroundings;
  const { cases, drafts, problems } = readInputs({
    cwd,
    paths: positionals.slice(1),
    suite: flags.suite,
    updateCassettes: flags['update-cassettes'] === true,
    runtime: await openRuntime(invocation),
    signal,
  });
  const isInvalid = reportProblems(problems, invocation);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found = [
    ...(drafts.length === 0 ? [] : [countText(drafts.length, 'draft')]),
    countText(errors, 'error'),
    countText(problems.length - errors, 'warning'),
  ].join(', ');
  if (isInvalid) {
    terminal.err(`invalid: ${found}; an evaluation of these cases has no verdict`);
    return EXIT.invalidEvaluation;
  }
  const shown = problems.map(({ code: _code, ...problem }) => problem);
  if (!terminal.printJson({ cases: cases.length, drafts: drafts.map(({ id }) => id), problems: shown }))
    terminal.out(`${countText(cases.length, 'case')}, ${found}`);
  return EXIT.done;
}

const SUBJECT_HINT = `agents and their variables: skillwright eval --help and ${docsPage('eval-subjects')}`;

/** Compares descriptions of a skill, and writes the best one only with --write and only if it is an improvement. */
export async function evalTune(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal } = invocation;
  const [, skill = '.', ...rest] = positionals;
  if (rest.length > 0) throw usageError('eval tune takes one skill', 'usage: skillwright eval tune SKILL');
  const progress = openProgress(terminal, { isLogged: true });
  const tuned = await tuneDescription({
    ...readRequest(invocation, await openRuntime(invocation), progress),
    skill,
    proposals: flags.proposals,
    proposer: flags.proposer,
  }).finally(() => progress.end());
  if (tuned === undefined) return EXIT.invalidEvaluation;
  terminal.remark(tuned.notes.map(printable));
  if (!terminal.printJson(tuned.report)) terminal.out(tuned.lines);
  terminal.remark(`results: ${printable(path.relative(invocation.surroundings.cwd, tuned.folder))}`);
  if (tuned.report.invalid.length > 0) return EXIT.invalidEvaluation;
  if (flags.write !== true) return EXIT.done;
  const written = tuned.write();
  if ('reason' in written) {
    terminal.err(`not written: ${written.reason}`);
    return EXIT.failed;
  }
  terminal.remark(`wrote the description to ${printable(written.file)}`);
  return EXIT.done;
}

/** Asks a model for cases, and writes them as drafts to a new file. */
export async function evalGenerate(invocation: EvalInvocation): Promise<number> {
  const { positionals, terminal } = invocation;
  const [, skill = '.', ...rest] = positionals;
  if (rest.length > 0) throw usageError('eval generate takes one skill', 'usage: skillwright eval generate SKILL');
  const progress = openProgress(terminal, { isLogged: true });
  const request = readRequest(invocation, await openRuntime(invocation), progress);
  const generated = await generateDrafts({ ...request, skill }).finally(() => progress.end());
  printDrafts(generated, invocation);
  return EXIT.done;
}

/** The flags that `eval`, `eval trigger` and `eval tune` share. */
function readRequest(invocation: EvalInvocation, runtime: Runtime, progress: ReturnType<typeof openProgress>) {
  const { flags, positionals, signal } = invocation;
  const usual = positionals[0] === 'trigger' ? TRIGGER_TIMEOUT_S : TIMEOUT_S;
  const openModel = async (name: string) => {
    const { chooseModel } = await import('../agent/agent-model.ts');
    return (await chooseModel(invocation, runtime, name)).model;
  };
  return {
    cwd: invocation.surroundings.cwd,
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
    onProblems: (problems: CaseProblems) => reportProblems(problems, invocation),
    onProgress: (text: string) => progress.show(text),
  };
}

function parseDetect({ flags }: EvalInvocation): number {
  const points = wholeNumber(flags.detect, '--detect', { least: 1, most: 100 });
  const { difference } = parseThresholds(flags);
  if (points !== undefined) return points / 100;
  return difference === undefined || difference <= 0 ? USUAL_DETECT / 100 : difference;
}

type CaseProblems = ReturnType<typeof readInputs>['problems'];

/** Reports problems of case files, one per line. Returns true if one is an error, which makes the evaluation invalid. */
export function reportProblems(problems: CaseProblems, invocation: EvalInvocation): boolean {
  const { terminal } = invocation;
  const { err, style } = terminal;
  const cwd = invocation.surroundings.cwd;
  for (const { file, line, column, message, hint, severity } of problems) {
    const place = `${printable(path.relative(cwd, file) || file)}:${String(line)}:${String(column)}`;
    err(`${place}: ${style(severity === 'error' ? 'red' : 'yellow', severity)}: ${printable(message)}`);
    if (hint !== '') err(style('dim', `  hint: ${printable(hint)}`));
  }
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error');
  if (first === undefined) return false;
  const more = others.length === 0 ? '' : `, and ${String(others.length)} more`;
  terminal.printJson({
    error: {
      code: 'input/invalid',
      message: printable(`${first.file}:${String(first.line)}:${String(first.column)}: ${first.message}${more}`),
      hint: printable(first.hint) || 'fix the case files',
      data: { problems: problems.map(({ code: _code, ...problem }) => problem) },
    },
  });
  return true;
}

/** Opens the workers of `eval --workers`. Returns nothing without the flag, and throws if no worker could take an attempt. */
async function openWorkers(invocation: EvalInvocation) {
  const { flags, signal } = invocation;
  if (flags.workers !== true) return undefined;
  for (const other of ['update-cassettes', 'subject', 'executor'] as const)
    if (flags[other] !== undefined && flags[other] !== false)
      throw usageError(`--workers and --${other} exclude each other`, `omit --${other}: workers have their own`);
  const { openEvaluationWorkers } = await import('#fleet');
  const fleet = await openFleetFor(fleetOptions(invocation));
  try {
    const workers = await openEvaluationWorkers(fleet, { judge: flags.judge, signal });
    return { elsewhere: workers.elsewhere, close: () => workers.close().finally(() => fleet.close()) };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}
