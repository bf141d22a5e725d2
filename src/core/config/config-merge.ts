import type { Config } from './config.ts';
import { lawOf, narrow } from './project-override-rules.ts';
import { SETTINGS, builtInValue, isMap, valueAt, withValue } from './config-settings.ts';
import type { Setting } from './config-settings.ts';
import { isObject } from '../json/json-schema.ts';

/** Later ones beat earlier ones; a project's file only as far as its laws let it. */
export const CONFIG_LAYERS = ['built-in', 'user', 'project', 'environment', 'option'] as const;
export type ConfigLayerName = (typeof CONFIG_LAYERS)[number];

/** A part of the configuration and who says so. One file is a layer, and so is each variable. */
export interface ConfigLayer {
  readonly layer: Exclude<ConfigLayerName, 'built-in'>;
  /** The file, the variable or the option. */
  readonly where: string;
  readonly config: Config;
}

export interface SaidValue {
  readonly layer: ConfigLayerName;
  /** Empty for what is built in. */
  readonly where: string;
  readonly value: unknown;
}

/** A value in force, who says so, and who says something else in vain. */
export interface ExplainedValue extends SaidValue {
  /** `catalog.budget_tokens`, `skill_visibility.pdf` */
  readonly key: string;
  /** Those whose entries are a part of the value as well. */
  readonly also: readonly SaidValue[];
  readonly overridden: readonly SaidValue[];
}

/** All layers as one configuration, without what is built in: it shows what was set. Rules of a project stay out, see `policies`. */
export function mergeLayers(layers: readonly ConfigLayer[]): Config {
  let config: Config = {};
  for (const setting of SETTINGS) {
    const said = layers.filter(({ layer }) => layer !== 'project' || !isPolicy(setting));
    for (const { path, value, layer } of resolveSetting(setting, said))
      if (layer !== 'built-in') config = withValue(config, path, value);
  }
  return config;
}

/** Every setting that has a value, in the order of the schema; each entry of a map and the rules of each layer by themselves. */
export function explainLayers(layers: readonly ConfigLayer[]): readonly ExplainedValue[] {
  return SETTINGS.flatMap((setting) => {
    // A project's rules narrow whatever the others come to, variables and options included.
    const ordered = isPolicy(setting) ? [...layers].sort((a, b) => projectLast(a) - projectLast(b)) : layers;
    const apart = lawOf(setting.key) === 'apart' ? ordered.map((layer) => [layer]) : [ordered];
    return apart.flatMap((group) => resolveSetting(setting, group).map(explained));
  });
}

/** Settings of which a project asks for more than it gets. `own` are the user's layers: for rules all of them count, else the file. */
export function widerSettings(own: readonly ConfigLayer[], project: ConfigLayer): readonly Setting[] {
  return SETTINGS.filter((setting) => {
    const asked = valueAt(project.config, setting.path);
    if (asked === undefined || isMap(setting)) return false;
    const [below] = resolveSetting(setting, isPolicy(setting) ? own : own.filter(({ layer }) => layer === 'user'));
    return narrow(lawOf(setting.key), below?.value, asked).isWider;
  });
}

interface Resolved extends SaidValue {
  readonly path: readonly string[];
  readonly also: readonly SaidValue[];
  readonly overridden: readonly SaidValue[];
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

/** A setting, or each entry of a map: nothing where nobody says anything and nothing is built in. */
function resolveSetting(setting: Setting, layers: readonly ConfigLayer[]): readonly Resolved[] {
  if (!isMap(setting)) return resolvePath(setting, setting.path, layers);
  const maps = layers.map(({ config }) => valueAt(config, setting.path)).filter((map) => isObject(map));
  const keys = new Set(maps.flatMap((map) => Object.keys(map)));
  return [...keys].flatMap((key) => resolvePath(setting, [...setting.path, key], layers));
}

function resolvePath(setting: Setting, path: readonly string[], layers: readonly ConfigLayer[]): readonly Resolved[] {
  const builtIn = builtInValue(setting);
  const start = builtIn === undefined ? undefined : alone(path, { layer: 'built-in', where: '', value: builtIn });
  const end = layers.reduce<Resolved | undefined>((below, { layer, where, config }) => {
    const value = valueAt(config, path);
    return value === undefined ? below : withSaid(setting, path, below, { layer, where, value });
  }, start);
  return end === undefined ? [] : [end];
}

function alone(path: readonly string[], said: SaidValue): Resolved {
  return { path, ...said, also: [], overridden: [] };
}

function withSaid(
  { key }: Setting,
  path: readonly string[],
  below: Resolved | undefined,
  said: SaidValue,
): Resolved | undefined {
  const law = lawOf(key);
  // The user's own layers say what they like; their rules add up, so that a variable cannot make a file's rule forgotten.
  const { value, counts } =
    said.layer === 'project' || law === 'apart'
      ? narrow(law, below?.value, said.value)
      : { value: said.value, counts: 'project' as const };
  if (counts === 'below') {
    return below === undefined ? undefined : { ...below, overridden: [...below.overridden, said] };
  }
  if (below === undefined) return { ...alone(path, said), value };
  const before = { layer: below.layer, where: below.where, value: below.value };
  const isJoined = counts === 'both';
  return {
    path,
    ...said,
    value,
    also: isJoined ? [before, ...below.also] : [],
    overridden: isJoined ? below.overridden : [before, ...below.overridden],
  };
}
