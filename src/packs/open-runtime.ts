import {
  createRuntime as createBareRuntime,
  openSkillTools as openToolsOf,
  type RootServices,
  type Runtime,
  type RuntimeOptions,
  type SkillTools,
  type SkillToolsOptions,
} from '#runtime';

/** Loaded only when a root has an unfinished transaction, or is an address or an archive. */
export const rootServices: RootServices = {
  recover: async (roots, signal) => (await import('./root/open-root.ts')).recoverRoots(roots, signal),
  fetch: async (root, options) => (await import('./fetched-root.ts')).fetchRoot(root, options),
};

/** Finds roots, configuration and skills by convention, after completing interrupted installs. */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createBareRuntime(options, rootServices);
}

/** Opens a session and returns its tools, after completing interrupted installs. */
export function openSkillTools(options: SkillToolsOptions = {}): Promise<SkillTools> {
  return openToolsOf(options, rootServices);
}
