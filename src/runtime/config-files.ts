import path from 'node:path';

import { CONFIG_SCHEMA, mergeConfig } from '../core/config.ts';
import type { Config } from '../core/config.ts';
import { diagnose } from '../core/diagnostic.ts';
import type { Diagnostic, Finding } from '../core/diagnostic.ts';
import { checkJson, isObject } from '../core/json-schema.ts';
import type { JsonPath, SchemaProblem } from '../core/json-schema.ts';
import { nearest } from '../core/nearest.ts';
import { readTextFile } from '../platform/text-file.ts';

export interface LoadedConfig {
  readonly config: Config;
  /** Those looked for, the most important first. */
  readonly files: readonly { readonly path: string; readonly status: 'used' | 'absent' | 'invalid' }[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Where a configuration file may be. */
export interface ConfigPlace {
  readonly path: string;
  /** What its relative paths stand on. */
  readonly base: string;
  readonly isRequired: boolean;
}

/** Reads the files, the most important first, and puts them together. */
export async function readConfigFiles(places: readonly ConfigPlace[]): Promise<LoadedConfig> {
  const read = await Promise.all(places.map(async (place) => ({ place, ...(await readConfigFile(place)) })));
  return {
    config: read.map(({ config, place }) => withAbsoluteRoots(config, place.base)).reduce(mergeConfig),
    files: read.map(({ place, status }) => ({ path: place.path, status })),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
  };
}

interface ReadConfig {
  readonly config: Config;
  readonly status: 'used' | 'absent' | 'invalid';
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_CONFIG_BYTES = 1024 * 1024;

async function readConfigFile(place: ConfigPlace): Promise<ReadConfig> {
  const invalid = (finding: Omit<Finding, 'code' | 'path'>): ReadConfig => ({
    config: {},
    status: 'invalid',
    diagnostics: [diagnose({ code: 'config/invalid', path: place.path, ...finding }, 'lenient')],
  });
  const file = readTextFile(place.path, MAX_CONFIG_BYTES);
  if (file.type === 'absent') {
    return place.isRequired
      ? invalid({ message: 'there is no such file' })
      : { config: {}, status: 'absent', diagnostics: [] };
  }
  if (file.type === 'failed') return invalid({ message: `it cannot be read: ${file.reason}` });

  const parsed = parseJson(file.text);
  if (parsed.type === 'failed') return invalid({ ...parsed.position, message: `it is not JSON: ${parsed.reason}` });
  if (!isObject(parsed.value)) return invalid({ message: 'it must hold one JSON object' });

  const problems = checkJson(parsed.value, CONFIG_SCHEMA);
  const diagnostics = await describe(problems, file.text, place.path);
  // A file with a wrong value is not used at all: half a configuration is one that nobody wrote.
  if (problems.some(({ type }) => type === 'invalid')) return { config: {}, status: 'invalid', diagnostics };
  return { config: toConfig(parsed.value), status: 'used', diagnostics };
}

/** The one place where checked JSON becomes a `Config`: `checkJson` found nothing wrong with it. Unknown keys mean nothing and stay behind. */
function toConfig(value: Readonly<Record<string, unknown>>): Config {
  const known = Object.entries(value).filter(([key]) => Object.hasOwn(CONFIG_SCHEMA.properties, key));
  return Object.fromEntries(known);
}

async function describe(
  problems: readonly SchemaProblem[],
  text: string,
  file: string,
): Promise<readonly Diagnostic[]> {
  if (problems.length === 0) return [];
  const { locateJson } = await import('../core/json-position.ts');
  return problems.map(({ type, path: at, expected }) => {
    const where = { path: file, ...locateJson(text, at) };
    const name = pathText(at);
    if (type === 'invalid')
      return diagnose({ code: 'config/invalid', ...where, message: `${name} must be ${expected}` }, 'lenient');
    const [guess] = nearest(String(at.at(-1)), expected.split(', '), 1);
    const hint = guess === undefined ? {} : { hint: `did you mean ${guess}?` };
    return diagnose(
      { code: 'config/unknown-key', ...where, message: `${name} means nothing here`, ...hint },
      'lenient',
    );
  });
}

function pathText(at: JsonPath): string {
  return at.length === 0 ? 'the file' : JSON.stringify(at.join('.'));
}

type ParsedJson =
  | { readonly type: 'parsed'; readonly value: unknown }
  | {
      readonly type: 'failed';
      readonly reason: string;
      readonly position: { readonly line: number; readonly column: number };
    };

function parseJson(text: string): ParsedJson {
  try {
    return { type: 'parsed', value: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const offset = Number(/position (\d+)/.exec(error.message)?.[1] ?? 0);
    const before = text.slice(0, offset).split('\n');
    // The engine quotes the file in its message; the position says as much without letting the file speak.
    const reason = error.message.replace(/[,.]? ?(?:"|\.\.\.)[\s\S]*$/, '').replace(/ in JSON at position[\s\S]*$/, '');
    return { type: 'failed', reason, position: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 } };
  }
}

function withAbsoluteRoots(config: Config, base: string): Config {
  if (config.skill_roots === undefined) return config;
  const absolute = (root: string): string => (root === '~' || root.startsWith('~/') ? root : path.resolve(base, root));
  const roots = config.skill_roots.map((root) =>
    typeof root === 'string' ? absolute(root) : { ...root, path: absolute(root.path ?? '') },
  );
  return { ...config, skill_roots: roots };
}
