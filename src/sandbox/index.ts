/**
 * Runs programs of skills: workspaces, executors, packages, inputs and outputs. It does not decide whether a program may run,
 * ask a person or record anything; its callers do. Read execution/execution.ts first, then workspace/workspace.ts.
 */

// Executors: which one programs use, and what each blocks on this machine.
export { findExecutor } from './executors/find-executor.ts';
export { examineExecutors, usableExecutor } from './execution/usable-executor.ts';
export { landlockVersion } from './executors/landlock/version.ts';
export type { ExecutorExamination } from './probe/detect.ts';

// The programs of a session: from an action to its result.
export { openExecution } from './execution/execution.ts';
export { executionFailure, type Execution, type ExecutionOptions } from './execution/parts.ts';

// Files that programs leave, and artifacts that outlive a run.
export { makeTemporaryFolder } from './workspace/layout.ts';
export { redactedChunks } from './execution/output-capture.ts';
export { listOutputs } from './outputs/collect.ts';
export { openFileArtifacts } from './artifacts/file-store.ts';
export { openArtifacts, type ArtifactStore } from './artifacts/store.ts';

// Commands of programs, and what a skill requires.
export { scriptCommand } from './programs/interpreter.ts';
export { skillRequirements } from './programs/skill-requirements.ts';

// Packages of programs.
export type { PackageNeeds } from './environments/declared-needs.ts';
export type { PreparedPackages } from './environments/layer-mounts.ts';
export { openAllLayers, type PackageOptions, type Packages } from './environments/packages.ts';

// Processes of the host with a group, limits and an output cap.
export { runChild, startChild } from './process/child-process.ts';
export { programEnvironment, PROGRAM_FOLDERS } from './process/program-environment.ts';
