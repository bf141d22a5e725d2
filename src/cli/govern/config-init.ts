/** `config init --from SYSTEM`: a configuration for a project of another system, with what its own files say. */
import path from 'node:path';

import {
  checkConfig,
  isProblem,
  isObject,
  printable,
  SETTINGS,
  SkillError,
  valueAt,
  withValue,
  type Config,
  type Surroundings,
  type VocabularyName,
} from '#core';
import {
  isPresent,
  isSystemError,
  makeFolders,
  parseToml,
  readTextFile,
  realEntry,
  realPath,
  writeFileAtomically,
} from '#platform';
import { CONFIG_FILE, isReservedForUser } from '#runtime';
import { plainJson } from '../json.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const SYSTEMS = ['openseed', 'manusx', 'trpc', 'skills-agent'] as const satisfies readonly VocabularyName[];

export interface InitialConfig {
  /** The file to write. */
  readonly file: string;
  readonly config: Config;
  /** The files whose settings were taken over. */
  readonly read: readonly string[];
  /** What was not taken over, and why. */
  readonly ignored: readonly string[];
  /** Defaults of the system that no file of a project can choose, because they loosen ours. */
  readonly forUserOnly: readonly string[];
}

const MAX_BYTES = 1024 * 1024;

/** Throws `io/exists` if the project has a configuration, and `io/failed` if its folder is elsewhere. Writes nothing. */
export async function planConfig(
  from: (typeof SYSTEMS)[number],
  { cwd }: Pick<Surroundings, 'cwd'>,
): Promise<InitialConfig> {
  const file = path.join(cwd, CONFIG_FILE);
  if (isPresent(file)) throw alreadyThere(file, from);
  refuseElsewhere(file);
  const found = from === 'skills-agent' ? readOwnFile(cwd) : readVariables(from, cwd);
  const config: Config = { vocabulary: from, ...found.config };
  const { defaultsForUserOnly } = await import('#runtime/config-files');
  return { file, config, read: found.read, ignored: found.ignored, forUserOnly: defaultsForUserOnly(from) };
}

/** Creates the file in one step, and replaces none. */
export function writeConfig({ file, config }: InitialConfig): void {
  try {
    makeFolders(path.dirname(file));
    refuseElsewhere(file);
    writeFileAtomically(file, Buffer.from(`${plainJson(config)}\n`), { mode: 0o644, isNew: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EEXIST') throw alreadyThere(file, config.vocabulary ?? '');
    throw new SkillError({
      code: 'io/failed',
      message: `cannot write ${JSON.stringify(file)}: ${error.code}`,
      hint: 'check the permissions of the folder',
      data: { path: file, cause: error.code },
      cause: error,
    });
  }
}

/** A cloned repository may have a link as its folder, such as to the user's own configuration. */
function refuseElsewhere(file: string): void {
  const folder = path.dirname(file);
  if (!isPresent(folder) || realPath(folder) === realEntry(folder)) return;
  throw new SkillError({
    code: 'io/failed',
    message: `${JSON.stringify(folder)} is a link to another folder; nothing is written there`,
    hint: 'replace the link by a folder',
    data: { path: folder, cause: 'it is a link' },
  });
}

export function showPlan({ file, config, read, ignored, forUserOnly }: InitialConfig, terminal: Terminal): void {
  terminal.out(plainJson(config));
  terminal.remark([
    ...read.map((one) => `read ${printable(one)}`),
    ...ignored.map((one) => `ignored ${printable(one)}`),
    ...(forUserOnly.length === 0
      ? []
      : [`not from a project: ${forUserOnly.join(', ')}; set vocabulary in ~/${CONFIG_FILE}, or pass --vocabulary`]),
    `to be written to ${printable(file)}`,
  ]);
}

function alreadyThere(file: string, from: string): SkillError {
  return new SkillError({
    code: 'io/exists',
    message: `${JSON.stringify(file)} exists and is not overwritten`,
    hint: `add this line to it: "vocabulary": ${JSON.stringify(from)}`,
    data: { path: file },
  });
}

type Found = Pick<InitialConfig, 'config' | 'read' | 'ignored'>;

const NOTHING: Found = { config: {}, read: [], ignored: [] };

/** skills-agent also keeps its configuration as TOML, with the keys of `config.json`. */
function readOwnFile(cwd: string): Found {
  const name = ['.agent/config.toml', 'config.toml'].find((one) => isPresent(path.join(cwd, one)));
  if (name === undefined) return NOTHING;
  const text = readTextFile(path.join(cwd, name), MAX_BYTES);
  if (text.type !== 'read' || !text.validUtf8)
    return { ...NOTHING, ignored: [`${name}: ${text.type === 'failed' ? text.reason : 'it is not UTF-8 text'}`] };
  const table = parseToml(text.text);
  if (isProblem(table)) return { ...NOTHING, ignored: [`${name}: ${table.message}; copy its settings by hand`] };
  return { ...takeSettings(table, name), read: [name] };
}

/** Takes each setting by itself, so that one that is not understood costs no other. */
function takeSettings(table: Readonly<Record<string, unknown>>, name: string): Pick<Found, 'config' | 'ignored'> {
  let config: Config = {};
  const ignored: string[] = [];
  const known = SETTINGS.filter(({ key, path: at }) => key !== 'vocabulary' && valueAt(table, at) !== undefined);
  for (const { key, path: at } of known) {
    const one = withValue({}, at, valueAt(table, at));
    const [problem] = checkConfig(one);
    if (problem !== undefined) ignored.push(`${name}: ${problem.message}`);
    else if (isReservedForUser(one))
      ignored.push(`${name}: ${key} is reserved for the user: set it in ~/${CONFIG_FILE}`);
    else config = withValue(config, at, valueAt(table, at));
  }
  const others = leafKeys(table).filter((leaf) => !known.some(({ key }) => leaf === key || leaf.startsWith(`${key}.`)));
  return { config, ignored: [...ignored, ...others.map((leaf) => `${name}: ${leaf} is not a setting here`)] };
}

function leafKeys(value: unknown, at = ''): readonly string[] {
  if (!isObject(value)) return [at];
  return Object.entries(value).flatMap(([key, inner]) => leafKeys(inner, at === '' ? key : `${at}.${key}`));
}

/** The folder of skills that `.env` names, if it is below the project. No other variable is read or shown. */
const ROOT_VARIABLES = { openseed: ['DOCUMENT_ROOT', 'skills'], trpc: ['SKILLS_ROOT', ''], manusx: undefined } as const;
/** Code that may choose the folder, which is not read. */
const ROOT_CODE = { openseed: 'backend/infra/config.py', trpc: 'main.go', manusx: 'backend/app/config.py' } as const;

function readVariables(from: Exclude<(typeof SYSTEMS)[number], 'skills-agent'>, cwd: string): Found {
  const code = ROOT_CODE[from];
  const ignored = isPresent(path.join(cwd, code))
    ? [`${code}: code is not read; if it names another folder of skills, add that to skill_roots`]
    : [];
  const text = readTextFile(path.join(cwd, '.env'), MAX_BYTES);
  const [variable, below] = ROOT_VARIABLES[from] ?? [];
  if (text.type !== 'read' || variable === undefined) return { ...NOTHING, ignored };
  const [, written] =
    new RegExp(`^\\s*(?:export\\s+)?${variable}\\s*=\\s*["']?([^"'\\n#]*)`, 'm').exec(text.text) ?? [];
  const value = written?.trim() ?? '';
  if (value === '') return { ...NOTHING, ignored };
  const folder = path.relative(cwd, path.resolve(cwd, value, below ?? ''));
  if (folder === '..' || folder.startsWith(`..${path.sep}`) || path.isAbsolute(folder))
    return { ...NOTHING, ignored: [...ignored, `.env: ${variable} is outside of the project: export it instead`] };
  return { config: { skill_roots: [folder.split(path.sep).join('/') || '.'] }, read: ['.env'], ignored };
}
