/** Reads `plugin.json` of Agent Plugins 1.0.0. Pure: the file system is not accessed, and no schema is fetched. */
import { isObject, parseJson, quoted, readJsonText } from '#core';

/** Schemas of the specification start like this. */
const SCHEMAS = 'https://agent-plugins.org/schemas/';
export const PLUGIN_VERSION = '1.0.0';

export interface PluginManifest {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly license?: string;
}

export interface ReadManifest {
  readonly manifest: PluginManifest;
  /** What was ignored, each a sentence; safe to print. */
  readonly ignored: readonly string[];
}

/** The version in the identifier of a schema; undefined if it is no schema of the specification. */
export function schemaVersion(schema: unknown, file: 'plugin' | 'mcp'): string | undefined {
  if (typeof schema !== 'string' || !schema.startsWith(SCHEMAS)) return undefined;
  return schema.slice(SCHEMAS.length).replace(new RegExp(`/${file}\\.schema\\.json$`), '');
}

type Check = (value: unknown) => string | undefined;

const isText: Check = (value) => (typeof value === 'string' ? undefined : 'is not a text');
const FIELDS: Readonly<Record<string, Check>> = {
  $schema: isText,
  name: nameProblem,
  version: isText,
  description: isText,
  author: authorProblem,
  homepage: isText,
  repository: isText,
  license: isText,
  keywords: (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string') ? undefined : 'is not a list of texts',
  extensions: extensionsProblem,
};

/**
 * Undefined if the text is the JSON object of another tool, which may use the same file name. A text says why the plugin must be
 * rejected: a broken file is never taken for that of another tool. Unknown fields and `extensions` that is not an object are ignored and reported.
 */
export function readPluginManifest(text: string): ReadManifest | string | undefined {
  const value = parseJson(text);
  if (!isObject(value))
    return text.startsWith('\ufeff')
      ? 'the manifest starts with a byte order mark; save it without one'
      : 'the manifest is not a JSON object';
  const version = schemaVersion(value['$schema'], 'plugin');
  if (version === undefined) return undefined;
  if (version !== PLUGIN_VERSION)
    return `it needs version ${quoted(version, 40)} of Agent Plugins; ${PLUGIN_VERSION} is supported`;
  const [repeated] = readJsonText(text).repeated;
  if (repeated !== undefined) return `the key ${quoted(String(repeated.at(-1)))} occurs twice`;
  const ignored: string[] = [];
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(FIELDS, key)) {
      ignored.push(`the field ${quoted(key, 64)} is unknown and ignored`);
      continue;
    }
    const problem = FIELDS[key]?.(value[key]);
    if (problem === undefined) continue;
    if (key !== 'extensions' || isObject(value[key])) return `"${key}" ${problem}`;
    ignored.push(`"extensions" ${problem} and is ignored`);
  }
  const { name, version: ownVersion, description, license } = value;
  if (typeof name !== 'string') return '"name" is missing';
  // The specification allows an empty version, which names none.
  const named = ownVersion === '' ? undefined : toText(ownVersion);
  const manifest = { name, version: named, description: toText(description), license: toText(license) };
  return { manifest, ignored };
}

const NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/;

function nameProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'is not a text';
  return NAME.test(value)
    ? undefined
    : `is ${quoted(value, 80)}; use 1 to 64 of a-z, 0-9, - and ., without -- and .., and a letter or digit at both ends`;
}

const AUTHOR_FIELDS: ReadonlySet<string> = new Set(['name', 'email', 'url']);

function authorProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'is not an object';
  const wrong = Object.entries(value).find(([key, one]) => !AUTHOR_FIELDS.has(key) || typeof one !== 'string');
  return wrong === undefined ? undefined : `may have only the texts name, email and url, not ${quoted(wrong[0], 64)}`;
}

/** What a namespace contains is the matter of its client. */
function extensionsProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'is not an object';
  const wrong = Object.entries(value).find(([, one]) => !isObject(one));
  return wrong === undefined ? undefined : `has ${quoted(wrong[0], 64)}, which is not an object`;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
