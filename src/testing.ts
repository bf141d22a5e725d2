/**
 * For whoever writes an executor: what every executor does alike, as cases for any test runner. See docs/executors.md.
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
