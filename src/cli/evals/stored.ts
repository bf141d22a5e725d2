/** `eval compare`, `eval trend`, `eval grade` and `eval init`: the subcommands that run no cases. */
import path from 'node:path';

import { printable } from '#core';
import { compareRuns, gradeRuns, showTrend, writeFirstCases } from '#evals';
import { EXIT, usageError } from '../exit.ts';
import { configFor, requireValidConfig } from '../surroundings.ts';
import { openProgress } from '../terminal/progress.ts';
import { parseThresholds, type EvalInvocation } from './flags.ts';
import { reportProblems } from './run.ts';
import { printOutcome } from './write-reports.ts';

/** Compares two reports. Exit code 1: a case is broken, or the pass rate of a live model fell by more than chance. */
export async function evalCompare(invocation: EvalInvocation): Promise<number> {
  const { positionals } = invocation;
  const [, before, after, ...rest] = positionals;
  if (before === undefined || after === undefined || rest.length > 0)
    throw usageError(
      'expected two reports',
      'usage: skillwright eval compare A B, with folders of .agent/evals, files, or last',
    );
  return printOutcome(compareRuns(invocation.surroundings.cwd, before, after), invocation);
}

/** Shows how the cases of the last report did in the stored reports before it. */
export async function evalTrend(invocation: EvalInvocation): Promise<number> {
  const { positionals, terminal } = invocation;
  if (positionals.length > 1) throw usageError('eval trend takes no argument', 'usage: skillwright eval trend');
  const { rows, lines } = showTrend(invocation.surroundings.cwd, terminal.wrap);
  if (!terminal.printJson({ trend: rows })) terminal.out(lines);
  return EXIT.done;
}

export async function evalGrade(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal, signal } = invocation;
  const [, ...runs] = positionals;
  if (runs.length === 0 || flags.cases === undefined)
    throw usageError('missing argument: RUN or --cases', 'usage: skillwright eval grade RUN... --cases FILE');
  await requireValidConfig(invocation);
  const progress = openProgress(terminal, { isLogged: true });
  const outcome = await gradeRuns({
    cwd: invocation.surroundings.cwd,
    runs,
    caseFiles: flags.cases,
    thresholds: parseThresholds(flags),
    settings: (await configFor(invocation)).config.evals,
    signal,
    onProblems: (problems) => reportProblems(problems, invocation),
    onProgress: (text) => progress.show(text),
  }).finally(() => progress.end());
  return outcome === undefined ? EXIT.invalidEvaluation : printOutcome(outcome, invocation);
}

/** Writes first cases for a skill to `evals/cases.yaml`. Never overwrites a file. */
export async function evalInit(invocation: EvalInvocation): Promise<number> {
  const { positionals, terminal } = invocation;
  const [, skill = '.', ...rest] = positionals;
  if (rest.length > 0) throw usageError('eval init takes one skill', 'usage: skillwright eval init SKILL');
  const written = writeFirstCases(invocation.surroundings.cwd, skill);
  const shown = printable(path.relative(invocation.surroundings.cwd, written.file));
  if (!terminal.printJson(written)) terminal.out(shown);
  terminal.remark(`next: review the cases, then run skillwright eval ${shown}`);
  return EXIT.done;
}
