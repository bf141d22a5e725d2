import { createRuntime as createBareRuntime } from '../runtime/runtime.ts';
import type { RecoverRoots, Runtime, RuntimeOptions } from '../runtime/runtime.ts';

/** Loaded only when a root has an unfinished transaction. */
export const recoverRoots: RecoverRoots = async (roots, signal) =>
  (await import('./root/open-root.ts')).recoverRoots(roots, signal);

/** Finds roots, configuration and skills by convention, after completing interrupted installs. */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createBareRuntime(options, recoverRoots);
}
