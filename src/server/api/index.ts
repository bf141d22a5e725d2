/** What the routes of the API take and answer, by their paths, as types for the page. */
import type { z } from 'zod';

import type * as govern from './govern.ts';
import type * as runs from './runs.ts';
import type * as skills from './skills.ts';

export type { Approvals, ServerStatus } from './govern.ts';
export type { EventRow, RunDetail } from './runs.ts';

interface GetSchemas {
  '/status': typeof govern.ServerStatus;
  '/scan': typeof skills.ScanView;
  '/skills': typeof skills.SkillList;
  '/skills/{id}': typeof skills.SkillDetail;
  '/skills/{id}/files/{path}': typeof skills.SkillFile;
  '/catalog': typeof skills.CatalogView;
  '/runs': typeof runs.RunList;
  '/run-statistics': typeof runs.RunStatistics;
  '/runs/{id}': typeof runs.RunDetail;
  '/runs/{id}/rows': typeof runs.Rows;
  '/runs/{id}/events/{seq}': typeof runs.EventDetail;
  '/runs/{id}/integrity': typeof runs.Integrity;
  '/comparison': typeof runs.RunComparison;
  '/approvals': typeof govern.Approvals;
  '/policy': typeof govern.PolicyView;
  '/isolation': typeof govern.Isolation;
  '/evaluations': typeof govern.Evaluations;
  '/case-history': typeof govern.CaseHistory;
}

/** The body and the answer. */
interface PostSchemas {
  '/skills/{id}/repair': [typeof skills.RepairRequest, typeof skills.Repaired];
  '/packs/plan': [typeof skills.PackRequest, typeof skills.PackPlan];
  '/packs/apply': [typeof skills.PackApply, typeof skills.PackApplied];
  '/runs': [typeof runs.StartRequest, typeof runs.Started];
  '/runs/{id}/cancel': [z.ZodUndefined, z.ZodUnknown];
  '/runs/{id}/resume': [typeof runs.ContinueRequest, typeof runs.Started];
  '/runs/{id}/fork': [typeof runs.ForkRequest, typeof runs.Started];
  '/runs/{id}/replay': [z.ZodUndefined, typeof runs.ReplayReport];
  '/approvals/{id}': [typeof govern.ApprovalAnswer, typeof govern.Answered];
  '/mode': [typeof govern.ModeChoice, typeof govern.ModeChoice];
  '/policy/explain': [typeof govern.ExplainRequest, typeof govern.DecisionView];
}

/** What `GET` answers. */
export type Answers = { readonly [Path in keyof GetSchemas]: z.output<GetSchemas[Path]> };

/** What `POST` takes and answers. */
export type Posts = {
  readonly [Path in keyof PostSchemas]: {
    readonly body: z.input<PostSchemas[Path][0]>;
    readonly answer: z.output<PostSchemas[Path][1]>;
  };
};
