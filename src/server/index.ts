/**
 * The public names of server.
 */

export { Answered, ApprovalAnswer, Approvals, Evaluations, ServerStatus } from './api/govern.ts';
export { BudgetLimits, type Integrity, type RunDetail, type RunRow, type RunUsage } from './api/runs.ts';
export { conflict, questionView, type ApprovalBook } from './approvals.ts';
export { answerApi, sendError } from './exchange.ts';
export { HttpError } from './http-error.ts';
export { changes } from './live-stream.ts';
export { API_PATH, openApi } from './open-api.ts';
export { readPageFiles, sendPage, type PageFile } from './page-files.ts';
export type { RunPage, RunRecords } from './records.ts';
export { readForm } from './request-body.ts';
export { eventRoute, fileRoute, jsonRoute, type Immutable, type Route } from './router.ts';
export { catalogRoutes } from './routes/catalog.ts';
export { policyRoutes } from './routes/govern.ts';
export { runRoutes } from './routes/runs.ts';
export { skillRoutes } from './routes/skills.ts';
export { openRunReader } from './run-views.ts';
export type { EvaluationSource } from './server-options.ts';
