/**
 * The public names of sandbox.
 */

export { MAX_ARTIFACT_BYTES, damagedArtifact, tooLarge, unknownArtifact } from './artifacts/artifact-errors.ts';
export { readArtifactName, type ArtifactName } from './artifacts/artifact-name.ts';
export { openFileArtifacts } from './artifacts/file-store.ts';
export type { ArtifactStore, ArtifactVersion } from './artifacts/store.ts';
export { NODE_TARGET, resolveNode } from './environments/build-node.ts';
export { PYTHON_TARGET, resolvePython } from './environments/build-python.ts';
export { openBuildSandbox } from './environments/build-sandbox.ts';
export { packagesFailed, type ResolvedPackages } from './environments/build.ts';
export { declaredPackages } from './environments/declared-packages.ts';
export { packageOfModule } from './environments/import-names.ts';
export { importedModules, type ImportedModules } from './environments/import-scan.ts';
export type { UserEnvironment } from './environments/index-settings.ts';
export { openLayers, type Layers, type StoredLayer } from './environments/layers.ts';
export { mentionedPackages, remedyFor } from './environments/remedies.ts';
export { readSkillText } from './environments/skill-text.ts';
export { openVenv, type Venv } from './environments/venv.ts';
export { bubblewrapExecutor } from './executors/bubblewrap/executor.ts';
export { bubblewrapFingerprint } from './executors/bubblewrap/fingerprint.ts';
export type { ContainerOptions } from './executors/container/engine.ts';
export { containerExecutor } from './executors/container/executor.ts';
export { DEFAULT_IMAGE } from './executors/container/image.ts';
export { landlockExecutor, landlockFingerprint, landlockVersion } from './executors/landlock/executor.ts';
export { landlockGaps } from './executors/landlock/gaps.ts';
export { localExecutor } from './executors/local.ts';
export { macosExecutor } from './executors/macos/macos.ts';
export { namespacesExecutor } from './executors/namespaces/executor.ts';
export { namespacesFingerprint } from './executors/namespaces/fingerprint.ts';
export { SYSTEM_CALLS } from './executors/seccomp/system-calls.ts';
export { stageInputs, type InputSources } from './inputs/inputs.ts';
export type { InteractionView } from './interaction/interaction.ts';
export { openInteractions, type ViewOptions } from './interaction/interactions.ts';
export { checkMounts, type CheckedMount, type MountRequest, type MountRules } from './mounts/check-mount.ts';
export { mountEntries } from './mounts/mount-entries.ts';
export { statCommand, verifiedCommand, type VerifiedFolder } from './mounts/verified-command.ts';
export { openBridge, openPortProxy, type Bridge } from './network/bridge.ts';
export { servePort, servingCommand, type ServedPort } from './network/serve-port.ts';
export { WorkspaceFolders } from './outputs/collect-folders.ts';
export type { SaveOutput } from './outputs/collect-read.ts';
export { walkOutputs } from './outputs/collect-walk.ts';
export { MEANINGS, collectOutputs } from './outputs/collect.ts';
export {
  chooseExecutor,
  examineExecutors,
  type ChooseOptions,
  type ExecutorCandidate,
  type ExecutorExamination,
  type OnTrial,
} from './probe/detect.ts';
export { attemptScript, fileName, type EscapeAttempt } from './probe/escape-attempts.ts';
export { openHostDecoys, type DecoyListener, type HostDecoys } from './probe/host-decoys.ts';
export type { ProbeReport } from './probe/probe.ts';
export { scriptCommand, shellCommand } from './programs/interpreter.ts';
export { findProgram } from './programs/machine-programs.ts';
export { findMissing, inspectMachine, type Inspect } from './programs/preflight.ts';
export { scriptRequirements, skillRequirements, type Requirement } from './programs/skill-requirements.ts';
export { isRoot, makeTemporary, openBase } from './workspace/layout.ts';
export { openPrivateArea, otherAuthors, type PrivateArea } from './workspace/private-area.ts';
export { openWorkspaces, type RunFolder, type Workspace } from './workspace/workspace.ts';
export { mayWriteFiles, writableSkill, type WritableSkill } from './workspace/writable-skill.ts';
