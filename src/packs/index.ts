/**
 * Packs: installs, updates, verifies, removes, packs and publishes skills. Never runs their code. Everything that changes a root goes through
 * `root/open-root.ts`, which makes it atomic; read `install.ts` first, then `root/commit.ts`.
 */

// Which root, and which rules; every other function gets these settings.
export { packSettings, projectSkillsFolder, type PackSettings } from './pack-settings.ts';

// What cannot be done is a value, or is thrown by functions that say so.
export { accepted, isNotAllowed, packRefusal } from './problems.ts';

// A runtime that completes interrupted installs.
export { createRuntime } from './open-runtime.ts';

// Installing, and what is installed.
export { installSkills } from './install.ts';
export { restoreLock } from './lock/restore-lock.ts';
export { importSkills } from './lock/import-skills.ts';
export { listLocked } from './lock/locked-skills.ts';
export { findLocked } from './lock/find-locked.ts';
export { settleTrust } from './trust-confirmed.ts';

// Removing skills, and bringing them back.
export { emptyTrash, listSkillBackups, restoreSkills, rollbackSkill, uninstallSkills } from './change-root.ts';
export { findBaselineVersion } from './root/baseline-version.ts';

// Newer versions.
export { findOutdated } from './update/outdated.ts';
export { updateSkills } from './update/update.ts';
export { updateLines } from './update/update-text.ts';

// Folders of other agents.
export { findProjectFolder } from './agents/agent-table.ts';
export { expandFolder, openAgentFolders } from './agents/agents.ts';
export { checkAgentFolders } from './agents/lock-places.ts';
export { findTargets } from './agents/place-targets.ts';

// Verifying what is installed, and packs.
export { verifyPack } from './verify-pack.ts';
export { verifyInstalled } from './verify-root.ts';

// Skills that agents do not list.
export { openShelf } from './shelf/shelf.ts';

// Publishing skills.
export { packWords } from './pack/pack.ts';
export { writeMarketplace } from './pack/write-marketplace.ts';
export { writeSbom } from './pack/sbom.ts';
export { openPinnedKeys, writeNewKey } from './sign/keys.ts';
export { signPackFile } from './sign/sign.ts';
export { buildSite } from './site/build-site.ts';

// Sources whose skills are not installed.
export { addSource, updateSource } from './browse/index-source.ts';
export { openSourceStore } from './browse/source-store.ts';
