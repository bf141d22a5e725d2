/**
 * Runs programs of skills: workspaces, executors, packages, inputs and outputs. It does not decide whether a program may run,
 * ask a person or record anything; its callers do. Read workspace/workspace.ts first, then executors/find-executor.ts.
 */

// Executors: which one programs use, and what each blocks on this machine.
export { examineExecutors, findExecutor } from './executors/find-executor.ts';
export type { ContainerOptions } from './executors/container/engine.ts';
export { landlockVersion } from './executors/landlock/version.ts';
export type { ExecutorExamination } from './probe/detect.ts';

// Workspaces: folders in which skills are staged and programs run.
export { isSeparate, makeTemporaryFolder } from './workspace/layout.ts';
export { openWorkspaces, type RunFolder, type Workspace } from './workspace/workspace.ts';
export { areaForSecrets } from './workspace/private-area.ts';
export { writableSkill } from './workspace/writable-skill.ts';

// Folders of the user that programs see.
export { checkMounts, type CheckedMount, type MountRequest } from './mounts/check-mount.ts';
export { secretDocuments } from './mounts/hidden-names.ts';
export { mountFolders } from './mounts/mounted-folders.ts';

// Files brought in, files collected, and artifacts that outlive a run.
export { inputEntries } from './inputs/input-places.ts';
export { stageInputs } from './inputs/inputs.ts';
export { collectOutputs, listOutputs } from './outputs/collect.ts';
export { openFileArtifacts } from './artifacts/file-store.ts';
export { openArtifacts, type ArtifactStore } from './artifacts/store.ts';

// Commands of programs, and what a skill requires.
export { scriptCommand } from './programs/interpreter.ts';
export { programCommand } from './programs/script.ts';
export { skillRequirements } from './programs/skill-requirements.ts';
export { openInteractions } from './interaction/interactions.ts';
export type { InteractionView } from './interaction/interaction.ts';
export { serveProgram } from './network/serve-port.ts';

// Packages of programs.
export type { PackageNeeds } from './environments/declared-needs.ts';
export type { PreparedPackages } from './environments/layer-mounts.ts';
export { openAllLayers, openPackages, type PackageOptions, type Packages } from './environments/packages.ts';

// Processes of the host with a group, limits and an output cap.
export { runChild, startChild } from './process/child-process.ts';
export { programEnvironment, PROGRAM_FOLDERS } from './process/program-environment.ts';
