/**
 * The public library. Exports are listed by hand; keep them under 25 values.
 *
 * @module
 */
export { followRun, readRun } from './journal/journal-reader.ts';
export type { FollowOptions, ReadRun, ReadRunOptions } from './journal/journal-reader.ts';
export { listRuns } from './journal/run-folder.ts';
export type { ListedRun } from './journal/run-folder.ts';
export { serverSentEvents } from './server/server-sent-events.ts';
export type { ServerSentEventOptions } from './server/server-sent-events.ts';
export { jsonlSink, terminalSink } from './journal/export/sinks.ts';
export type { EventSink, TerminalSinkOptions } from './journal/export/sinks.ts';
export type { Tracer } from './runtime/tracer.ts';
export { verifyRun } from './journal/verify.ts';
export type { Verification, VerifyOptions } from './journal/verify.ts';
export { verifyChain } from './journal/verify-chain.ts';
export type { ChainProblem, ChainVerification } from './journal/verify-chain.ts';
export type { Access } from './policy/access.ts';
export type { Decision } from './core/access.ts';
export type { ApprovalAnswer, ApprovalReply, ApprovalRequest, Approve } from './core/approval.ts';
export { memorySkills } from './library/skill-source.ts';
export type {
  MemorySkill,
  MemorySource,
  SkillSource,
  SourceFile,
  SourceOptions,
  SourceSkill,
} from './library/skill-source.ts';
export { openSkills } from './library/open-skills.ts';
export type { ExecuteOptions, OpenSkillsOptions, SkillLibrary } from './library/open-skills.ts';
export type {
  AnswerQuestion,
  ApprovalQuestion,
  Conversation,
  ConversationOptions,
  ProgramOutput,
} from './library/conversation.ts';
export type { LibraryProblem } from './library/problems.ts';
export type { HintTexts } from './library/embedder-hints.ts';
export type { AgentsTool, AnthropicRunnable, GenAiTool, OpenAiRunnable, Shapes } from './library/shapes.ts';
export { planCatalog } from './skills/catalog/catalog.ts';
export type { Catalog, CatalogItem, CatalogOptions } from './skills/catalog/catalog.ts';
export type { CatalogFormat } from './core/catalog-layout.ts';
export type { Config } from './core/config/config.ts';
export type { DiagnosticCode, Severity } from './core/diagnostic-codes.ts';
export type { Diagnostic, Edit, Mode } from './core/diagnostic.ts';
export { SkillError, isSkillError } from './core/errors.ts';
export type { SkillErrorCode, SkillErrorData } from './core/errors.ts';
export type { AttachedWorkspace, Executor, ExecutorName } from './core/execution.ts';
export type { JournalLine, Outcome, RunEvent, RunInfo } from './core/run-events.ts';
export { nearestNames, resolveSkill } from './skills/registry/resolve-skill.ts';
export type { ScanReport, SkillIndex } from './skills/registry/index-skills.ts';
export type { ShadowedSkill } from './skills/registry/index-skills.ts';
export type { SkillControls, SkillEntry, SkillHead, SkillRoot, Visibility } from './core/skill.ts';
export { estimateTokens } from './core/tokens.ts';
export { checkSkill } from './skills/loader/check-skill.ts';
export type { CheckOptions, CheckedSkill } from './skills/loader/check-skill.ts';
export { buildIndex, openRegistry } from './skills/registry/registry.ts';
export type { IndexRoot, Registry, RegistryChange, RegistryOptions } from './skills/registry/registry.ts';
export { defaultRoots } from './runtime/roots.ts';
export { openApprovals } from './policy/approval/approver.ts';
export type { Approvals, ApprovalsOptions, Asker } from './policy/approval/approver.ts';
export type { RuleTexts, SessionPolicy } from './policy/session-policy.ts';
export { replayRun } from './runtime/replay/replay-run.ts';
export type { Replay, ReplayOptions, ReplayStep } from './runtime/replay/replay-run.ts';
export { createRuntime } from './packs/open-runtime.ts';
export type { Runtime, RuntimeOptions } from './runtime/runtime.ts';
export type { SearchOptions, SearchResult } from './runtime/search/skill-search.ts';
export type { Distrust, DistrustOptions } from './runtime/skill-trust.ts';
export type { Run, RunOptions } from './runtime/start-run.ts';
export { buildSearchIndex, readSearchIndex } from './skills/search/search-index.ts';
export type { SearchDocument, SearchHit, SearchIndex } from './skills/search/search-index.ts';
export { VERSION } from './version.ts';
