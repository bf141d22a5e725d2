import path from 'node:path';

import {
  type VocabularyName,
  checkConfig,
  defined,
  diagnose,
  quoted,
  SkillError,
  withValue,
  type Config,
  type Diagnostic,
  type LoadedConfig,
  type Profile,
  type readJsonText,
  SETTINGS,
  valueAt,
} from '#core';
import { findLink, isPresent, namesIn, readCheckedJson, resolveWithHome, withForwardSlashes } from '#platform';
import { isAddress, userFolders } from '../roots.ts';
import { readPolicy, writeProtection } from '#policy';
import {
  explainLayers,
  mergeLayers,
  mergeOwnEntries,
  settingInForce,
  widerSettings,
  type ConfigLayer,
} from './config-merge.ts';
import { findProfile } from '#tools/profiles';
import { findOverrideRule, isAboutSkills, narrow, narrowProfile, userOnlyPaths } from './project-override-rules.ts';
import { readEnvironment } from './config-environment.ts';

/** A possible configuration file. */
export interface ConfigFileLocation {
  readonly layer: 'user' | 'project';
  readonly path: string;
  /** Base of its relative paths. */
  readonly base: string;
  readonly isRequired: boolean;
}

/** Settings that override files and variables, and their origin. */
export interface ConfigOverride {
  readonly config: Config;
  readonly where: string;
  /** The vocabulary of a record, which counts as chosen by the project. */
  readonly recordedVocabulary?: VocabularyName | undefined;
}

export interface ConfigSources {
  /** Highest priority first. */
  readonly places: readonly ConfigFileLocation[];
  readonly cwd: string;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly override: ConfigOverride | undefined;
}

/** Reads and merges all configuration sources. */
export function readConfig({ places, cwd, home, env, override }: ConfigSources): LoadedConfig {
  const files = places.map(readConfigFile);
  const environment = readEnvironment(env);
  const users = files.filter(({ place }) => place.layer === 'user').flatMap(({ layers }) => layers);
  const options = override === undefined ? [] : [optionLayer(override)];
  const projectFiles = files.filter(({ place }) => place.layer === 'project');
  const record = recordLayers(override);
  const own = withVocabulary([...users, ...environment.layers, ...options]);
  const chosen = [...projectFiles.flatMap((file) => file.layers), ...record].findLast(
    ({ config }) => config.vocabulary !== undefined,
  );
  // A variable or an option beats the project's file, and nothing but an option beats a record.
  const isOverridden = [...environment.layers, ...options].some(({ config }) => config.vocabulary !== undefined);
  const vocabulary =
    chosen === undefined || (isOverridden && record.length === 0) ? own : withProjectVocabulary(own, chosen);
  const projects = projectFiles.map((file) => narrowProject(file, [...vocabulary.defaults, ...own.layers]));
  const bases = new Map(places.map((place) => [place.path, place.base]));
  const layers = [
    ...vocabulary.defaults,
    ...users,
    ...projects.flatMap((file) => file.layers),
    ...environment.layers,
    ...options,
    ...record,
  ].map((layer) => withAbsolutePaths(layer, bases.get(layer.where) ?? cwd, home));
  const policies = layers.flatMap((layer) => readLayerPolicy(layer, cwd, home));
  const config = mergeLayers(layers);
  const requiredApprovals = (config.execution?.require_approval_for ?? []).flatMap((rule) => {
    const from = layers
      .toSorted((a, b) => Number(a.layer === 'project') - Number(b.layer === 'project'))
      .find((layer) => layer.config.execution?.require_approval_for?.includes(rule));
    return from === undefined || from.layer === 'vocabulary' ? [] : [{ rule, layer: from.layer, where: from.where }];
  });
  return {
    config,
    profile: vocabulary.profile,
    forOwnSkills: mergeOwnEntries(layers),
    ...(requiredApprovals.length === 0 ? {} : { requiredApprovals }),
    namedRoots: {
      own: layers.filter(({ layer }) => layer !== 'project').flatMap((layer) => resolveSkillRoots(layer, cwd, home)),
      // The user's own folder stays the user's, also if a project lists it.
      project: layers
        .filter(({ layer }) => layer === 'project')
        .flatMap((layer) => resolveSkillRoots(layer, cwd, home))
        .filter((root) => !userFolders(home).includes(root)),
    },
    policies: policies.map(({ layer, where, policy }) => ({ layer, where, policy })),
    files: files.map(({ place, status }) => ({ path: place.path, status })),
    diagnostics: [
      ...files.flatMap((file) => file.diagnostics),
      ...places.flatMap(findIgnoredFile),
      ...projects.flatMap((file) => file.remarks),
      ...environment.problems.map(({ variable, message, hint }) =>
        diagnose({ code: 'config/environment', path: variable, message, hint }, 'lenient'),
      ),
      ...policies.flatMap((policy) => policy.diagnostics),
    ],
    isBroken:
      files.some(({ status }) => status === 'invalid') ||
      environment.problems.length > 0 ||
      policies.some((policy) => policy.isBroken),
    explain: () => Promise.resolve(explainLayers([...agentDefaults(vocabulary.profile, config), ...layers])),
  };
}

/** Agents get this default of the vocabulary from its profile: a loop of another program chooses for itself. */
function agentDefaults({ agentPlacement: placement }: Profile, { vocabulary: where }: Config): readonly ConfigLayer[] {
  if (placement === undefined || where === undefined) return [];
  return [{ layer: 'vocabulary', where, config: { session: { placement } } }];
}

function findIgnoredFile(place: ConfigFileLocation): readonly Diagnostic[] {
  const file = place.path.replace(/\.json$/, '.toml');
  if (file === place.path || !isPresent(file)) return [];
  const message = `${file} is ignored: the configuration is ${place.path}`;
  return [diagnose({ code: 'config/ignored-file', path: file, message }, 'lenient')];
}

/** Absolute roots; `~` is resolved as in `roots.ts`. */
function resolveSkillRoots({ config }: ConfigLayer, cwd: string, home: string | undefined): readonly string[] {
  const top = home !== undefined && path.isAbsolute(home) ? home : '~';
  return (config.skill_roots ?? []).map((root) => {
    const written = typeof root === 'string' ? root : (root.path ?? '');
    return path.resolve(cwd, written === '~' || written.startsWith('~/') ? top + written.slice(1) : written);
  });
}

interface ReadFile {
  readonly place: ConfigFileLocation;
  /** One layer if the file is used, otherwise none. */
  readonly layers: readonly ConfigLayer[];
  readonly text: ReturnType<typeof readJsonText> | undefined;
  readonly status: 'used' | 'absent' | 'invalid';
  readonly diagnostics: readonly Diagnostic[];
}

function readConfigFile(place: ConfigFileLocation): ReadFile {
  const without = { place, layers: [], text: undefined };
  const read = readCheckedJson(place.path, checkConfig);
  if (read.type === 'invalid') return { ...without, status: 'invalid', diagnostics: read.diagnostics };
  if (read.type === 'read') {
    // `checkConfig` has validated the JSON, so it is a `Config`.
    const { $schema: _, ...config }: Config = read.value;
    const layer = { layer: place.layer, where: place.path, config };
    return { place, layers: [layer], text: read.text, status: 'used', diagnostics: [] };
  }
  if (!place.isRequired) return { ...without, status: 'absent', diagnostics: [] };
  const missing = diagnose({ code: 'config/invalid', path: place.path, message: 'the file does not exist' }, 'lenient');
  return { ...without, status: 'invalid', diagnostics: [missing] };
}

/** An option beats the record. */
function recordLayers(given: ConfigOverride | undefined): readonly ConfigLayer[] {
  const { config, recordedVocabulary } = given ?? {};
  if (recordedVocabulary === undefined || config?.vocabulary !== undefined) return [];
  return [{ layer: 'project', where: 'the record', config: { vocabulary: recordedVocabulary } }];
}

interface ChosenVocabulary {
  readonly profile: Profile;
  /** The settings of its profile. */
  readonly defaults: readonly ConfigLayer[];
  /** The defaults and the user's layers above them. */
  readonly layers: readonly ConfigLayer[];
}

/** The vocabulary that the last of the user's layers names, with its defaults below them. */
function withVocabulary(users: readonly ConfigLayer[]): ChosenVocabulary {
  const { vocabulary: where } = users.findLast(({ config }) => config.vocabulary !== undefined)?.config ?? {};
  const profile = findProfile(where);
  const { settings: config } = profile;
  const defaults: readonly ConfigLayer[] =
    where === undefined || config === undefined ? [] : [{ layer: 'vocabulary', where, config }];
  return { profile, defaults, layers: [...defaults, ...users] };
}

/**
 * The vocabulary that a project or a record names. The defaults of the user's vocabulary stay, and of the project's only those count that
 * loosen nothing.
 */
function withProjectVocabulary(own: ChosenVocabulary, { config: project }: ConfigLayer): ChosenVocabulary {
  const { vocabulary: where = '' } = project;
  const chosen = findProfile(where);
  const { settings = {} } = chosen;
  const config = narrowDefaults(settings, own.layers, project);
  const isStrict = {
    own: settingInForce('format.mode', own.layers) === 'strict',
    chosen: (project.format?.mode ?? settings.format?.mode) === 'strict',
  };
  return {
    ...own,
    profile: narrowProfile(own.profile, chosen, isStrict, settingInForce('use_default_roots', own.layers) !== false),
    defaults: [...own.defaults, { layer: 'vocabulary', where, config }],
  };
}

interface NarrowedFile {
  readonly layers: readonly ConfigLayer[];
  readonly remarks: readonly Diagnostic[];
}

/** Removes settings that the project may not set, and reports them. `own` are the user's layers and the defaults of the vocabulary. */
function narrowProject({ place, layers, text }: ReadFile, own: readonly ConfigLayer[]): NarrowedFile {
  const [layer] = layers;
  if (layer === undefined) return { layers, remarks: [] };
  const forbidden = forbiddenPaths(layer.config, place.base);
  const allowed = { ...layer, config: withoutPaths(layer.config, forbidden) };
  const wider = widerSettings(own, allowed).map((setting) => setting.path);
  const remark = (
    code: 'config/not-for-project' | 'config/wider',
    at: readonly string[],
    rest: string,
    hint?: string,
  ): Diagnostic => {
    const message = `${quoted(at.join('.'), 120)} ${rest}`;
    return diagnose({ code, path: place.path, ...text?.locate(at), message, ...defined({ hint }) }, 'lenient');
  };
  return {
    // Policy rules are evaluated elsewhere, so a wider default must not remain here.
    layers: [
      {
        ...allowed,
        config: withoutPaths(
          allowed.config,
          wider.filter(([first]) => first === 'policy'),
        ),
      },
    ],
    remarks: [
      ...forbidden.map((at) => {
        if (at[0] === 'skill_roots') return remark('config/not-for-project', at, ...FOREIGN_SOURCE);
        if (isAboutSkills(at.slice(0, -1).join('.'))) return remark('config/not-for-project', at, ...FOREIGN_SKILL);
        if (at === RUNS_DIRECTORY) return remark('config/not-for-project', at, ...NOT_ORDINARY);
        const subject = findOverrideRule(at.join('.')) === 'never' ? 'is' : 'with this value is';
        return remark('config/not-for-project', at, `${subject} reserved for the user`);
      }),
      ...wider.map((at) => remark('config/wider', at, 'requests more than the user allows')),
    ],
  };
}

const FOREIGN_SOURCE = [
  'is a source name of others, so the source is project',
  'write "project", a name that starts with "project-", or no source',
] as const;

const NOT_ORDINARY = [
  'is not used: it is behind a link, or part of .git, a skill, installed packages or the settings of a tool',
  'name an ordinary folder of the project, such as records, or leave it out for .agent/runs',
] as const;

const FOREIGN_SKILL = [
  'names a skill that is not of the project',
  'name a skill of the project without a source; settings for other skills belong in the user file',
] as const;

/** Defaults of a vocabulary that do not apply if a project chooses it, because they loosen ours. */
export function defaultsForUserOnly(vocabulary: VocabularyName): readonly string[] {
  const { settings = {} } = findProfile(vocabulary);
  const kept = narrowDefaults(settings, [], {});
  return SETTINGS.filter(({ path: at }) => valueAt(settings, at) !== undefined && valueAt(kept, at) === undefined).map(
    ({ key }) => key,
  );
}

/**
 * Settings that a project may set, compared with the user's layers, without those that its file sets itself. A default that is on stays on:
 * the file cannot turn off such a setting.
 */
function narrowDefaults(settings: Config, own: readonly ConfigLayer[], project: Config): Config {
  const allowed = withoutPaths(settings, userOnlyPaths(settings));
  const dropped = SETTINGS.filter((setting) => {
    const value = valueAt(allowed, setting.path);
    if (value === undefined) return false;
    const rule = findOverrideRule(setting.key);
    const { counts, isWider } = narrow(rule, settingInForce(setting.key, own), value);
    return counts === 'below' || isWider || (rule !== 'on' && valueAt(project, setting.path) !== undefined);
  });
  return withoutPaths(
    allowed,
    dropped.map((setting) => setting.path),
  );
}

function withoutPaths(config: Config, paths: readonly (readonly string[])[]): Config {
  return paths.reduce((rest, at) => withValue(rest, at, undefined), config);
}

/** Settings that only the user may set, including a directory for records that is not an ordinary folder of the project. */
function forbiddenPaths(config: Config, base: string): readonly (readonly string[])[] {
  const paths = userOnlyPaths(config);
  const directory = withoutPaths(config, paths).runs?.directory;
  const isForbidden = directory !== undefined && !isOrdinaryFolder(path.resolve(base, directory), base);
  return isForbidden ? [...paths, RUNS_DIRECTORY] : paths;
}

const RUNS_DIRECTORY = ['runs', 'directory'];
/** Folders of `.agent` for something else. */
const OWN_FOLDERS = /^\.agent(?:\/(?:artifacts|evals|keys|pending|skills|sources|trash)(?:\/|$)|$)/i;
const PACKAGES = /(?:^|\/)(?:node_modules|\.?venv|\.tox|__pycache__)(?:\/|$)/i;

/** Whether a folder below `base` belongs to no other tool, no skill and no installed package, and no link leads to it. */
function isOrdinaryFolder(directory: string, base: string): boolean {
  const relative = withForwardSlashes(path.relative(base, directory));
  if (relative === '' || findLink(directory, base) !== undefined) return false;
  if (/^\.agent(?:\/|$)/i.test(relative)) return !OWN_FOLDERS.test(relative);
  if (PACKAGES.test(relative) || writeProtection(relative) !== 'free') return false;
  const names = relative.split('/');
  const folders = names.map((_, at) => path.join(base, ...names.slice(0, at + 1)));
  // Git takes a folder with a HEAD for a repository.
  return !folders.some((folder) => namesIn(folder).some((name) => /^(?:skill\.md|head)$/i.test(name)));
}

function optionLayer({ config, where }: ConfigOverride): ConfigLayer {
  const [problem] = checkConfig(config);
  if (problem === undefined) return { layer: 'option', where, config };
  const { message, hint = 'run skillwright config --schema to see all settings' } = problem;
  throw new SkillError({ code: 'config/invalid', message, hint, data: { path: where } });
}

type ReadLayerPolicy = LoadedConfig['policies'][number] & {
  readonly diagnostics: readonly Diagnostic[];
  readonly isBroken: boolean;
};

/** Includes of a file are relative to the file; those of a variable or an option to the project. */
function readLayerPolicy(
  { layer, where, config }: ConfigLayer,
  cwd: string,
  home: string | undefined,
): readonly ReadLayerPolicy[] {
  if (config.policy === undefined || layer === 'vocabulary') return [];
  const base = layer === 'user' || layer === 'project' ? path.dirname(where) : cwd;
  return [{ layer, where, ...readPolicy(config.policy, { where, base, home }) }];
}

/** Roots below `~` are resolved by the registry, which also rejects URLs. */
function withAbsolutePaths(layer: ConfigLayer, base: string, home: string | undefined): ConfigLayer {
  const { skill_roots: roots, runs } = layer.config;
  const absolute = (root: string): string =>
    root === '~' || root.startsWith('~/') || isAddress(root) ? root : path.resolve(base, root);
  const isProject = layer.layer === 'project';
  const rooted = roots?.map((root) => {
    const { path: written = '', source = isProject ? 'project' : undefined } =
      typeof root === 'string' ? { path: root } : root;
    return source === undefined ? absolute(written) : { path: absolute(written), source };
  });
  const directory = runs?.directory === undefined ? undefined : resolveWithHome(runs.directory, base, home);
  const config = withValue(layer.config, ['skill_roots'], rooted);
  return { ...layer, config: directory === undefined ? config : withValue(config, ['runs', 'directory'], directory) };
}
