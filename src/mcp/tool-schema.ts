/** Makes the tools of an MCP server fit for a model: safe names, clean texts, schemas without references and of bounded size. */
import { cleanText, isObject, quoted, sliceStart, type ServerTool } from '#core';
import { sha256 } from '#platform';

/** The limit of model providers. */
const MAX_NAME = 64;
/** The limit of the protocol. */
const MAX_ORIGINAL = 128;
const MAX_DESCRIPTION = 2_000;
const MAX_TEXT = 500;
/** Parts of one schema after references were replaced by what they name; a few references can name very much. */
const MAX_PARTS = 2_000;
const MAX_DEPTH = 12;

export type ReadTool = { readonly tool: ServerTool; readonly original: string } | { readonly problem: string };

/** Reads a tool as the server lists it; nothing is known about its fields. */
export function readTool(server: string, listed: unknown): ReadTool {
  const { name, description, inputSchema } = isObject(listed) ? listed : {};
  if (typeof name !== 'string') return { problem: 'a tool without a name is left out' };
  // Other letters could imitate the name of another tool.
  if (name.length > MAX_ORIGINAL)
    return {
      problem: `the tool ${quoted(name)} is left out: its name has ${String(name.length)} characters, more than ${String(MAX_ORIGINAL)}`,
    };
  if (!/^[A-Za-z0-9_./-]+$/.test(name))
    return { problem: `the tool ${quoted(name)} is left out: its name has characters other than A-Z a-z 0-9 _ - . /` };
  const parameters = readSchema(inputSchema);
  if ('problem' in parameters) return { problem: `the tool ${quoted(name)} is left out: ${parameters.problem}` };
  return {
    original: name,
    tool: {
      name: exposedName(server, name),
      description: `[MCP server ${server}] ${sliceStart(cleanText(typeof description === 'string' ? description : '').trim(), MAX_DESCRIPTION)}`,
      inputSchema: parameters.schema,
    },
  };
}

function exposedName(server: string, name: string): string {
  const whole = `mcp__${server}__${name.replaceAll(/[./]/g, '_')}`;
  if (whole.length <= MAX_NAME) return whole;
  return `${whole.slice(0, MAX_NAME - 9)}_${sha256(name).slice(0, 8)}`;
}

function readSchema(value: unknown): { readonly schema: ServerTool['inputSchema'] } | { readonly problem: string } {
  if (!isObject(value) || (value['type'] !== undefined && value['type'] !== 'object'))
    return { problem: 'its input is not an object' };
  const reader: Reader = { root: value, left: MAX_PARTS, problem: '' };
  const schema = clean(value, reader, []);
  if (reader.problem !== '') return { problem: reader.problem };
  const { properties, required } = isObject(schema) ? schema : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return {
    schema: {
      type: 'object',
      properties: isObject(properties) ? properties : {},
      ...(names.length === 0 ? {} : { required: names }),
    },
  };
}

interface Reader {
  readonly root: Readonly<Record<string, unknown>>;
  left: number;
  problem: string;
}

/** A schema with references replaced. One that contains itself ends in a schema that accepts everything. */
function clean(value: unknown, reader: Reader, within: readonly string[]): unknown {
  if (typeof value === 'boolean') return value;
  if (!isObject(value)) return {};
  reader.left -= 1;
  if (reader.left < 0) {
    reader.problem = `its schema has more than ${String(MAX_PARTS)} parts`;
    return {};
  }
  const reference = value['$ref'];
  if (typeof reference === 'string') {
    if (!reference.startsWith('#')) {
      reader.problem = `its schema refers to ${quoted(reference)}, which is not in the schema`;
      return {};
    }
    return within.includes(reference) || within.length >= MAX_DEPTH
      ? {}
      : clean(pointed(reader.root, reference), reader, [...within, reference]);
  }
  if (within.length >= MAX_DEPTH) return {};
  const deeper = [...within, ''];
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (TEXTS.has(key) && typeof item === 'string') entries.push([key, sliceStart(cleanText(item), MAX_TEXT)]);
    else if (VALUES.has(key)) entries.push([key, cleanValue(item)]);
    else if (SCHEMAS.has(key)) entries.push([key, clean(item, reader, deeper)]);
    else if (LISTS.has(key) && Array.isArray(item))
      entries.push([key, item.map((one: unknown) => clean(one, reader, deeper))]);
    else if (key === 'properties' && isObject(item)) entries.push([key, properties(item, reader, deeper)]);
  }
  return Object.fromEntries(entries);
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'format', 'pattern']);
const VALUES: ReadonlySet<string> = new Set(
  'type enum const default minimum maximum minLength maxLength minItems maxItems required uniqueItems'.split(' '),
);
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not']);
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);

function properties(map: Readonly<Record<string, unknown>>, reader: Reader, within: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(map)
      .filter(([name]) => cleanText(name) === name && name !== '__proto__' && name.length <= MAX_TEXT)
      .map(([name, schema]) => [name, clean(schema, reader, within)]),
  );
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return sliceStart(cleanText(value), MAX_TEXT);
  if (Array.isArray(value)) return value.slice(0, MAX_TEXT).map(cleanValue);
  return isObject(value) ? {} : value;
}

/** The part of a schema that a JSON pointer such as `#/$defs/node` names. */
function pointed(root: unknown, reference: string): unknown {
  const steps = reference.slice(1).split('/').slice(1);
  return steps.reduce((at: unknown, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
}
