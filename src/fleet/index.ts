/**
 * Runs on many machines: a server and workers that share a PostgreSQL database. Never decides what a run may do: the configuration of the
 * worker does. A run goes from `submitRun` (`run-table.ts`) to `queue.ts`, `take-runs.ts` and `work-on-run.ts`, in this order; `fleet-server.ts` is the API.
 */

// The database, the queue and the contents beside them.
export { openFleet, type Fleet } from './open-fleet.ts';
export { isUnreachable, watchDatabase } from './database.ts';
export { pinSkills } from './skill-sets.ts';

// The server and the workers.
export { openFleetServer } from './fleet-server.ts';
export { startWorker } from './worker.ts';

// Evaluations on workers.
export { createAttemptRunner } from './stored-attempt.ts';
export { openEvaluationWorkers } from './attempts-on-workers.ts';

// Administration.
export { fleetState } from './metrics.ts';
export { RIGHTS } from './api.ts';
export { createKey, listKeys, revokeKey } from './keys.ts';
export { pruneFleet } from './prune.ts';
