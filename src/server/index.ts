/**
 * The HTTP API of one machine, and the page that uses it. It never decides what a run may do. What it offers here is for servers whose runs are
 * elsewhere; `#server/run-server` is the server itself, and `#server/api` has the types of its answers. Read `router.ts` first, then `routes.ts`.
 */

// Routes and their answers.
export { route } from './router.ts';
export { answerApi, readForm } from './exchange.ts';
export { frameLine } from './server-sent-events.ts';
export { httpError, sendError } from './http-error.ts';
export { openPageFiles } from './page-files.ts';

// What the console uses, on any server that has records and questions.
export { sharedRoutes } from './routes.ts';
export { openRunReader } from './run-views.ts';
export { uploadRoutes } from './routes/uploads.ts';
export { RunFilter, RunWork } from './api/runs.ts';
