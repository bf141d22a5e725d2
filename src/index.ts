/**
 * The library. What stands here is public: add by hand, never by wildcard, and keep it under 25 values.
 *
 * @module
 */
export { toAtif } from './audit/atif.ts';
export type { Trajectory, TrajectoryRun } from './audit/atif.ts';
export { followRun, readRun } from './audit/journal-reader.ts';
export type { FollowOptions, ReadRun, ReadRunOptions } from './audit/journal-reader.ts';
export { listRuns } from './audit/run-folder.ts';
export type { ListedRun } from './audit/run-folder.ts';
export { serverSentEvents } from './audit/server-sent-events.ts';
export type { ServerSentEventOptions } from './audit/server-sent-events.ts';
export { jsonlSink, terminalSink } from './audit/sinks.ts';
export type { EventSink, TerminalSinkOptions } from './audit/sinks.ts';
export { verifyRun } from './audit/verify.ts';
export type { Verification, VerifyOptions } from './audit/verify.ts';
export type { Access, Decision } from './core/policy/access.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './core/policy/approval.ts';
export { planCatalog } from './core/catalog.ts';
export type { Catalog, CatalogItem, CatalogOptions } from './core/catalog.ts';
export type { CatalogFormat } from './core/catalog-layout.ts';
export type { Config } from './core/config/config.ts';
export type { DiagnosticCode, Severity } from './core/diagnostic-codes.ts';
export type { Diagnostic, Edit, Mode } from './core/diagnostic.ts';
export { SkillError, isSkillError } from './core/errors.ts';
export type { SkillErrorCode, SkillErrorData } from './core/errors.ts';
export type { JournalLine, Outcome, RunEvent, RunInfo } from './core/journal.ts';
export { nearestNames, resolveSkill } from './core/resolve-skill.ts';
export type { ScanReport, SkillIndex } from './core/index-skills.ts';
export type { ShadowedSkill, SkillControls, SkillEntry, SkillHead, SkillRoot, Visibility } from './core/skill.ts';
export { estimateTokens } from './core/tokens.ts';
export { checkSkill } from './loader/check-skill.ts';
export type { CheckOptions, CheckedSkill } from './loader/check-skill.ts';
export { buildIndex, openRegistry } from './registry/registry.ts';
export type { Registry, RegistryChange, RegistryOptions } from './registry/registry.ts';
export { defaultRoots } from './registry/roots.ts';
export { openApprovals } from './runtime/approval/approver.ts';
export type { Approvals, ApprovalsOptions, Asker } from './runtime/approval/approver.ts';
export type { RuleTexts, SessionPolicy } from './runtime/policy.ts';
export { replayRun } from './runtime/replay-run.ts';
export type { Replay, ReplayOptions, ReplayStep } from './runtime/replay-run.ts';
export { createRuntime } from './runtime/runtime.ts';
export type { Runtime, RuntimeOptions } from './runtime/runtime.ts';
export type { SearchOptions, SearchResult } from './runtime/skill-search.ts';
export type { Distrust, DistrustOptions } from './runtime/skill-trust.ts';
export type { Run, RunOptions } from './runtime/start-run.ts';
export { buildSearchIndex, readSearchIndex } from './search/search-index.ts';
export type { SearchDocument, SearchHit, SearchIndex } from './search/search-index.ts';
export { VERSION } from './version.ts';
