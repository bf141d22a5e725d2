/**
 * The public names of runtime.
 */

export type { Recall } from './action-context.ts';
export { checkAndFix, findCheckTargets } from './check.ts';
export { CONFIG_FILE, loadConfig, readSurroundings } from './config/config.ts';
export type { Execution, ExecutionOptions } from './execution/execution.ts';
export { examineExecutors, usableExecutor } from './execution/executors.ts';
export { copyResults, deliverResults, isLeftOutNote, readCleanResults } from './execution/deliver-results.ts';
export { locateScript } from './execution/find-script.ts';
export { writeResults } from './execution/take-outputs.ts';
export { explainDecision, explainRules } from './explain-policy.ts';
export type { RootServices } from './find-roots.ts';
export { projectTop, serverSkillsFolder } from './roots.ts';
export { replayRun, skillProblems, type Replay } from './replay/replay-run.ts';
export { stageRequestFiles } from './request-files.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
export type { SearchResult } from './search/skill-search.ts';
export { openSecrets } from './secrets/secrets.ts';
export type { Session } from './session.ts';
export { parseInvocation } from './invoke.ts';
export { openSkillTools, buildSkillTools, type SkillTools, type SkillToolsOptions } from './skill-tools.ts';
export { trustRemarks, type Distrust } from './skill-trust.ts';
export type { Run, RunOptions } from './start-run.ts';
export { temporaryFolder } from './temporary-folder.ts';
export { reviewSkills, type ReviewedSkill } from './trust-review.ts';
export { undoObservations, undoRun } from './undo-files.ts';
export type { UndoneFile } from './recorded-changes.ts';
export { valueHint } from './config/config-environment.ts';
export { isSteering } from './config/project-override-rules.ts';
