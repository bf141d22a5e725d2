/**
 * The composition root: it opens skills, configuration, policy, sandbox and journal for one working directory, and takes each action through
 * find, decide, ask, do, observe, record. It never calls a model. Read `perform.ts` first, then `start-session.ts`.
 */

// Open a runtime, with its sessions and recorded runs.
export { createRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
export type { RootServices } from './find-roots.ts';
export { projectTop, serverSkillsFolder, shelfFolder, userFolders } from './roots.ts';
export type { Session } from './session.ts';
export type { SessionOptions } from './start-session.ts';
export type { Run, RunOptions } from './start-run.ts';

// The tools of a session for any agent, and invocations by a person.
export { buildSkillTools, type SkillTools } from './skill-tools.ts';
export { parseInvocation } from './invoke.ts';
export { refuseReserved } from './find-target.ts';

// Files that programs leave, and where those of this process go.
export { copyResults, deliverResults, isLeftOutNote, readCleanResults } from './execution/deliver-results.ts';
export { writeResults } from './execution/take-outputs.ts';
export { temporaryFolder } from './temporary-folder.ts';

// Configuration, secrets and trust.
export { CONFIG_FILE, loadConfig, readSurroundings } from './config/config.ts';
export { isReservedForUser, isSteering } from './config/project-override-rules.ts';
export { openSecrets } from './secrets/secrets.ts';
export { trustRemarks, type Distrust } from './skill-trust.ts';
export { reviewSkills } from './trust-review.ts';
export { explainPolicy } from './explain-policy.ts';

// Recorded runs: repeat them, undo what they did.
export { replayRun, skillProblems } from './replay/replay-run.ts';
export { fileChanges } from './recorded-changes.ts';
export { undoFiles, undoRun } from './undo-files.ts';

// Check skills and fix them.
export { checkAndFix, findCheckTargets } from './check.ts';
