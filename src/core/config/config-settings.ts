import { CONFIG_SCHEMA } from './config.ts';
import type { Config } from './config.ts';
import { readJsonText } from '../json/json-position.ts';
import { isObject } from '../json/json-schema.ts';
import { parseJson } from '../json/parse-json.ts';
import type { JsonSchema, ObjectSchema } from '../json/json-schema.ts';

/** One thing that can be set: a key of the schema that holds a value, a list or a map, and no keys of ours. */
export interface Setting {
  /** `catalog.budget_tokens` */
  readonly key: string;
  readonly path: readonly string[];
  readonly schema: Exclude<JsonSchema, ObjectSchema>;
}

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly Setting[] = settingsBelow(CONFIG_SCHEMA, []).filter(({ key }) => key !== '$schema');

function settingsBelow(schema: ObjectSchema, path: readonly string[]): readonly Setting[] {
  return Object.entries(schema.properties).flatMap(([name, property]): readonly Setting[] => {
    const below = [...path, name];
    if (isObjectSchema(property)) return settingsBelow(property, below);
    return [{ key: below.join('.'), path: below, schema: property }];
  });
}

function isObjectSchema(schema: JsonSchema): schema is ObjectSchema {
  return 'properties' in schema;
}

/** A setting whose entries are set one by one. */
export function isMap({ schema }: Setting): boolean {
  return 'type' in schema && schema.type === 'object';
}

/** What holds where nobody says anything. */
export function builtInValue({ schema }: Setting): unknown {
  return 'default' in schema ? schema.default : undefined;
}

/** The value at a path; nothing where a part of it is not there. Keys of prototypes are no parts. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined),
    value,
  );
}

/** The configuration with one value changed; `undefined` takes the key away. The value must have passed the check of its schema. */
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
  const after = rest.length === 0 ? value : changed(isObject(before) ? before : {}, rest, value);
  const isGone = after === undefined || (rest.length > 0 && isObject(after) && Object.keys(after).length === 0);
  if (isGone) return others;
  // A key keeps its place: a printed configuration stands as it was written.
  return { ...config, [key]: after };
}

/** No setting is nested so deep; what is, was made to break a reader. */
export const MAX_SETTING_DEPTH = 64;

/** The value that a text means for this schema; nothing where it means none. Lists and maps are written as JSON. */
export function valueOfText(text: string, schema: JsonSchema): unknown {
  if ('type' in schema && schema.type === 'string') return text;
  const value = parseJson(text);
  if (value === undefined) return undefined;
  const { depth, repeated } = readJsonText(text);
  return depth > MAX_SETTING_DEPTH || repeated.length > 0 ? undefined : value;
}
