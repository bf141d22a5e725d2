/**
 * Test kits. For authors of executors and of sources of skills: conformance suites, as cases for any test runner; see docs/executor-suite.md.
 * For code that calls models: models that follow a script, a recording or a random seed; see docs/rule-model.md.
 *
 * @module
 */
export { SkillError, isSkillError } from './core/errors.ts';
export { DEFAULT_LIMITS } from './core/execution.ts';
export type {
  AttachedWorkspace,
  Capabilities,
  EndReason,
  Executor,
  ExecutorName,
  Identity,
  Isolation,
  LimitName,
  OutputSink,
  ProgramEnd,
  ProgramSpec,
  RunLimits,
  RunStreams,
  RunningProgram,
  StagedSkill,
  WorkspaceFolder as WorkspacePlace,
} from './core/execution.ts';
export { CaseSkipped, judgeCase } from './sandbox/conformance/case.ts';
export type { CaseVerdict, ConformanceCase } from './sandbox/conformance/case.ts';
export { executorConformance } from './sandbox/conformance/suite.ts';
export type { ConformanceOptions } from './sandbox/conformance/suite.ts';
export { sourceConformance } from './library/source-conformance.ts';
export type { SourceCase } from './library/source-conformance.ts';
export { FINISHES } from './model/finishes.ts';
export type {
  Finish,
  Model,
  ModelAnswer,
  ModelCallOptions,
  ModelDelta,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from './core/model.ts';
export { recordCassette, replayCassette } from './model/cassette/cassette.ts';
export type { RecordOptions, ReplayModel, ReplayOptions } from './model/cassette/cassette.ts';
export { FUZZ_KINDS } from './model/fuzz/fuzz-answers.ts';
export type { FuzzKind } from './model/fuzz/fuzz-answers.ts';
export { fuzzModel } from './model/fuzz/fuzz.ts';
export type { FuzzModel, FuzzOptions } from './model/fuzz/fuzz.ts';
export { RULE_MODEL_REMARK } from './model/rules/rule-words.ts';
export { openRules } from './model/rules/rules.ts';
export { readScriptedTurns } from './model/scripted/scripted-file.ts';
export { openScripted } from './model/scripted/scripted.ts';
export type {
  Expectation,
  ScriptedModel,
  ScriptedOptions,
  ScriptedToolCall,
  ScriptedTurn,
} from './model/scripted/scripted.ts';
