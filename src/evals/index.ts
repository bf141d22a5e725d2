/**
 * Evaluations: reads cases, runs them in isolated homes, grades the recorded runs, and stores and renders reports. One function per
 * subcommand of `skillwright eval`. Never prints. Read `project/run-evaluation.ts` first.
 */

// Run cases.
export type { CaseProblem } from './cases/problem.ts';
export { readInputs } from './project/inputs.ts';
export { openEvaluation, type EvaluationRequest, type EvaluationResult } from './project/run-evaluation.ts';
export { tuneDescription } from './tune/tune-description.ts';

// Finished evaluations.
export { compareRuns, gradeRuns, showTrend, writeFirstCases } from './project/stored.ts';
export { storedEvaluations } from './project/stored-evaluations.ts';

// Reports.
export type { EvalReport } from './report/result.ts';
export { verdictOf, type Thresholds } from './report/report.ts';
export { renderReport, REPORT_FILES } from './project/render-report.ts';
export { terminalReport } from './report/terminal.ts';
export { PORTABILITY_FILES, renderPortability, terminalPortability } from './subjects/portability-text.ts';

// Attempts that run on other machines.
export {
  packAttempt,
  runPackedAttempt,
  type PackedAttempt,
  type PackedAttemptOptions,
} from './run/portable-attempt.ts';
export type { Elsewhere } from './run/run-suite.ts';
