/**
 * The public names of packs.
 */

export { AGENTS, SHARED_FOLDER } from './agents/agent-table.ts';
export { findAgentBase, agentBases, listFolderAgents, brokenLinks, openAgentView } from './agents/agents.ts';
export { detectAgents, type AgentBase } from './agents/agents.ts';
export { checkPlaces, type CheckedPlace } from './agents/lock-places.ts';
export type { Unplaced } from './agents/place-skills.ts';
export { placeTargets, targetsInUse, type PlaceTarget, type PlannedPlace } from './agents/place-targets.ts';
export { ALL_AGENTS, readAgents } from './agents/place-targets.ts';
export { indexSource, type IndexedSource } from './browse/index-source.ts';
export type { AvailableResult, AvailableResults } from './browse/search-sources.ts';
export type { AvailableSkill, SourceIndex } from './browse/source-store.ts';
export { openSourceStore, type SourceStore } from './browse/source-store.ts';
export {
  emptyTrash,
  listSkillBackups,
  restoreAll,
  restoreSkill,
  rollbackSkill,
  uninstallSkills,
  type Changed,
} from './change-root.ts';
export type { InspectedSkill } from './inspect/inspect-skill.ts';
export type { RefusedSkill } from './inspect/verdicts.ts';
export {
  installSkills,
  type InstallPlan,
  type InstallProgress,
  type Installed,
  type PlannedSkill,
  type SkillChoice,
  type SkillOffer,
} from './install.ts';
export type { ForeignSkill } from './lock/foreign-lock.ts';
export { readLock } from './lock/lock-file.ts';
export type { LockedSkill } from './lock/lock-file.ts';
export { readForeignInstall } from './lock/foreign-lock.ts';
export { restoreLock } from './lock/restore-lock.ts';
export { createRuntime } from './open-runtime.ts';
export { packSettings, type PackSettings } from './pack-settings.ts';
export type { BuiltPack } from './pack/build-pack.ts';
export { packName, packSkills, skillsToPack, type SkillToPack } from './pack/pack.ts';
export { readManifestOfPack, readPackManifest } from './pack/read-pack-manifest.ts';
export { sbomOfRoot } from './pack/sbom.ts';
export { formatSbom } from './pack/sbom.ts';
export { PACK_PROBLEMS, findRefusal, isNotAllowed, isRefusal, packRefusal, type PackRefusal } from './problems.ts';
export { needsRecovery, recoverRoot } from './root/open-root.ts';
export { closeRootHandle, openRootHandle } from './root/root-paths.ts';
export { listBackups, type SkillBackup } from './root/skill-backups.ts';
export { openKeyFile, openPinnedKeys, writeNewKey, type PinnedKey } from './sign/keys.ts';
export { parsePublicKey, publicKeyLine } from './sign/minisign.ts';
export type { SigningKey } from './sign/minisign.ts';
export { SIGNATURE_SUFFIX, signPack } from './sign/sign.ts';
export { formatPackComment } from './sign/sign.ts';
export { buildSite, type BuiltSite } from './site/build-site.ts';
export { olderFolder, skillsFolder } from './pack-settings.ts';
export { runProgram } from './sources/run-program.ts';
export { stageSource } from './inspect/stage-pack.ts';
export { findUntrusted, trustArriving, trustConfirmed } from './trust-confirmed.ts';
export { conflictsIn } from './update/apply-update.ts';
export { findOutdated, type OutdatedSkill } from './update/outdated.ts';
export type { UpdateMode } from './update/update-plan.ts';
export { untrustedNote, type ChangedSkill, type SkillUpdate } from './update/update-skill.ts';
export { conflictLines, countUpdate, updateLines } from './update/update-text.ts';
export { isChanged, updateSkills, type Updated } from './update/update.ts';
export { verifyPack, type VerifiedPack } from './verify-pack.ts';
export { verifyRoot, type VerifiedSkill } from './verify-root.ts';
export { refuseExisting, writeWholeText } from './whole-file.ts';
