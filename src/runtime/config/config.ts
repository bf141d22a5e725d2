import path from 'node:path';

import type { LoadedConfig, Surroundings } from '#core';
import { realPath, quietly } from '#platform';
import { settingNames } from './environment-names.ts';
import type { ConfigFileLocation, ConfigOverride } from './config-files.ts';
import { lstatSync } from 'node:fs';

/** The environment of this process, with overrides. */
export function readSurroundings(options: Partial<Surroundings>): Surroundings {
  const env = options.env ?? process.env;
  const home = 'home' in options ? options.home : (env['HOME'] ?? env['USERPROFILE']);
  return { cwd: path.resolve(options.cwd ?? process.cwd()), home: home === '' ? undefined : home, env };
}

export const CONFIG_FILE = '.agent/config.json';

/** Loads the configuration: defaults, user file, project file (or `file`, which must then exist; `false`: no file), environment, and `override`. */
export async function loadConfig(
  surroundings: Surroundings,
  file?: string | false,
  override?: ConfigOverride,
): Promise<LoadedConfig> {
  const places = file === false ? [] : listConfigFiles(surroundings, file);
  // Usually there is no configuration; then the code that reads it is not loaded.
  const isPlain =
    override === undefined &&
    places.every((place) => !place.isRequired && isAbsent(place.path) && isAbsent(tomlBeside(place.path))) &&
    settingNames(surroundings.env).length === 0;
  if (isPlain) {
    return {
      config: {},
      policies: [],
      profile: {},
      forOwnSkills: {},
      namedRoots: { own: [], project: [] },
      files: places.map((place) => ({ path: place.path, status: 'absent' })),
      diagnostics: [],
      isBroken: false,
      explain: async () => (await import('./config-merge.ts')).explainLayers([]),
    };
  }
  const { readConfig } = await import('./config-files.ts');
  return readConfig({ ...surroundings, places, override });
}

/** Project file first. In the home folder both are the same file, and it counts as the user's. */
function listConfigFiles({ cwd, home }: Surroundings, file: string | undefined): readonly ConfigFileLocation[] {
  const own = home === undefined ? undefined : path.join(path.resolve(cwd, home), CONFIG_FILE);
  const project = file === undefined ? path.join(cwd, CONFIG_FILE) : path.resolve(cwd, file);
  const isOwn = own !== undefined && (own === project || (!isAbsent(project) && realPath(own) === realPath(project)));
  const isRequired = file !== undefined;
  const places: ConfigFileLocation[] = [];
  if (!isOwn) places.push({ layer: 'project', path: project, base: cwd, isRequired });
  if (own !== undefined)
    places.push({ layer: 'user', path: own, base: path.resolve(own, '../..'), isRequired: isOwn && isRequired });
  return places;
}

/** Where skills-agent may keep the same settings in TOML; that they are ignored is reported. */
function tomlBeside(file: string): string {
  return file.replace(/\.json$/, '.toml');
}

/** True if nothing exists at the path; false on system errors. */
function isAbsent(file: string): boolean {
  return quietly(() => lstatSync(file, { throwIfNoEntry: false }) === undefined, false);
}
