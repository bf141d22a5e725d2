import path from 'node:path';

import { isAbsent } from '../platform/paths.ts';
import type { LoadedConfig } from './config-files.ts';

export type { LoadedConfig } from './config-files.ts';

/** Where a runtime stands: nothing below this folder looks at the process itself. */
export interface Surroundings {
  readonly cwd: string;
  /** Absent where there is no home folder. */
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The surroundings of this process, with what a caller says instead. */
export function surroundingsOf(options: Partial<Surroundings>): Surroundings {
  const env = options.env ?? process.env;
  const home = 'home' in options ? options.home : (env['HOME'] ?? env['USERPROFILE']);
  return { cwd: path.resolve(options.cwd ?? process.cwd()), home: home === '' ? undefined : home, env };
}

export const CONFIG_FILE = '.agent/config.json';

/** Reads the project's and the user's file; `file` stands in for the project's and must then exist. */
export async function loadConfig({ cwd, home }: Surroundings, file?: string): Promise<LoadedConfig> {
  const project = file === undefined ? path.join(cwd, CONFIG_FILE) : path.resolve(cwd, file);
  const places = [{ path: project, base: cwd, isRequired: file !== undefined }];
  if (home !== undefined && path.resolve(home) !== cwd)
    places.push({ path: path.join(home, CONFIG_FILE), base: home, isRequired: false });
  // Most places have none: what reads and checks them is loaded where there is one.
  if (places.every((place) => !place.isRequired && isAbsent(place.path)))
    return { config: {}, files: places.map((place) => ({ path: place.path, status: 'absent' })), diagnostics: [] };
  const { readConfigFiles } = await import('./config-files.ts');
  return readConfigFiles(places);
}
