/** `eval compare`, `eval grade` and `eval init`: the subcommands that run no cases. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import {
  ARMS,
  compareReports,
  dateText,
  initCases,
  isRegression,
  makeReport,
  numberText,
  rateText,
  readCases,
  regrade,
  storedRuns,
  terminalComparison,
  buildTrend,
} from '#evals';
import { countText, printable, quoted } from '#core';
import { fitText, isDirectory, isSystemError, makeFolders, padText } from '#platform';
import { VERSION } from '../../version.ts';
import { parseThresholds, wantedReports, type EvalInvocation } from './flags.ts';
import { openReport, storedReports } from './report-folder.ts';
import { resolveCwd, reportProblems } from './inputs.ts';
import { printReport, writeReports } from './write-reports.ts';
import { EXIT, UsageError } from '../exit.ts';
import { openProgress } from '../terminal/progress.ts';

/** Compares two reports. Exit code 1: a case is broken, or the pass rate of a live model fell by more than chance. */
export async function evalCompare(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal } = invocation;
  const [, before, after, ...rest] = positionals;
  if (before === undefined || after === undefined || rest.length > 0)
    throw new UsageError(
      'expected two reports',
      'usage: skillwright eval compare A B, with folders of .agent/evals, files, or last',
    );
  const cwd = resolveCwd(invocation);
  const [old, now] = [openReport(cwd, before), openReport(cwd, after)];
  const comparison = compareReports(old, now);
  const isPrinted = wantedReports(flags).some(({ file }) => file === undefined || file === '-');
  if (!terminal.printJson(comparison) && !isPrinted) terminal.out(terminalComparison(comparison, terminal));
  await writeReports(now, invocation, { before: old });
  return isRegression(comparison) ? EXIT.failed : EXIT.done;
}

/** Shows how the cases of the last report did in the stored reports before it. */
export async function evalTrend(invocation: EvalInvocation): Promise<number> {
  const { positionals, terminal } = invocation;
  if (positionals.length > 1) throw new UsageError('eval trend takes no argument', 'usage: skillwright eval trend');
  const rows = buildTrend(storedReports(resolveCwd(invocation)));
  if (rows.length === 0) throw new UsageError('no evaluation found in this project', 'run skillwright eval first');
  if (!terminal.printJson({ trend: rows }))
    terminal.out(
      rows.map(({ startedAt, passRate, cases, tokens, models, changed }) =>
        fitText(
          [
            dateText(startedAt),
            padText(rateText(passRate), 20),
            countText(cases, 'case'),
            `${numberText(tokens)} tokens a run`,
            printable(models),
            ...(changed.length === 0 ? [] : [`changed: ${printable(changed.join(', '))}`]),
          ].join('  '),
          terminal.width,
        ),
      ),
    );
  return EXIT.done;
}

/** Grades stored runs with the current cases. */
export async function evalGrade(invocation: EvalInvocation): Promise<number> {
  const { positionals, flags, terminal, signal } = invocation;
  const [, ...words] = positionals;
  if (words.length === 0 || flags.cases === undefined)
    throw new UsageError('missing argument: RUN or --cases', 'usage: skillwright eval grade RUN... --cases FILE');
  const cwd = resolveCwd(invocation);
  const thresholds = parseThresholds(flags);
  const { cases, problems } = readCases(flags.cases.map((file) => path.resolve(cwd, file)));
  if (reportProblems(problems, invocation)) return EXIT.invalidEvaluation;
  const startedAt = new Date();
  const missing = words.find((word) => !isDirectory(path.resolve(cwd, word)));
  if (missing !== undefined)
    throw new UsageError(`no run at ${quoted(missing, 200)}`, 'name run folders, or folders of .agent/evals');
  const runs = words.flatMap((word) => storedRuns(path.resolve(cwd, word), cases));
  if (runs.length === 0) throw new UsageError('no runs found', 'name run folders, or folders of .agent/evals');
  const progress = openProgress(terminal);
  const results = await regrade(runs, cases, {
    signal,
    onProgress: (done, of) => progress.show(`graded ${String(done)} of ${String(of)}`),
  }).finally(() => progress.end());
  const order = new Map(cases.map(({ id }, place) => [id, place]));
  const report = makeReport({
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    skills: [],
    isPartial: false,
    results: results.toSorted(
      (a, b) =>
        (order.get(a.case) ?? 0) - (order.get(b.case) ?? 0) ||
        ARMS.indexOf(a.arm) - ARMS.indexOf(b.arm) ||
        a.attempt - b.attempt,
    ),
  });
  return printReport(report, invocation, { thresholds });
}

/** Writes first cases for a skill to `evals/cases.yaml`. Never overwrites a file. */
export async function evalInit(invocation: EvalInvocation): Promise<number> {
  const { positionals, terminal } = invocation;
  const [, skill = '.', ...rest] = positionals;
  if (rest.length > 0) throw new UsageError('eval init takes one skill', 'usage: skillwright eval init SKILL');
  const folder = path.resolve(resolveCwd(invocation), skill);
  const text = initCases(folder);
  const file = path.join(folder, 'evals/cases.yaml');
  try {
    makeFolders(path.dirname(file));
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code !== 'EEXIST')
      throw new UsageError(`cannot write the cases: ${error.code}`, 'check the permissions of the folder');
    const isSame = readFileSync(file, 'utf8') === text;
    throw new UsageError(
      `${quoted(path.relative(resolveCwd(invocation), file), 200)} already exists`,
      isSame ? 'its content is up to date' : 'remove it, or add cases to it',
    );
  }
  const shown = path.relative(resolveCwd(invocation), file);
  if (!terminal.printJson({ file, cases: readCases([file]).cases.length })) terminal.out(printable(shown));
  terminal.remark(`next: review the cases, then run skillwright eval ${printable(shown)}`);
  return EXIT.done;
}
