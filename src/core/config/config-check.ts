import { isToolPattern } from '../allowed-tools.ts';
import { CONFIG_SCHEMA, type Config } from './config.ts';
import { SETTINGS, valueAt, valueOfText, withValue, type Setting } from './config-settings.ts';
import { readHostPattern } from '../network/host-pattern.ts';
import { checkJson, isObject, type JsonPath, type JsonSchema, type SchemaProblem } from '../json/json-schema.ts';
import { nearest } from '../nearest.ts';
import { POLICY_FILE_SCHEMA } from './policy-config.ts';
import { EFFECTS } from '../access.ts';
import { quoted } from '../text/text.ts';
import { isProblem } from '../problem.ts';

export interface ConfigProblem extends Pick<SchemaProblem, 'type' | 'path'> {
  readonly message: string;
  /** The most likely intended key or value. */
  readonly hint?: string;
}

/** More than a person fixes at a time. A hint compares names, so a file with thousands of unknown keys must not get one for each. */
const MAX_PROBLEMS = 20;

/** Validates a configuration, or a file that a policy includes: schema, rules and host patterns. Returns the first problems. */
export function checkConfig(value: unknown, file: 'config' | 'policy' = 'config'): readonly ConfigProblem[] {
  return listProblems(value, file)
    .slice(0, MAX_PROBLEMS)
    .map((problem) => toConfigProblem(problem, value));
}

function listProblems(value: unknown, file: 'config' | 'policy'): readonly SchemaProblem[] {
  const ofSchema = checkJson(value, file === 'policy' ? POLICY_FILE_SCHEMA : CONFIG_SCHEMA);
  const problems = ofSchema.length > 0 ? ofSchema : nulProblems(value);
  if (problems.length > 0) return problems;
  if (file === 'policy') return ruleProblems(value, []);
  return [...ruleProblems(value, ['policy']), ...hostProblems(value, ['execution', 'network'])];
}

/** No path, name, word or variable can have a NUL, and system calls throw for one. */
function nulProblems(value: unknown, path: JsonPath = []): readonly SchemaProblem[] {
  if (typeof value === 'string')
    return value.includes('\0') ? [{ type: 'invalid', path, expected: 'a text without NUL characters' }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => nulProblems(item, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...nulProblems(key, [...path, key]),
    ...nulProblems(item, [...path, key]),
  ]);
}

/** An unreadable rule might be the one that denies, so it is an error. */
function ruleProblems(value: unknown, path: readonly string[]): readonly SchemaProblem[] {
  return EFFECTS.flatMap((list) =>
    entriesAt(value, [...path, list]).flatMap((rule, index) =>
      isToolPattern(rule)
        ? []
        : [{ type: 'invalid', path: [...path, list, index], expected: 'a rule such as Read or Bash(git status:*)' }],
    ),
  );
}

function hostProblems(value: unknown, path: readonly string[]): readonly SchemaProblem[] {
  return entriesAt(value, path).flatMap((host, index) => {
    const read = readHostPattern(host);
    return isProblem(read)
      ? [{ type: 'invalid', path: [...path, index], expected: `a host pattern: ${read.message}` }]
      : [];
  });
}

function entriesAt(value: unknown, path: readonly string[]): readonly string[] {
  const list = valueAt(value, path);
  return Array.isArray(list) ? list.map(String) : [];
}

/** `value` is the checked document, used to suggest the nearest known value. */
function toConfigProblem({ type, path, expected }: SchemaProblem, value: unknown): ConfigProblem {
  const name = pathText(path);
  if (type === 'unknown-key') {
    const key = String(path.at(-1));
    return { type, path, message: `${name} is not a known key`, ...guess(nearestKey(key, expected.split(', '))) };
  }
  const [, words] = /^one of (.*)$/.exec(expected) ?? [];
  const written = path.reduce<unknown>(
    (found, key) => (isObject(found) || Array.isArray(found) ? Reflect.get(found, key) : undefined),
    value,
  );
  const near = words === undefined || typeof written !== 'string' ? [] : nearest(written, words.split(', '), 1);
  return { type, path, message: `${name} must be ${expected}`, ...guess(near[0]) };
}

/**
 * Reads a setting, or an entry of its map, that is written as text. Where an entry has no schema, JSON is read as such and all else is text.
 * The hint of a problem says how to write the value.
 */
export function readSetting(
  setting: Setting,
  text: string,
  { path, schema }: Pick<Setting, 'path'> & { readonly schema?: JsonSchema } = setting,
): { readonly config: Config; readonly value: unknown } | { readonly message: string; readonly hint: string } {
  const value = valueOfText(text, schema) ?? (schema === undefined ? text : null);
  const config = withValue({}, path, value);
  const [problem] = checkConfig(config);
  if (problem === undefined) return { config, value };
  return { message: problem.message, hint: problem.hint ?? valueHint(setting.schema) };
}

function valueHint(schema: Setting['schema']): string {
  if (!('type' in schema)) return 'write the value as JSON';
  switch (schema.type) {
    case 'array':
      return 'write the list as JSON: ["one", "two"]';
    case 'object':
      return 'write the object as JSON: {"key": "value"}';
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return (schema.description ?? '').replace(/\.$/, '');
  }
}

/** A similar key of the same object, or the setting that ends with this key. */
function nearestKey(key: string, siblings: readonly string[]): string | undefined {
  return nearest(key, siblings, 1)[0] ?? SETTINGS.find(({ path }) => path.at(-1) === key)?.key;
}

function guess(word: string | undefined): { readonly hint?: string } {
  return word === undefined ? {} : { hint: `did you mean ${word}?` };
}

function pathText(path: JsonPath): string {
  return path.length === 0 ? 'it' : quoted(path.join('.'), 120);
}
