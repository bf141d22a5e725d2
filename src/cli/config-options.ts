import {
  isObject,
  nearest,
  quoted,
  SETTINGS,
  valueAt,
  withValue,
  type Config,
  type JsonSchema,
  type SkillError,
  readSetting,
} from '#core';
import { usageError } from './exit.ts';

/** Settings written as `key=value`; of two for one key the later counts. Text is written plainly, lists and objects as JSON. */
export function readOptions(options: readonly string[]): Config {
  return options.reduce<Config>((before, option) => withOption(before, option), {});
}

function withOption(before: Config, option: string): Config {
  const equals = option.indexOf('=');
  if (equals < 1) throw wrong(`${quoted(option)} is not KEY=VALUE`, 'write it like --set catalog.budget_tokens=2000');
  const key = option.slice(0, equals);
  const target = findTarget(key);
  if (target === undefined) throw unknownKey(key);
  // Checked alone, so that its problem is not attributed to another setting.
  const read = readSetting(target.setting, option.slice(equals + 1), target);
  if ('message' in read) throw wrong(read.message, read.hint);
  return joined(before, target, read.value);
}

interface Target {
  readonly setting: (typeof SETTINGS)[number];
  readonly path: readonly string[];
  /** Absent where anything may stand. */
  readonly schema: JsonSchema | undefined;
}

/** A setting, or an entry of a map: behind the map's name everything is the entry's, dots included. */
function findTarget(key: string): Target | undefined {
  const setting = SETTINGS.find((candidate) => candidate.key === key);
  if (setting !== undefined) return { setting, path: setting.path, schema: setting.schema };
  const map = SETTINGS.find((candidate) => candidate.isMap && key.startsWith(`${candidate.key}.`));
  if (map === undefined || !('additionalProperties' in map.schema)) return undefined;
  const { additionalProperties: entry } = map.schema;
  return {
    setting: map,
    path: [...map.path, key.slice(map.key.length + 1)],
    schema: entry === true ? undefined : entry,
  };
}

/** A whole map joins the entries that were given before it. */
function joined(before: Config, { setting, path }: Target, value: unknown): Config {
  const known = valueAt(before, path);
  const isWholeMap = setting.isMap && path.length === setting.path.length && isObject(known) && isObject(value);
  return withValue(before, path, isWholeMap ? { ...known, ...value } : value);
}

function unknownKey(key: string): SkillError {
  const below = SETTINGS.filter((setting) => setting.key.startsWith(`${key}.`)).map((setting) => setting.key);
  if (below.length > 0) return wrong(`${quoted(key)} is a group of settings`, `set one of ${below.join(', ')}`);
  const [guess] = nearest(
    key,
    SETTINGS.map((setting) => setting.key),
    1,
  );
  return wrong(
    `${quoted(key)} is not a setting`,
    guess === undefined ? 'run skillwright config explain to list all settings' : `did you mean ${guess}?`,
  );
}

function wrong(message: string, hint: string): SkillError {
  return usageError(`--set: ${message}`, hint);
}
