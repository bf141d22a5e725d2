/**
 * The record of a run: one folder of hash-chained events, written before each step takes effect, and the chain of all runs beside it. It also
 * keeps secrets out of records and sends events on. It performs nothing and decides nothing. Read `run-folder.ts` first, then `journal-writer.ts`.
 */

// Write a run: here, or through a storage of the caller.
export { createRun, type RunRecord } from './journal-writer.ts';
export type { RecordStorage } from './record-storage.ts';

// Find and read runs.
export {
  EVENTS_FILE,
  isDerivedFile,
  isRunId,
  listRuns,
  newRunId,
  runIds,
  runsDirectory,
  runsFolderState,
  toTraceId,
  type ListedRun,
} from './run-folder.ts';
export { findRun, projectOfRun } from './run-units.ts';
export { followRun, readRun, writeSummary, type ReadRun } from './journal-reader.ts';
export { readContent } from './content.ts';

// Verify runs, one by one and as a chain; remove old ones.
export { verifyRun, type Verification } from './verify.ts';
export { findLostLines, recordProblem, verifyChain, type ChainVerification } from './verify-chain.ts';
export type { ChainKeys } from './chain-lines.ts';
export { pruneRuns } from './prune.ts';

// Which runs continue a run.
export { claimRun, resumeClaims } from './resume-claims.ts';

// Pass events on while they happen.
export { jsonlSink, openReplayFilter, terminalSink, type EventSink } from './export/sinks.ts';

// Remove secrets from text and bytes.
export { createRedactor } from './redact/redact.ts';
export { redactionProblem } from './redact/redact-variants.ts';
