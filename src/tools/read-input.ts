import {
  checkJson,
  describeValue,
  failure,
  isObject,
  nearest,
  parseJson,
  quoted,
  schemaText,
  type ActionProblem,
  type JsonPath,
  type JsonSchema,
  type ObjectSchema,
  type ToolRow,
} from '#core';

type InputProblem = ReturnType<typeof checkJson>[number];

type ToolInput = Parameters<ToolRow['toActions']>[0];

export type InputReading =
  /** `ignored`: unknown parameters that were dropped. */
  | { readonly type: 'input'; readonly input: ToolInput; readonly ignored: readonly string[] }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

/** Longer inputs, and longer strings in them, are rejected. */
const LONGEST_TEXT = 1_000_000;
/** The limit for any list; a schema may set a lower one. */
const LONGEST_LIST = 1_000;
const PROBLEMS_NAMED = 3;

/**
 * Parses the input of a tool in the forms that models really send: JSON text instead of an object, `null` for absent values, and
 * numbers, booleans and lists as strings. Unknown parameters are dropped, because models add some of their own. Everything else that
 * violates the schema is rejected with the parameter and the expected type. Never throws.
 */
export function readInput(schema: ObjectSchema, input: unknown): InputReading {
  const parsed = fromText(input);
  if (parsed.type === 'refused') return parsed;
  if (!isObject(parsed.value)) return refused(`the input must be an object, not ${describeValue(parsed.value)}`);
  if (typeof input === 'string' && isValid(parsed.value, schema))
    return { type: 'input', input: parsed.value, ignored: [] };
  const repaired = repair(parsed.value, schema);
  if (!isObject(repaired)) return refused('the input must be an object');
  const tooLong = findTooLong(repaired, schema, []);
  if (tooLong !== undefined) return refused(tooLong);
  const problems = checkJson(repaired, schema);
  const unknown = problems.filter(({ type, path }) => type === 'unknown-key' && path.length === 1);
  if (problems.length > unknown.length) return refusedFor(problems, repaired, schema);
  const ignored = unknown.map(({ path }) => String(path[0]));
  const entries = Object.entries(repaired).filter(([key]) => !ignored.includes(key));
  return { type: 'input', input: Object.fromEntries(entries), ignored };
}

/** Whether JSON needs no repair, which is the common case. */
function isValid(value: ToolInput, schema: ObjectSchema): boolean {
  return findTooLong(value, schema, []) === undefined && checkJson(value, schema).length === 0;
}

/** Like `readInput`, for a tool whose server checks the parameters itself. */
export function readObject(input: unknown): InputReading {
  const parsed = fromText(input);
  if (parsed.type === 'refused') return parsed;
  if (!isObject(parsed.value)) return refused(`the input must be an object, not ${describeValue(parsed.value)}`);
  if (JSON.stringify(parsed.value).length > LONGEST_TEXT)
    return refused(`the input has more than ${LONGEST_TEXT} characters`);
  return { type: 'input', input: parsed.value, ignored: [] };
}

type ParsedInput = { readonly type: 'value'; readonly value: unknown } | Extract<InputReading, { type: 'refused' }>;

/** OpenAI sends `arguments` as text; a tool without parameters may get no input at all. */
function fromText(input: unknown): ParsedInput {
  if (input === undefined || input === null) return { type: 'value', value: {} };
  if (typeof input !== 'string') return { type: 'value', value: input };
  if (input.trim() === '') return { type: 'value', value: {} };
  if (input.length > LONGEST_TEXT) return refused(`the input has more than ${LONGEST_TEXT} characters`);
  const value = parseJson(input);
  return value === undefined ? refused(`the input is not valid JSON: ${quoted(input)}`) : { type: 'value', value };
}

/** Converts the value to the type of the schema if its meaning is unambiguous, otherwise returns it unchanged. */
function repair(value: unknown, schema: JsonSchema): unknown {
  if ('anyOf' in schema) return value;
  switch (schema.type) {
    case 'string':
      return value;
    case 'integer':
      return typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : value;
    case 'number':
      return typeof value === 'string' && /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/.test(value) ? Number(value) : value;
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    case 'array': {
      const list = asList(value, schema.items);
      return Array.isArray(list) && list.length <= LONGEST_LIST
        ? list.map((item: unknown) => (isText(schema.items) ? toText(item) : repair(item, schema.items)))
        : list;
    }
    case 'object': {
      const object = asObject(value, schema);
      if (!isObject(object)) return object;
      return 'properties' in schema ? repairProperties(object, schema) : repairMap(object, schema.additionalProperties);
    }
  }
}

function repairProperties(object: ToolInput, schema: ObjectSchema): ToolInput {
  const entries = Object.entries(object).filter(([key, item]) => !isAbsent(item, findProperty(schema, key)));
  // `fromEntries` defines a key called __proto__ as an ordinary key, which is then rejected as unknown.
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const property = findProperty(schema, key);
      return [key, property === undefined ? item : repair(item, property)];
    }),
  );
}

function repairMap(object: ToolInput, values: JsonSchema | true = true): ToolInput {
  if (values === true || !isText(values)) return object;
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, toText(item)]));
}

function isText(schema: JsonSchema): boolean {
  return 'type' in schema && schema.type === 'string';
}

/** In lists and maps of strings, such as arguments and environment variables, numbers and booleans are written as text. */
function toText(item: unknown): unknown {
  return typeof item === 'number' || typeof item === 'boolean' ? String(item) : item;
}

function findProperty({ properties }: ObjectSchema, key: string): JsonSchema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Models write null for an absent value, or an empty string where no string is expected. */
function isAbsent(value: unknown, schema: JsonSchema | undefined): boolean {
  if (value === undefined) return true;
  if (schema === undefined) return false;
  return (
    value === null || (value === '' && 'type' in schema && (schema.type === 'integer' || schema.type === 'boolean'))
  );
}

/** Accepts a list as JSON text, and a single item without a list. */
function asList(value: unknown, items: JsonSchema): unknown {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') {
    const parsed = value.trimStart().startsWith('[') && value.length <= LONGEST_TEXT ? parseJson(value) : undefined;
    if (Array.isArray(parsed)) return parsed;
    return value.trim() === '' ? [] : [value];
  }
  return isObject(value) && 'type' in items && items.type === 'object' ? [value] : value;
}

/** Accepts an object as JSON text, and a string if the object needs only that: `"pdf"` for `{"name": "pdf"}`. */
function asObject(value: unknown, schema: Extract<JsonSchema, { readonly type: 'object' }>): unknown {
  if (typeof value !== 'string') return value;
  const parsed = value.trimStart().startsWith('{') && value.length <= LONGEST_TEXT ? parseJson(value) : undefined;
  if (isObject(parsed)) return parsed;
  const [only, ...more] = 'properties' in schema ? (schema.required ?? []) : [];
  return only === undefined || more.length > 0 ? value : { [only]: value };
}

/** Limits the work of the following steps, which visit each item and each string. */
function findTooLong(value: unknown, schema: JsonSchema, path: JsonPath): string | undefined {
  if (typeof value === 'string')
    return value.length > LONGEST_TEXT
      ? `parameter ${quotePath(path)} has more than ${LONGEST_TEXT} characters`
      : undefined;
  if (Array.isArray(value)) {
    if (value.length > LONGEST_LIST) return `parameter ${quotePath(path)} has more than ${LONGEST_LIST} items`;
    const items = 'type' in schema && schema.type === 'array' ? schema.items : undefined;
    if (items === undefined) return undefined;
    for (const [index, item] of value.entries()) {
      const found = findTooLong(item, items, [...path, index]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value) || !('properties' in schema)) return undefined;
  for (const [key, property] of Object.entries(schema.properties)) {
    const found = findTooLong(value[key], property, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function refusedFor(problems: readonly InputProblem[], input: ToolInput, schema: ObjectSchema): InputReading {
  const named = problems.slice(0, PROBLEMS_NAMED).map((problem) => problemText(problem, input));
  const more = problems.length - named.length;
  const near = problems
    .filter(({ type }) => type === 'unknown-key')
    .slice(0, PROBLEMS_NAMED)
    .flatMap(({ path, expected }) => nearest(String(path.at(-1)), expected.split(', ')));
  const parameters = Object.keys(schema.properties);
  return refused([...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; '), {
    hint: parameters.length === 0 ? 'the tool has no parameters' : `the parameters are ${schemaText(schema)}`,
    nearest: [...new Set(near)].slice(0, 3),
  });
}

function problemText({ type, path, expected }: InputProblem, input: ToolInput): string {
  if (type === 'unknown-key') return `unknown parameter ${quotePath(path)}`;
  const at = valueAt(input, path);
  return at === undefined
    ? `parameter ${quotePath(path)} is missing: expected ${expected}`
    : `parameter ${quotePath(path)} must be ${expected}, not ${describeValue(at)}`;
}

function valueAt(value: unknown, path: JsonPath): unknown {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at) && typeof key === 'number') at = at[key];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[String(key)];
    else return undefined;
  }
  return at;
}

function quotePath(path: JsonPath): string {
  return quoted(path.join('.'));
}

function refused(
  message: string,
  more: { readonly hint?: string; readonly nearest?: readonly string[] } = {},
): Extract<InputReading, { type: 'refused' }> {
  return { type: 'refused', failure: failure('input/invalid', message, more) };
}
