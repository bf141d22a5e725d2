/**
 * The subset of JSON Schema that configuration and tools need, with its types. One constant is the published schema, the runtime check and
 * the TypeScript type. Measured on Node 20: loading zod takes 1.0 times the CPU time of an empty program and ajv 0.7 times, while `list` may
 * take 0.5 times in all. The first check of a config takes 0.5 ms here, 410 ms with zod (`fromJSONSchema`) and 525 ms with ajv; later ones 75,
 * 35 and 7 µs. So the HTTP API uses zod, schemas of users ajv, and everything that commands load at their start this file.
 */
export type JsonSchema = (
  | {
      readonly type: 'string';
      readonly enum?: readonly string[];
      /** The enum lists known values, but other values are accepted and checked later. Not published. */
      readonly isOpen?: true;
      readonly default?: string;
    }
  | {
      readonly type: 'integer' | 'number';
      readonly minimum?: number;
      readonly maximum?: number;
      readonly default?: number;
    }
  | { readonly type: 'boolean'; readonly default?: boolean }
  | {
      readonly type: 'array';
      readonly items: JsonSchema;
      readonly maxItems?: number;
      readonly default?: readonly unknown[];
    }
  | MapSchema
  | ObjectSchema
  | { readonly anyOf: readonly JsonSchema[] }
) &
  Described;

interface Described {
  readonly description?: string;
  /**
   * How much of a parameter a model is sent with every request: everything, `text` (type and description, no nested fields), `type`, or
   * nothing. The rest is explained when a call is wrong. Not published.
   */
  readonly brief?: 'text' | 'type' | 'none';
}

interface MapSchema extends Described {
  readonly type: 'object';
  /** Absent: any values. */
  readonly additionalProperties?: JsonSchema | true;
}

export interface ObjectSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

/** The TypeScript type of a schema. Keys that are not `required` are optional. */
export type FromSchema<S> = JsonSchema extends S
  ? unknown
  : S extends { readonly anyOf: readonly (infer U)[] }
    ? FromSchema<U>
    : S extends { readonly type: 'string'; readonly enum: readonly (infer U)[] }
      ? U
      : S extends { readonly type: 'string' }
        ? string
        : S extends { readonly type: 'integer' | 'number' }
          ? number
          : S extends { readonly type: 'boolean' }
            ? boolean
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? readonly FromSchema<I>[]
              : S extends { readonly properties: infer P }
                ? { readonly [K in Exclude<keyof P, RequiredKey<S>>]?: FromSchema<P[K]> } & {
                    readonly [K in keyof P & RequiredKey<S>]: FromSchema<P[K]>;
                  }
                : S extends { readonly additionalProperties: true }
                  ? Readonly<Record<string, unknown>>
                  : S extends { readonly additionalProperties: infer V }
                    ? Readonly<Record<string, FromSchema<V>>>
                    : never;

/** Without literal names, as in a schema that is built at run time, no key is known to be required. */
type RequiredKey<S> = S extends { readonly required?: readonly (infer R)[] } ? (string extends R ? never : R) : never;

export type JsonPath = readonly (string | number)[];

export interface SchemaProblem {
  readonly type: 'unknown-key' | 'invalid';
  readonly path: JsonPath;
  /** A noun phrase. */
  readonly expected: string;
}

/** Lists every mismatch between a value and its schema. An unknown key is reported once, not its contents. */
export function checkJson(value: unknown, schema: JsonSchema, path: JsonPath = []): readonly SchemaProblem[] {
  if ('anyOf' in schema) {
    const attempts = schema.anyOf.map((option) => checkJson(value, option, path));
    if (attempts.some((problems) => problems.length === 0)) return [];
    // The variant that matched deepest into the value is the one that was meant.
    const deepest = attempts.find((problems) => problems.some((problem) => problem.path.length > path.length));
    return deepest ?? [{ type: 'invalid', path, expected: schema.anyOf.map(expectation).join(' or ') }];
  }
  const invalid: readonly SchemaProblem[] = [{ type: 'invalid', path, expected: expectation(schema) }];
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' &&
        (schema.enum === undefined || schema.isOpen === true || schema.enum.includes(value))
        ? []
        : invalid;
    case 'integer':
    case 'number':
      return typeof value === 'number' && isWithin(value, schema) ? [] : invalid;
    case 'boolean':
      return typeof value === 'boolean' ? [] : invalid;
    case 'array':
      return Array.isArray(value) && value.length <= (schema.maxItems ?? Number.POSITIVE_INFINITY)
        ? value.flatMap((item: unknown, index) => checkJson(item, schema.items, [...path, index]))
        : invalid;
    case 'object':
      return isObject(value)
        ? [
            ...Object.entries(value).flatMap(([key, item]) => checkProperty(item, schema, [...path, key], key)),
            ...missingKeys(value, schema, path),
          ]
        : invalid;
  }
}

/** A missing key is reported as an invalid value at its path. */
function missingKeys(
  value: Readonly<Record<string, unknown>>,
  schema: MapSchema | ObjectSchema,
  path: JsonPath,
): readonly SchemaProblem[] {
  if (!('properties' in schema)) return [];
  return (schema.required ?? [])
    .filter((key) => !Object.hasOwn(value, key))
    .map((key) => {
      const property = schema.properties[key];
      return {
        type: 'invalid',
        path: [...path, key],
        expected: property === undefined ? 'present' : expectation(property),
      };
    });
}

function checkProperty(
  value: unknown,
  schema: MapSchema | ObjectSchema,
  path: JsonPath,
  key: string,
): readonly SchemaProblem[] {
  if (!('properties' in schema))
    return typeof schema.additionalProperties === 'object' ? checkJson(value, schema.additionalProperties, path) : [];
  const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  if (property === undefined)
    return [{ type: 'unknown-key', path, expected: Object.keys(schema.properties).join(', ') }];
  return checkJson(value, property, path);
}

type NumberSchema = Extract<JsonSchema, { readonly type: 'integer' | 'number' }>;

function isWithin(
  value: number,
  { type, minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE }: NumberSchema,
): boolean {
  return (type === 'number' || Number.isInteger(value)) && value >= minimum && value <= maximum;
}

function expectation(schema: JsonSchema): string {
  if ('anyOf' in schema) return schema.anyOf.map(expectation).join(' or ');
  switch (schema.type) {
    case 'string':
      return schema.enum === undefined || schema.isOpen === true ? 'a string' : `one of ${schema.enum.join(', ')}`;
    case 'integer':
    case 'number': {
      const noun = schema.type === 'integer' ? 'a whole number' : 'a number';
      const { minimum, maximum } = schema;
      return minimum === undefined || maximum === undefined ? noun : `${noun} from ${minimum} to ${maximum}`;
    }
    case 'boolean':
      return 'true or false';
    case 'array':
      return schema.maxItems === undefined ? 'a list' : `a list of at most ${schema.maxItems}`;
    case 'object':
      return 'an object';
  }
}

/** The schema without keys that are not JSON Schema. */
export function publishedSchema(schema: ObjectSchema): ObjectSchema {
  const { brief: _, ...rest } = schema;
  return { ...rest, properties: mapValues(schema.properties, published) };
}

function published(source: JsonSchema): JsonSchema {
  const { brief: _, ...schema } = source;
  if ('anyOf' in schema) return { ...schema, anyOf: schema.anyOf.map(published) };
  switch (schema.type) {
    case 'string': {
      const { isOpen: _open, ...rest } = schema;
      return rest;
    }
    case 'array':
      return { ...schema, items: published(schema.items) };
    case 'object':
      if ('properties' in schema) return publishedSchema(schema);
      return typeof schema.additionalProperties === 'object'
        ? { ...schema, additionalProperties: published(schema.additionalProperties) }
        : schema;
    case 'integer':
    case 'number':
    case 'boolean':
      return schema;
  }
}

/**
 * The part of a tool's schema that a model needs to call it right: names, types, choices and what names do not say. Bounds, defaults and
 * parameters marked `brief: 'none'` are left out; the answer to a wrong call has them.
 */
export function briefSchema({ properties, required }: ObjectSchema): ObjectSchema {
  const sent = Object.entries(properties).filter(([, property]) => property.brief !== 'none');
  return {
    type: 'object',
    properties: Object.fromEntries(sent.map(([key, property]) => [key, shortenSchema(property)])),
    ...(required === undefined ? {} : { required }),
  };
}

function shortenSchema(schema: JsonSchema): JsonSchema {
  const { brief, description = '' } = schema;
  const text = description === '' || brief === 'type' ? {} : { description };
  return { ...text, ...withoutText(schema, brief !== undefined) };
}

/** Items and values of maps need no description of their own: that of their list or map says it. */
function withoutText(schema: JsonSchema, isOutline: boolean): JsonSchema {
  if ('anyOf' in schema) return { anyOf: schema.anyOf.map(shortenSchema) };
  switch (schema.type) {
    case 'string':
      return { type: 'string', ...(schema.enum === undefined ? {} : { enum: schema.enum }) };
    case 'integer':
    case 'number':
    case 'boolean':
      return { type: schema.type };
    case 'array':
      return { type: 'array', items: withoutText(schema.items, isOutline) };
    case 'object':
      return !isOutline && 'properties' in schema ? briefSchema(schema) : { type: 'object' };
  }
}

function mapValues<V>(values: Readonly<Record<string, V>>, change: (value: V) => V): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
