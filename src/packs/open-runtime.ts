import { createRuntime as createBareRuntime } from '../runtime/runtime.ts';
import type { RecoverRoots, Runtime, RuntimeOptions } from '../runtime/runtime.ts';
import { openSkillTools as openToolsOf } from '../runtime/skill-tools.ts';
import type { SkillTools, SkillToolsOptions } from '../runtime/skill-tools.ts';

/** Loaded only when a root has an unfinished transaction. */
const recoverRoots: RecoverRoots = async (roots, signal) =>
  (await import('./root/open-root.ts')).recoverRoots(roots, signal);

/** Finds roots, configuration and skills by convention, after completing interrupted installs. */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createBareRuntime(options, recoverRoots);
}

/** Opens a session and returns its tools. */
export function openSkillTools(options: SkillToolsOptions = {}): Promise<SkillTools> {
  return openToolsOf(options, recoverRoots);
}
