import { openSkillTools as openToolsOf, type SkillTools, type SkillToolsOptions } from '#runtime';
import { rootServices } from './open-runtime.ts';

/** Opens a session and returns its tools, after completing interrupted installs. */
export function openSkillTools(options: SkillToolsOptions = {}): Promise<SkillTools> {
  return openToolsOf(options, rootServices);
}
