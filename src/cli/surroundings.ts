import { configProblem, type LoadedConfig } from '#core';
import { loadConfig } from '#runtime';
import { parseSettings } from './arguments.ts';
import type { GlobalInvocation } from './command.ts';

type ConfigInvocation = Pick<GlobalInvocation, 'flags' | 'surroundings'>;

/** The configuration of a command: files, environment and --set. */
export async function configFor({ flags, surroundings }: ConfigInvocation): Promise<LoadedConfig> {
  const config = await parseSettings(flags.set);
  return loadConfig(surroundings, flags.config, config && { config, where: '--set' });
}

/** Throws if a configuration file or variable is invalid. For commands that change something. */
export async function requireValidConfig(invocation: ConfigInvocation): Promise<void> {
  const problem = configProblem((await configFor(invocation)).diagnostics);
  if (problem !== undefined) throw problem;
}
