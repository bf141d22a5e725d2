import { isSkillError } from '#core';
import {
  createRuntime as createBareRuntime,
  buildSkillTools,
  type RootServices,
  type Runtime,
  type RuntimeOptions,
  type Session,
  type SkillTools,
  type SessionOptions,
} from '#runtime';
import type { ExecutionOptions } from '#sandbox';
import { chooseProfile } from '#tools/profiles';

/** Loaded only when a root has an unfinished transaction, or is an address or an archive. */
const rootServices: RootServices = {
  async recover(roots, signal) {
    const { recoverShelves } = await import('./shelf/shelf.ts');
    const shelves = await recoverShelves(roots, signal);
    return [...shelves, ...(await (await import('./root/open-root.ts')).recoverRoots(roots, signal))];
  },
  fetch: async (root, options) => (await import('./fetched-root.ts')).fetchRoot(root, options),
};

/** Finds roots, configuration and skills by convention, after completing interrupted installs. */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return createBareRuntime(options, rootServices);
}

/** Options of `openSkillTools`: those of a session, programs, and the runtime. */
export interface SkillToolsOptions extends Omit<SessionOptions, 'execution'> {
  /**
   * Enables programs; `auto` with the defaults, `false` not at all. Without it a vocabulary decides: `trpc` offers its tools that run
   * programs where an executor isolates them, the others do not.
   */
  readonly execution?: ExecutionOptions | 'auto' | false;
  /** The runtime or its options (default: the working directory). */
  readonly runtime?: Runtime | RuntimeOptions;
}

/** Opens a session and returns its tools, after completing interrupted installs. */
export async function openSkillTools(options: SkillToolsOptions = {}): Promise<SkillTools> {
  const { runtime: choice, ...others } = options;
  const { vocabulary } = options;
  const byName = typeof vocabulary === 'string' ? { vocabulary } : {};
  const runtime = isRuntime(choice) ? choice : await createRuntime({ ...byName, ...choice });
  return buildSkillTools(await startSession(runtime, others), runtime);
}

async function startSession(runtime: Runtime, options: Omit<SkillToolsOptions, 'runtime'>): Promise<Session> {
  const { execution, tracing = {}, ...untraced } = options;
  const others = { ...untraced, tracing };
  const { offersPrograms } = chooseProfile(others.vocabulary, runtime);
  const isOffered = execution === undefined && offersPrograms === true;
  if (!isOffered)
    return runtime.startSession({ ...others, execution: execution === 'auto' ? {} : execution || undefined });
  try {
    // A vocabulary that only the configuration names grants nothing: each program needs a rule or an approval.
    return await runtime.startSession({ ...others, execution: { opens: options.vocabulary !== undefined } });
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'executor/unavailable') throw error;
    return runtime.startSession(others);
  }
}

function isRuntime(value: Runtime | RuntimeOptions | undefined): value is Runtime {
  return value !== undefined && 'startSession' in value;
}
