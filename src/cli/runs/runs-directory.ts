import { runsDirectory } from '#journal';
import type { GlobalInvocation } from '../command.ts';
import { configFor } from '../surroundings.ts';

/** The folder of the records of this project. */
export async function resolveRunsDirectory(invocation: GlobalInvocation): Promise<string> {
  const { config } = await configFor(invocation);
  return runsDirectory(invocation.surroundings.cwd, config.runs?.directory);
}
