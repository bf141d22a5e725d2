/**
 * Skills as tools for any agent: the vocabularies and their shapes for OpenAI, Anthropic and the AI SDK.
 *
 * @module
 */
export { failure } from './core/failure-codes.ts';
export type { Action } from './core/action.ts';
export type { ActionProblem as Failure, FailureCode } from './core/failure-codes.ts';
export type { Ledger, LedgerRow } from './core/ledger.ts';
export type { Observation } from './core/observation.ts';
export type { Lifetime, Placement, SessionEvent, SessionSettings, SessionState } from './core/session.ts';
export type { LoadedContent, Offer, ToolRow, Vocabulary } from './core/tool.ts';
export type { SkillTool, ToolAnswer } from './tools/tools.ts';
export { trpcState, trpcStateDelta } from './tools/trpc-state.ts';
export { VOCABULARIES } from './tools/vocabularies.ts';
export type { Profile } from './core/profile.ts';
export type { VocabularyName } from './core/vocabulary-names.ts';
export type { Compaction } from './runtime/loaded-contents.ts';
export type { Invocation } from './runtime/invoke.ts';
export type { DeclaredLoad, Session } from './runtime/session.ts';
export { openSkillTools } from './packs/open-runtime.ts';
export type { SkillToolsOptions } from './packs/open-runtime.ts';
export type { SkillTools } from './runtime/skill-tools.ts';
