/**
 * Packs of skills: build, sign, check, install, update and remove them. What cannot be done is a value, `PackRefusal`, with a code that
 * keeps its meaning and advice; see docs/install.md, docs/updating.md and docs/packs.md.
 *
 * @module
 */
export { isRefusal, PACK_PROBLEMS } from './core/pack/problems.ts';
export type { PackProblem, PackRefusal } from './core/pack/problems.ts';
export type { ArchiveLimits } from './core/pack/limits.ts';
export type { Drift, LockFile, LockedFile, LockedSkill } from './core/pack/lock.ts';
export type { ManifestSkill, PackManifest } from './core/pack/manifest.ts';
export type { UpdatedFile } from './core/pack/new-powers.ts';
export type { Outdated } from './core/pack/outdated.ts';
export type { PackComment } from './core/pack/signed-comment.ts';
export type { ResolvedSource } from './core/pack/source.ts';
export type { UpdateMode } from './core/pack/update-plan.ts';
export type { ScanFinding, ScanPolicy } from './core/scan/finding.ts';
export { buildPack } from './install/pack/build-pack.ts';
export type { BuildPackOptions, BuiltPack } from './install/pack/build-pack.ts';
export { openKeyFile, openPinnedKeys, writeNewKey } from './install/pack/keys.ts';
export type { PinnedKey, PinnedKeys } from './install/pack/keys.ts';
export { signPack, verifySignature } from './install/pack/sign.ts';
export type { SignPackOptions, SignedPack, VerifiedSignature, VerifyOptions } from './install/pack/sign.ts';
export { readLock } from './install/root/read-lock.ts';
export { restoreSkill, rollbackSkill, uninstallSkills } from './runtime/packs/change-root.ts';
export type { Changed } from './runtime/packs/change-root.ts';
export type { InspectedSkill } from './runtime/packs/inspect-skill.ts';
export { installSkills } from './runtime/packs/install.ts';
export type { InstallOptions, InstallPlan, Installed, PlannedSkill } from './runtime/packs/install.ts';
export { findOutdated } from './runtime/packs/outdated.ts';
export type { OutdatedOptions, OutdatedRoot, OutdatedSkill } from './runtime/packs/outdated.ts';
export { packSettings } from './runtime/packs/pack-place.ts';
export type { PackSettings, PlaceChoice } from './runtime/packs/pack-place.ts';
export { packSkills, skillsToPack } from './runtime/packs/pack.ts';
export type { PackOptions, SkillToPack } from './runtime/packs/pack.ts';
export { restoreLock } from './runtime/packs/restore-lock.ts';
export type { RestoreOptions, Restored } from './runtime/packs/restore-lock.ts';
export { sbomOfRoot } from './runtime/packs/sbom-of-root.ts';
export type { SbomOfRoot } from './runtime/packs/sbom-of-root.ts';
export type { ChangedSkill, SkillUpdate } from './runtime/packs/update-skill.ts';
export { updateSkills } from './runtime/packs/update.ts';
export type { UpdateOptions, Updated } from './runtime/packs/update.ts';
export { verifyPack } from './runtime/packs/verify-pack.ts';
export type { VerifiedPack } from './runtime/packs/verify-pack.ts';
export { verifyRoot } from './runtime/packs/verify-root.ts';
export type { VerifiedRoot, VerifiedSkill } from './runtime/packs/verify-root.ts';
