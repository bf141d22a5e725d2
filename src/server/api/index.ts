/**
 * The public names of server/api.
 */

export type {
  ApprovalDetail,
  Approvals,
  CaseHistory,
  DecisionView,
  EvaluationRow,
  Isolation,
  PendingApproval,
  PolicyView,
  ServerStatus,
} from './govern.ts';
export type {
  EventDetail,
  EventRow,
  Integrity,
  PlanView,
  ReplayReport,
  RunComparison,
  RunDetail,
  RunList,
  RunRow,
  StartRequest,
  Started,
  Uploaded,
} from './runs.ts';
export type {
  CatalogView,
  PackPlan,
  PackRequest,
  ScanView,
  SkillDetail,
  SkillFile,
  SkillList,
  SkillRow,
} from './skills.ts';
