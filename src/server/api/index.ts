/** What the routes of the API answer, as types for its page. */

export type {
  Approvals,
  CaseHistory,
  DecisionView,
  EvaluationRow,
  Isolation,
  PolicyView,
  ServerStatus,
} from './govern.ts';
export type { EventRow, Integrity, ReplayReport, RunComparison, RunDetail, RunList, StartRequest } from './runs.ts';
export type { CatalogView, PackPlan, PackRequest, ScanView, SkillDetail, SkillList } from './skills.ts';
