/**
 * Packs of skills: build, sign, check, install, update and remove them. What cannot be done is a value, `PackRefusal`, with a code that
 * keeps its meaning and advice; see docs/install.md and docs/publishing.md.
 *
 * @module
 */
export { isRefusal, PACK_PROBLEMS } from './packs/problems.ts';
export type { PackProblem, PackRefusal } from './packs/problems.ts';
export type { Drift, LockFile, LockedFile, LockedSkill } from './packs/lock/lock-file.ts';
export type { ManifestSkill, PackManifest } from './packs/pack/manifest.ts';
export type { UpdatedFile } from './packs/update/capability-diff.ts';
export type { Outdated } from './packs/update/outdated.ts';
export type { PackComment } from './packs/sign/sign.ts';
export type { ResolvedSource } from './packs/sources/source.ts';
export type { UpdateMode } from './packs/update/update-plan.ts';
export type { ScanFinding, ScanPolicy } from './scan/finding.ts';
export { buildPack } from './packs/pack/build-pack.ts';
export type { BuildPackOptions, BuiltPack } from './packs/pack/build-pack.ts';
export { openKeyFile, openPinnedKeys, writeNewKey } from './packs/sign/keys.ts';
export type { PinnedKey, PinnedKeys } from './packs/sign/keys.ts';
export { signPack, verifySignature } from './packs/sign/sign.ts';
export type { SignPackOptions, SignedPack, VerifiedSignature, VerifyOptions } from './packs/sign/sign.ts';
export { readLock } from './packs/lock/lock-file.ts';
export { restoreSkill, rollbackSkill, uninstallSkills } from './packs/change-root.ts';
export type { Changed } from './packs/change-root.ts';
export type { InspectedSkill } from './packs/inspect/inspect-skill.ts';
export { installSkills } from './packs/install.ts';
export type { RefusedSkill } from './packs/inspect/verdicts.ts';
export type {
  InstallOptions,
  InstallPlan,
  Installed,
  PlannedSkill,
  SkillChoice,
  SkillOffer,
} from './packs/install/options.ts';
export { findOutdated } from './packs/update/outdated.ts';
export type { OutdatedOptions, OutdatedRoot, OutdatedSkill } from './packs/update/outdated.ts';
export { indexSource } from './packs/browse/index-source.ts';
export type { IndexSourceOptions, IndexedSource } from './packs/browse/index-source.ts';
export { searchSources } from './packs/browse/search-sources.ts';
export type { AvailableResult, AvailableResults, SearchSourcesOptions } from './packs/browse/search-sources.ts';
export type { AvailableSkill, SourceIndex } from './packs/browse/source-store.ts';
export { openSourceStore } from './packs/browse/source-store.ts';
export type { SourceStore, StoredSources } from './packs/browse/source-store.ts';
export { AGENTS } from './packs/agents/agent-table.ts';
export type { Agent } from './packs/agents/agent-table.ts';
export { detectAgents } from './packs/agents/agents.ts';
export type { DetectedAgent } from './packs/agents/agents.ts';
export type { CheckedCopy as CheckedPlace } from './packs/agents/lock-places.ts';
export type { Unplaced } from './packs/agents/place-skills.ts';
export { placeTargets } from './packs/agents/place-targets.ts';
export type { AgentTarget as PlaceTarget, PlannedTarget as PlannedPlace } from './packs/agents/place-targets.ts';
export { packSettings } from './packs/pack-settings.ts';
export type { PackSettings, RootChoice as PlaceChoice } from './packs/pack-settings.ts';
export { packSkills, skillsToPack } from './packs/pack/pack.ts';
export type { PackOptions, SkillToPack } from './packs/pack/pack.ts';
export { buildSite } from './packs/site/build-site.ts';
export type { BuildSiteOptions, BuiltSite, PublishedSkill } from './packs/site/build-site.ts';
export { restoreLock } from './packs/lock/restore-lock.ts';
export type { RestoreOptions, Restored } from './packs/lock/restore-lock.ts';
export { sbomOfRoot } from './packs/pack/sbom.ts';
export type { SbomOfRoot } from './packs/pack/sbom.ts';
export type { ChangedSkill, SkillUpdate } from './packs/update/update-skill.ts';
export { updateSkills } from './packs/update/update.ts';
export type { UpdateOptions, Updated } from './packs/update/update.ts';
export { verifyPack } from './packs/verify-pack.ts';
export type { VerifiedPack } from './packs/verify-pack.ts';
export { verifyRoot } from './packs/verify-root.ts';
export type { VerifiedRoot, VerifiedSkill } from './packs/verify-root.ts';
export type { ArchiveLimits } from './packs/archive-limits.ts';
