import type { Config } from '../core/config/config.ts';
import { UsageError } from './exit.ts';

/** The settings that `--set` gives; what is wrong with one is wrong usage. What knows them is loaded where there are some. */
export async function settingsOf(options: readonly string[] | undefined): Promise<Config | undefined> {
  if (options === undefined) return undefined;
  const { readOptions } = await import('./config-options.ts');
  const read = readOptions(options);
  if (read.type === 'wrong') throw new UsageError(`--set: ${read.message}`, read.hint);
  return read.config;
}
