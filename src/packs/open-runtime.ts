import {
  createRuntime as createBareRuntime,
  buildSkillTools,
  type RootServices,
  type Runtime,
  type RuntimeOptions,
  type SkillTools,
  type ExecutionOptions,
  type SessionOptions,
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

export interface SkillToolsOptions extends Omit<SessionOptions, 'execution'> {
  /** Enables programs; `auto` with the defaults. Without it no tool that runs programs is offered. */
  readonly execution?: ExecutionOptions | 'auto';
  /** The runtime or its options (default: the working directory). */
  readonly runtime?: Runtime | RuntimeOptions;
}

/** Opens a session and returns its tools, after completing interrupted installs. */
export async function openSkillTools(options: SkillToolsOptions = {}): Promise<SkillTools> {
  const { runtime: choice, execution, ...others } = options;
  const { vocabulary } = options;
  const byName = typeof vocabulary === 'string' ? { vocabulary } : {};
  const runtime = isRuntime(choice) ? choice : await createRuntime({ ...byName, ...choice });
  const session = await runtime.startSession({ ...others, execution: execution === 'auto' ? {} : execution });
  return buildSkillTools(session, runtime);
}

function isRuntime(value: Runtime | RuntimeOptions | undefined): value is Runtime {
  return value !== undefined && 'startSession' in value;
}
