import { CONFIG_SCHEMA, type Config } from './config.ts';
import { readJsonText } from '../json/json-position.ts';
import { isObject, type JsonSchema, type ObjectSchema } from '../json/json-schema.ts';
import { parseJson } from '../json/parse-json.ts';

/** A leaf of the configuration schema: a value, a list or a map. */
export interface Setting {
  /** For example `catalog.budget_tokens`. */
  readonly key: SettingKey;
  readonly path: readonly string[];
  readonly schema: Exclude<JsonSchema, ObjectSchema>;
  /** Its entries are merged one by one. */
  readonly isMap: boolean;
}

type KeysBelow<Properties, Above extends string> = {
  [Name in keyof Properties & string]: Properties[Name] extends { readonly properties: infer Below }
    ? KeysBelow<Below, `${Above}${Name}.`>
    : `${Above}${Name}`;
}[keyof Properties & string];

/** The keys of all settings. */
type SettingKey = Exclude<KeysBelow<(typeof CONFIG_SCHEMA)['properties'], ''>, '$schema'>;

/** All settings, in schema order. */
export const SETTINGS: readonly Setting[] = settingsBelow(CONFIG_SCHEMA, []);

function settingsBelow(schema: ObjectSchema, path: readonly string[]): readonly Setting[] {
  return Object.entries(schema.properties).flatMap(([name, property]): readonly Setting[] => {
    const below = [...path, name];
    if (isObjectSchema(property)) return settingsBelow(property, below);
    const key = below.join('.');
    if (!isSettingKey(key)) return [];
    return [{ key, path: below, schema: property, isMap: 'type' in property && property.type === 'object' }];
  });
}

function isSettingKey(key: string): key is SettingKey {
  return key !== '$schema';
}

function isObjectSchema(schema: JsonSchema): schema is ObjectSchema {
  return 'properties' in schema;
}

/** Returns the value at a path, ignoring inherited properties. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  );
}

/** Returns a copy with one value changed, also in an item of a list; `undefined` removes the key. The value must already be valid. */
export function withValue(config: Config, path: readonly string[], value: unknown): Config {
  return changed(config, path, value);
}

function changed(
  config: Readonly<Record<string, unknown>>,
  path: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const [key = '', ...rest] = path;
  const { [key]: before, ...others } = config;
  const after = rest.length === 0 ? value : changedBelow(before, rest, value);
  const isGone = after === undefined || (rest.length > 0 && isObject(after) && Object.keys(after).length === 0);
  if (isGone) return others;
  // Keys keep their position, so a printed configuration stays in its original order.
  return { ...config, [key]: after };
}

function changedBelow(before: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  if (!Array.isArray(before)) return changed(isObject(before) ? before : {}, [key, ...rest], value);
  return before.map((item: unknown, at) => (isObject(item) && String(at) === key ? changed(item, rest, value) : item));
}

/** Deeper nesting is rejected as malicious. */
const MAX_SETTING_DEPTH = 64;

/** Parses a value written as text; lists and maps are JSON. Returns nothing if the text is not valid. */
export function valueOfText(text: string, schema?: JsonSchema): unknown {
  if (schema !== undefined && 'type' in schema && schema.type === 'string') return text;
  const value = parseJson(text);
  if (value === undefined) return undefined;
  const { depth, repeated } = readJsonText(text);
  return depth > MAX_SETTING_DEPTH || repeated.length > 0 ? undefined : value;
}
