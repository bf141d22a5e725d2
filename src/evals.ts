/**
 * Evaluations: reads cases, runs them in isolation and grades them from their records. See docs/evals.md.
 *
 * @module
 */
export type { CaseLocation as CasePlace, EvalCase, Expectations } from './evals/cases/case.ts';
export { compareReports, isRegression } from './evals/report/compare-reports.ts';
export type { ReportComparison } from './evals/report/compare-reports.ts';
export { exitOf, verdictOf } from './evals/report/verdict.ts';
export type { EvalVerdict } from './evals/report/verdict.ts';
export type { Thresholds } from './evals/report/thresholds.ts';
export type {
  Arm,
  ArmSummary,
  CaseResult,
  CaseStatus,
  CheckResult,
  Comparison,
  Control,
  EvalReport,
  FlakyCase,
  ModelWay,
  NoComparison,
  Rate,
  TriggerReport,
  Verdict,
} from './evals/report/result.ts';
export { initCases } from './evals/cases/init-cases.ts';
export type { CaseProblem } from './evals/cases/problem.ts';
export { readCases } from './evals/cases/read-cases.ts';
export type { ReadCases, ReadCasesOptions } from './evals/cases/read-cases.ts';
export { evaluate, evaluateTrigger } from './evals/checked.ts';
export type { EvaluateOptions, TriggerOptions } from './evals/checked.ts';
export { regrade } from './evals/grade/regrade.ts';
export type { StoredRun } from './evals/grade/regrade.ts';
export { REPORT_FORMATS } from './evals/report/formats.ts';
export { readReport } from './evals/report/json.ts';
export type { SuiteModel } from './evals/run/case-model.ts';
export type { SuiteProgress } from './evals/run/run-suite.ts';
export { skillFoldersIn } from './evals/cases/suite.ts';
export { tune } from './evals/tune/tune.ts';
export type { TuneOptions, TuneReport } from './evals/tune/tune.ts';
