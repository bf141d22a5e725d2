/**
 * The public names of evals.
 */

export type { EvalCase } from './cases/case.ts';
export { initCases } from './cases/init-cases.ts';
export type { CaseProblem } from './cases/problem.ts';
export { readCases } from './cases/read-cases.ts';
export { skillFoldersAt, skillFoldersIn, skillNameAt } from './cases/suite.ts';
export { evaluate, evaluateAttempt, type EvaluateOptions } from './evaluate.ts';
export { regrade } from './grade/regrade.ts';
export { pageData, type PageOptions } from './page/page-data.ts';
export { htmlReport } from './page/report-page.ts';
export { resultView } from './page/run-view.ts';
export { compareReports, isRegression } from './report/compare-reports.ts';
export { markdownComparison, terminalComparison } from './report/compare-text.ts';
export { REPORT_FORMATS, type WrittenReport } from './report/formats.ts';
export { jsonReport, readReport } from './report/json.ts';
export {
  armTexts,
  chanceText,
  dateText,
  differenceText,
  numberText,
  ownArm,
  percentText,
  rateText,
} from './report/report-text.ts';
export { exitOf, makeReport, verdictOf, type Thresholds } from './report/report.ts';
export { ARMS, groupBy, type CaseResult, type EvalReport } from './report/result.ts';
export { terminalReport } from './report/terminal.ts';
export { buildTrend } from './report/trend.ts';
export type { SuiteModel } from './run/case-model.ts';
export { mostRepetitions, buildPlan, type PlanOptions } from './run/plan.ts';
export { packAttempt, unpackAttempt, type PackedAttempt } from './run/portable-attempt.ts';
export type { Elsewhere, SuiteBasis, SuiteProgress } from './run/run-suite.ts';
export { makeSkillSet } from './run/skill-set.ts';
export { storedRuns } from './run/stored-runs.ts';
export { openSubject, type OpenSubject } from './subjects/open-subject.ts';
export { htmlPortability, markdownPortability, terminalPortability } from './subjects/portability-text.ts';
export {
  makePortability,
  portabilityExit,
  type PortabilityReport,
  type SubjectReport,
} from './subjects/portability.ts';
export { OWN_LOOP, SUBJECT_AGENTS, readSubject } from './subjects/read-subject.ts';
export { subjectName } from './subjects/subject-case.ts';
export { MOST_DISTRACTORS } from './trigger/distractors.ts';
export { evaluateTrigger, type TriggerOptions } from './trigger/run-trigger.ts';
export { proposeDescriptions } from './tune/propose.ts';
export { tune, withDescription, type TuneOptions, type TuneReport } from './tune/tune.ts';
