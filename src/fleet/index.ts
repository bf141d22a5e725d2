/**
 * Runs on many machines: a server and workers that share a PostgreSQL database. Never decides what a run may do: the configuration of the
 * worker does. Read `worker.ts` for the life of a run and `fleet-server.ts` for the API.
 */

// The database and the contents beside it.
export { openFleet, type Fleet, type FleetOptions } from './open-fleet.ts';
export { isUnreachable, openDatabase, watchDatabase } from './database.ts';
export { openQueue } from './dbos-queue.ts';
export { pinSkills } from './skill-sets.ts';

// The server and the workers.
export { openFleetServer } from './fleet-server.ts';
export { startWorker } from './worker.ts';

// Evaluations on workers.
export { createAttemptRunner, openEvaluationWorkers } from './run-attempt.ts';

// Administration.
export { fleetState } from './fleet-state.ts';
export { RIGHTS, createKey, listKeys, revokeKey } from './keys.ts';
export { pruneContents } from './prune-contents.ts';
export { pruneFleet } from './prune-fleet.ts';
