/**
 * The public names of fleet.
 */

export type { StoredAttempt } from './attempt-format.ts';
export { openAttemptsOnWorkers } from './attempts-on-workers.ts';
export {
  RETRY_MS,
  inTransaction,
  isDisconnected,
  isPassing,
  isUnreachable,
  openDatabase,
  reached,
  untilReached,
  watchDatabase,
  withoutPassword,
} from './database.ts';
export { listen, migrateQueue, openQueue, pruneEntries } from './dbos-queue.ts';
export { openFleetServer } from './fleet-server.ts';
export { fleetState } from './fleet-state.ts';
export { RIGHTS, createKey, listKeys, revokeKey } from './keys.ts';
export { openFleet, type Fleet, type FleetOptions } from './open-fleet.ts';
export { pruneContents } from './prune-contents.ts';
export { pruneFleet } from './prune-fleet.ts';
export { fetchSkills, pinFolders, pinSkills } from './skill-sets.ts';
export type { AttemptContext, RunAttempt } from './stored-attempt.ts';
export { startWorker } from './worker.ts';
