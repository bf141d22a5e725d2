/**
 * The public names of evals/report.
 */

export {
  CONTEXT_SECTIONS,
  type ContextSection,
  type PageData,
  type RunStep,
  type RunView,
  type TurnView,
} from '../page/view.ts';
export { CHANGES, type BeforeAfter, type CaseVerdict, type Change, type ReportComparison } from './compare-reports.ts';
export {
  chanceText,
  sumCosts,
  failuresFirst,
  incompleteText,
  invalidLines,
  isInvalid,
  isRated,
  modelsText,
  ownArm,
  percentText,
  signedNumber,
  sumCounts,
  countTokens,
  verdictOfDifference,
} from './report-text.ts';
export {
  CASE_STATUSES,
  type Arm,
  type CaseResult,
  type CaseStatus,
  type CheckResult,
  type Comparison,
  type EvalReport,
  type Rate,
  type ReportSkill,
  type StatusCounts,
  type TriggerReport,
} from './result.ts';
