/**
 * The HTTP API of one machine, and the page that uses it. What it offers here is for servers whose runs are elsewhere: routes, answers and errors.
 * `#server/run-server` is the server itself. Read `router.ts` first, then `routes.ts`.
 */

// Routes and answers.
export { eventRoute, fileRoute, jsonRoute, type Route } from './router.ts';
export { answerApi, sendError } from './exchange.ts';
export { frameLine } from './server-sent-events.ts';
export { httpError } from './http-error.ts';
export { readForm } from './request-body.ts';
export { openPageFiles } from './page-files.ts';

// What the console reads.
export { readingRoutes } from './page-routes.ts';
export { openRunReader } from './run-views.ts';
export type { RunRecords } from './records.ts';

// Questions of runs.
export { conflict, questionView, type ApprovalBook } from './approvals.ts';
export { Answered, ApprovalAnswer, Approvals } from './api/govern.ts';
export { BudgetLimits } from './api/runs.ts';
