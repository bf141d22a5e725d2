/**
 * The public names of journal.
 */

export type { ChainKeys } from './chain-lines.ts';
export { contentPath, readContent } from './content.ts';
export { eventIndex } from './event-index.ts';
export { serverSentEvents } from './export/server-sent-events.ts';
export {
  joinedSink,
  jsonlSink,
  openReplayFilter,
  terminalSink,
  type EventSink,
  type SinkLine,
} from './export/sinks.ts';
export type { Telemetry } from './export/telemetry.ts';
export { followRun, infoFromEvents, readRun, type Content, type ReadRun } from './journal-reader.ts';
export { createRun, type RunRecord, type RunRecordOptions } from './journal-writer.ts';
export { pruneRuns } from './prune.ts';
export type { NamedText, RecordStorage } from './record-storage.ts';
export { redactionProblem } from './redact/redact-variants.ts';
export { createRedactor, type NamedSecret, type Redactor } from './redact/redact.ts';
export { claimRun, resumeClaims, type ResumeClaim } from './resume-claims.ts';
export {
  EVENTS_FILE,
  FINAL_FILE,
  RUN_FILE,
  STATE_FILE,
  foreignReason,
  isRunId,
  listRuns,
  newRunId,
  runIds,
  runLife,
  runState,
  runsDirectory,
  type ListedRun,
  type RunReading,
} from './run-folder.ts';
export { infoText } from './run-info.ts';
export { projectOfRun } from './run-units.ts';
export { findRun } from './run-units.ts';
export { toTraceId } from './trace-id.ts';
export { findLostLines, recordProblem, verifyChain, verifyChainOf, type ChainVerification } from './verify-chain.ts';
export { verifyRun, type Verification, type VerifyOptions } from './verify.ts';
