import { configProblem, type LoadedConfig, type Surroundings } from '#core';
import { loadConfig, readSurroundings } from '#runtime';
import { parseSettings } from './arguments.ts';
import type { GlobalInvocation } from './command.ts';

type GlobalFlags = GlobalInvocation['flags'];

/** The working folder, home folder and environment of a command. */
export function surroundingsFor({ cwd }: Pick<GlobalFlags, 'cwd'>): Surroundings {
  return readSurroundings(cwd === undefined ? {} : { cwd });
}

/** The configuration of a command: files, environment and --set. */
export async function configFor(flags: Pick<GlobalFlags, 'cwd' | 'config' | 'set'>): Promise<LoadedConfig> {
  const config = await parseSettings(flags.set);
  return loadConfig(
    surroundingsFor(flags),
    flags.config,
    config === undefined ? undefined : { config, where: '--set' },
  );
}

/** Throws if a configuration file or variable is invalid. For commands that change something. */
export async function requireValidConfig(flags: Pick<GlobalFlags, 'cwd' | 'config' | 'set'>): Promise<void> {
  const problem = configProblem((await configFor(flags)).diagnostics);
  if (problem !== undefined) throw problem;
}
