/**
 * For whoever writes an executor: what every executor does alike, as cases for any test runner. See docs/executors.md.
 * For whoever tests what asks a model: models that play a script, a recording or chance. See docs/rule-model.md.
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
  WorkspacePlace,
} from './core/execution.ts';
export { CaseSkipped, judgeCase } from './executor/conformance/case.ts';
export type { CaseVerdict, ConformanceCase } from './executor/conformance/case.ts';
export { executorConformance } from './executor/conformance/suite.ts';
export type { ConformanceOptions } from './executor/conformance/suite.ts';
export { FINISHES } from './core/agent/model.ts';
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
} from './core/agent/model.ts';
export { recordCassette, replayCassette } from './model/cassette.ts';
export type { RecordOptions, ReplayModel, ReplayOptions } from './model/cassette.ts';
export { FUZZ_KINDS } from './model/fuzz-answers.ts';
export type { FuzzKind } from './model/fuzz-answers.ts';
export { fuzzModel } from './model/fuzz.ts';
export type { FuzzModel, FuzzOptions } from './model/fuzz.ts';
export { openRules, RULE_MODEL_REMARK } from './model/rules.ts';
export { readScriptedTurns } from './model/scripted-file.ts';
export { openScripted } from './model/scripted.ts';
export type { Expectation, ScriptedModel, ScriptedOptions, ScriptedToolCall, ScriptedTurn } from './model/scripted.ts';
