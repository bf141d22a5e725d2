/**
 * Runs programs of skills: workspaces, executors, packages, inputs and outputs. Never decides whether a program may run, asks nobody and records
 * nothing; its callers do. Read workspace/workspace.ts first, then executors/find-executor.ts.
 */

// Executors: which one programs use, and what each blocks on this machine.
export { examineExecutors, findExecutor } from './executors/find-executor.ts';
export type { ContainerOptions } from './executors/container/engine.ts';
export { landlockVersion } from './executors/landlock/executor.ts';
export { landlockGaps } from './executors/landlock/gaps.ts';
export type { ExecutorExamination } from './probe/detect.ts';
export type { ProbeReport } from './probe/probe.ts';

// Workspaces: folders in which skills are staged and programs run.
export { isRoot, makeTemporary, openBase } from './workspace/layout.ts';
export { openWorkspaces, type RunFolder, type Workspace } from './workspace/workspace.ts';
export { areaForSecrets } from './workspace/private-area.ts';
export { writableSkill } from './workspace/writable-skill.ts';

// Folders of the user that programs see.
export { checkMounts, type CheckedMount, type MountRequest, type MountRules } from './mounts/check-mount.ts';
export { mountFolders } from './mounts/mounted-folders.ts';

// Files brought in, files collected, and artifacts that outlive a run.
export { stageInputs, type InputSources } from './inputs/inputs.ts';
export { WorkspaceFolders } from './outputs/collect-folders.ts';
export type { SaveOutput } from './outputs/collect-read.ts';
export { walkOutputs } from './outputs/collect-walk.ts';
export { MEANINGS, collectOutputs } from './outputs/collect.ts';
export { MAX_ARTIFACT_BYTES, damagedArtifact, tooLarge, unknownArtifact } from './artifacts/artifact-errors.ts';
export { readArtifactName, type ArtifactName } from './artifacts/artifact-name.ts';
export { openFileArtifacts } from './artifacts/file-store.ts';
export type { ArtifactStore, ArtifactVersion } from './artifacts/store.ts';

// Commands of programs, and what a skill requires.
export { scriptCommand, shellCommand } from './programs/interpreter.ts';
export { programCommand } from './programs/script.ts';
export { findProgram } from './programs/machine-programs.ts';
export { skillRequirements } from './programs/skill-requirements.ts';
export { openInteractions, type ViewOptions } from './interaction/interactions.ts';
export type { InteractionView } from './interaction/interaction.ts';
export { serveProgram, type ServedPort, type ServedProgram } from './network/serve-port.ts';

// Packages of programs.
export type { PackageNeeds, ProgramAction } from './environments/declared-needs.ts';
export type { PreparedPackages } from './environments/layer-mounts.ts';
export type { StoredLayer } from './environments/layers.ts';
export {
  openAllLayers,
  openPackages,
  type FoundPackages,
  type PackageOptions,
  type Packages,
  type SkillNeeds,
} from './environments/packages.ts';

// For the conformance suite.
export { SYSTEM_CALLS } from './executors/seccomp/system-calls.ts';
export { attemptScript, fileName, type EscapeAttempt } from './probe/escape-attempts.ts';
export { openHostDecoys, type DecoyListener, type HostDecoys } from './probe/host-decoys.ts';
