import { defined, isSkillError, type Config, type ExecutorName } from '#core';
import { examineExecutors as examineWith, findExecutor } from '../executors/find-executor.ts';
import type { ExecutorExamination } from '../probe/detect.ts';

interface ExaminedRuntime {
  readonly config: Config;
  readonly executionPlaces: {
    readonly base: string;
    readonly engine: string | undefined;
    readonly cacheDir: string | undefined;
  };
}

/** Probes what each executor blocks on this machine. */
export function examineExecutors(runtime: ExaminedRuntime): Promise<readonly ExecutorExamination[]> {
  return examineWith(readSettings(runtime));
}

/** The executor that a session would use; undefined if programs cannot run here. */
export async function usableExecutor(
  runtime: ExaminedRuntime,
  choice: 'auto' | ExecutorName,
  onTrial?: (name: ExecutorName) => void,
): Promise<string | undefined> {
  const { config, executionPlaces } = runtime;
  try {
    const { executor, restriction } = await findExecutor(choice, readSettings(runtime), {
      cacheDir: executionPlaces.cacheDir,
      onTrial,
      allowWeaker: config.execution?.allow_weaker === true,
    });
    return restriction === undefined ? executor.name : undefined;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

function readSettings({ config, executionPlaces }: ExaminedRuntime): Parameters<typeof examineWith>[0] {
  const { base, engine } = executionPlaces;
  const { image, runtime: ociRuntime } = config.execution ?? {};
  return { bridgeFolder: base, container: { socket: engine, ...defined({ image, runtime: ociRuntime }) } };
}
