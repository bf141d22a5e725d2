/** Evaluations of the library. As on the command line, the checks of `eval check` come first, and an error leaves no verdict. */
import type { CaseProblem } from './cases/problem.ts';
import { evaluate as runCases, type EvaluateOptions as CaseOptions } from './evaluate.ts';
import { lintSuite, type LintOptions } from './lint/lint-suite.ts';
import { finishReport } from './report/report.ts';
import type { EvalReport } from './report/result.ts';
import { withVerdict } from './report/verdict.ts';
import { evaluateTrigger as runTrigger, type TriggerOptions as QueryOptions } from './trigger/run-trigger.ts';

interface Problems {
  /** Problems that `readCases` found. */
  readonly problems?: readonly CaseProblem[];
}

export interface EvaluateOptions extends CaseOptions, Problems {}

export interface TriggerOptions extends QueryOptions, Problems {}

/** Checks the cases, runs them and grades their records. An error of the checks leaves no verdict, and nothing runs. */
export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  return checked('cases', options, () => runCases(options));
}

/** Checks the cases, and measures which skill activates when all of them are installed. */
export async function evaluateTrigger(options: TriggerOptions): Promise<EvalReport> {
  return checked('trigger', options, () => runTrigger(options));
}

async function checked(
  kind: LintOptions['kind'],
  { cases, skills, problems = [] }: TriggerOptions | EvaluateOptions,
  run: () => Promise<EvalReport>,
): Promise<EvalReport> {
  const startedAt = new Date();
  const all = [...problems, ...lintSuite(cases, { kind, skills })];
  const texts = (severity: CaseProblem['severity']): readonly string[] =>
    all.flatMap((one) => (one.severity === severity ? [`${one.file}:${String(one.line)}: ${one.message}`] : []));
  const suiteErrors = texts('error');
  const report =
    suiteErrors.length === 0 ? await run() : finishReport(startedAt, { suiteErrors, results: [], isPartial: false });
  return withVerdict(report, {}, texts('warning'));
}
