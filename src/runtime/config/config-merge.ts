import { SETTINGS, valueAt, withValue, isObject, type Config, type LoadedConfig } from '#core';
import { findOverrideRule, isAboutSkills, narrow } from './project-override-rules.ts';

export type Setting = (typeof SETTINGS)[number];

export type ExplainedValue = Awaited<ReturnType<LoadedConfig['explain']>>[number];
export type LayerValue = Awaited<ReturnType<LoadedConfig['explain']>>[number]['also'][number];

/** One source of settings: a file, or a single environment variable. */
export interface ConfigLayer {
  readonly layer: Exclude<LayerValue['layer'], 'built-in'>;
  /** The file, the variable or the option. */
  readonly where: string;
  readonly config: Config;
}

/**
 * Merges all layers without built-in defaults. The project's policy rules and defaults, and what it says about skills, are left out; see
 * `LoadedConfig.policies` and `forOwnSkills`.
 */
export function mergeLayers(layers: readonly ConfigLayer[]): Config {
  let config: Config = {};
  // The project narrows what all of the user's layers say, also variables and options.
  const projectAtEnd = [...layers].sort((a, b) => projectLast(a) - projectLast(b));
  for (const setting of SETTINGS) {
    const isApart = isPolicy(setting) || isAboutSkills(setting.key);
    const used = NARROWED_POLICY.has(setting.key)
      ? projectAtEnd
      : layers.filter(({ layer }) => layer !== 'project' || !isApart);
    for (const { path, value, layer } of resolveSetting(setting, used))
      if (layer !== 'built-in') config = withValue(config, path, value);
  }
  return config;
}

/** What the project's layers say about skills. */
export function mergeOwnEntries(layers: readonly ConfigLayer[]): Config {
  const projects = layers.filter(({ layer }) => layer === 'project');
  const entries = SETTINGS.filter(({ key }) => isAboutSkills(key)).flatMap(({ path }) =>
    projects.flatMap(({ config }) =>
      Object.entries(valueAt(config, path) ?? {}).map(([key, value]) => ({ path: [...path, key], value })),
    ),
  );
  return entries.reduce<Config>((config, { path, value }) => withValue(config, path, value), {});
}

/** The value of a setting that is not a map, after these layers. */
export function settingInForce(key: string, layers: readonly ConfigLayer[]): unknown {
  const setting = SETTINGS.find((one) => one.key === key);
  return setting && resolveSetting(setting, layers)[0]?.value;
}

const NARROWED_POLICY: ReadonlySet<string> = new Set(['policy.allowed_tools', 'policy.sandboxed']);

/** Explains every setting that has a value, in schema order. Map entries and the rules of each layer are listed separately. */
export function explainLayers(layers: readonly ConfigLayer[]): readonly ExplainedValue[] {
  return SETTINGS.flatMap((setting) => {
    // Project rules restrict the result of all other layers, so they come last.
    const ordered = isPolicy(setting) ? [...layers].sort((a, b) => projectLast(a) - projectLast(b)) : layers;
    return explainedApart(setting, ordered).flatMap((group) => resolveSetting(setting, group).map(explained));
  });
}

/** Rules of each layer stay apart, and so does what a project says about skills. */
function explainedApart({ key }: Setting, layers: readonly ConfigLayer[]): readonly (readonly ConfigLayer[])[] {
  if (findOverrideRule(key) === 'apart') return layers.map((layer) => [layer]);
  if (!isAboutSkills(key)) return [layers];
  return [layers.filter((one) => projectLast(one) === 0), layers.filter((one) => projectLast(one) === 1)];
}

/**
 * Settings for which the project requests more than it gets. Policy settings are compared with all of the user's layers, others with the
 * user file.
 */
export function widerSettings(own: readonly ConfigLayer[], project: ConfigLayer): readonly Setting[] {
  return SETTINGS.filter((setting) => {
    const asked = valueAt(project.config, setting.path);
    if (asked === undefined || setting.isMap) return false;
    const [below] = resolveSetting(
      setting,
      isPolicy(setting) ? own : own.filter(({ layer }) => layer === 'user' || layer === 'vocabulary'),
    );
    return narrow(findOverrideRule(setting.key), below?.value, asked).isWider;
  });
}

interface Resolved extends LayerValue {
  readonly path: readonly string[];
  readonly also: readonly LayerValue[];
  readonly overridden: readonly LayerValue[];
}

function explained({ path, value, layer, where, also, overridden }: Resolved): ExplainedValue {
  return { key: path.join('.'), value, layer, where, also, overridden };
}

function isPolicy({ path }: Setting): boolean {
  return path[0] === 'policy';
}

function projectLast({ layer }: ConfigLayer): number {
  return layer === 'project' ? 1 : 0;
}

/** Resolves a setting, or each entry of a map. Empty if no layer sets it and it has no default. */
function resolveSetting(setting: Setting, layers: readonly ConfigLayer[]): readonly Resolved[] {
  if (!setting.isMap) return resolvePath(setting, setting.path, layers);
  const maps = layers.map(({ config }) => valueAt(config, setting.path)).filter((map) => isObject(map));
  const keys = new Set(maps.flatMap((map) => Object.keys(map)));
  return [...keys].flatMap((key) => resolvePath(setting, [...setting.path, key], layers));
}

function resolvePath(setting: Setting, path: readonly string[], layers: readonly ConfigLayer[]): readonly Resolved[] {
  const builtIn = builtInValue(setting);
  const start = builtIn === undefined ? undefined : alone(path, { layer: 'built-in', where: '', value: builtIn });
  const end = layers.reduce<Resolved | undefined>((below, { layer, where, config }) => {
    const value = valueAt(config, path);
    return value === undefined ? below : applyLayerValue(setting, path, below, { layer, where, value });
  }, start);
  return end === undefined ? [] : [end];
}

function alone(path: readonly string[], layerValue: LayerValue): Resolved {
  return { path, ...layerValue, also: [], overridden: [] };
}

function applyLayerValue(
  { key }: Setting,
  path: readonly string[],
  below: Resolved | undefined,
  layerValue: LayerValue,
): Resolved | undefined {
  const override = findOverrideRule(key);
  // The user's own layers may set anything. Their rules are concatenated, so that a variable cannot drop a rule of a file.
  const { value, counts } =
    layerValue.layer === 'project' || override === 'apart'
      ? narrow(override, below?.value, layerValue.value)
      : { value: layerValue.value, counts: 'project' as const };
  if (counts === 'below') {
    return below === undefined ? undefined : { ...below, overridden: [...below.overridden, layerValue] };
  }
  if (below === undefined) return { ...alone(path, layerValue), value };
  const before = { layer: below.layer, where: below.where, value: below.value };
  const isJoined = counts === 'both';
  return {
    path,
    ...layerValue,
    value,
    also: isJoined ? [before, ...below.also] : [],
    overridden: isJoined ? below.overridden : [before, ...below.overridden],
  };
}

/** The default of a setting. */
export function builtInValue({ schema }: Setting): unknown {
  return 'default' in schema ? schema.default : undefined;
}
