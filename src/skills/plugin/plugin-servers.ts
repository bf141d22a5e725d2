/** Reads `mcp.json` of Agent Plugins 1.0.0. Pure: nothing is started, and no file is accessed. */
import {
  isObject,
  isProblem,
  parseJson,
  quoted,
  readAddress,
  readAuthority,
  readJsonText,
  toRelativePath,
} from '#core';
import { PLUGIN_VERSION, schemaVersion } from './plugin-manifest.ts';

/** A server as the plugin writes it: placeholders are not expanded, and paths are not compared with the file system. */
export type PluginServer = { readonly name: string } & (
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly type: 'streamable-http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
);

export interface PluginServers {
  readonly servers: readonly PluginServer[];
  /** What is left out, each a sentence; safe to print. */
  readonly problems: readonly string[];
}

/** An invalid entry costs only its own server; an invalid file costs all. */
export function readPluginServers(text: string): PluginServers {
  const none = (problem: string): PluginServers => ({
    servers: [],
    problems: [`mcp.json ${problem}: no server is used`],
  });
  const value = parseJson(text);
  if (!isObject(value)) return none('is not a JSON object');
  const { $schema: schema, mcpServers, ...others } = value;
  const version = schemaVersion(schema, 'mcp');
  if (version === undefined) return none('has no "$schema" of Agent Plugins');
  if (version !== PLUGIN_VERSION)
    return none(`needs version ${quoted(version, 40)} of Agent Plugins; plugin.json has ${PLUGIN_VERSION}`);
  const [repeated] = readJsonText(text).repeated;
  if (repeated !== undefined) return none(`has the key ${quoted(String(repeated.at(-1)))} twice`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return none(`has the unknown field ${quoted(unknown, 64)}`);
  if (!isObject(mcpServers)) return none('has no object "mcpServers"');
  const servers: PluginServer[] = [];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(mcpServers)) {
    const server = isObject(entry) ? readServer(name, entry) : 'is not an object';
    if (typeof server === 'string') problems.push(`the MCP server ${quoted(name, 64)} ${server}: it is left out`);
    else servers.push(server);
  }
  return { servers, problems };
}

type Entry = Readonly<Record<string, unknown>>;

const STDIO: ReadonlySet<string> = new Set(['type', 'command', 'args', 'env', 'cwd']);
const REMOTE: ReadonlySet<string> = new Set(['type', 'url', 'headers']);

function readServer(name: string, entry: Entry): PluginServer | string {
  const { type } = entry;
  if (type !== 'stdio' && type !== 'streamable-http' && type !== 'sse')
    return type === undefined
      ? 'has no "type"'
      : `has the unknown type ${quoted(typeof type === 'string' ? type : JSON.stringify(type), 64)}`;
  const fields = type === 'stdio' ? STDIO : REMOTE;
  const unknown = Object.keys(entry).find((key) => !fields.has(key));
  if (unknown !== undefined) return `has the field ${quoted(unknown, 64)}, which ${type} does not have`;
  if (type === 'stdio') return readProgram(name, entry);
  const remote = readRemote(name, entry);
  return typeof remote !== 'string' && type === 'sse' ? 'uses sse, which is not supported' : remote;
}

function readProgram(name: string, { command, args = [], env = {}, cwd }: Entry): PluginServer | string {
  if (typeof command !== 'string' || command === '') return 'has no command';
  const problem = commandProblem(command);
  if (problem !== undefined) return problem;
  if (!isTextList(args)) return 'has "args" that are not a list of texts';
  if (!isTexts(env)) return 'has an "env" that is not an object of texts';
  const reserved = Object.keys(env).find(
    (key) => /^PLUGIN_(?:ROOT|DATA)$/i.test(key) || /[=\0]/.test(key) || key === '',
  );
  if (reserved !== undefined) return `sets ${quoted(reserved, 64)}, which only the client sets`;
  if ([...args, ...Object.values(env)].some((one) => one.includes('\0'))) return 'has a NUL character';
  if (cwd !== undefined && (typeof cwd !== 'string' || !isFolder(cwd)))
    return `has the cwd ${quoted(typeof cwd === 'string' ? cwd : JSON.stringify(cwd), 100)}; use ./FOLDER, \${PLUGIN_ROOT}/FOLDER or \${PLUGIN_DATA}/FOLDER`;
  return { name, type: 'stdio', command, args, env, cwd };
}

/** One token: a program of the system by its name, or one of the plugin by its path. */
function commandProblem(command: string): string | undefined {
  if (command.startsWith('./'))
    return isProblem(toRelativePath(command))
      ? `has the command ${quoted(command, 100)}, which leads out of the plugin`
      : undefined;
  return /[/\\\0]|^[.~-]|:/.test(command)
    ? `has the command ${quoted(command, 100)}, which is neither a program name nor ./PATH`
    : undefined;
}

function isFolder(cwd: string): boolean {
  const [, below] = /^(?:\.|\$\{PLUGIN_ROOT\}|\$\{PLUGIN_DATA\})(?:\/(.*))?$/s.exec(cwd) ?? [];
  if (cwd === '.' || !/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/.test(cwd)) return false;
  const rest = (below ?? '').replaceAll(/\$\{PLUGIN_(?:ROOT|DATA)\}/g, 'x');
  return /^(?:\.?\/*)*$/.test(rest) ? !rest.includes('..') : !isProblem(toRelativePath(rest));
}

function readRemote(name: string, { url, headers = {} }: Entry): PluginServer | string {
  const shown = typeof url === 'string' ? quoted(url.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/s, ''), 100) : '';
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:\/\//i.test(url) || /[\s\\]/.test(url))
    return 'has no absolute http or https address';
  const parsed = new URL(url);
  if (parsed.username !== '' || parsed.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(url))
    return `has an address with a user: ${shown}`;
  if (url.includes('#')) return `has an address with a fragment: ${shown}`;
  if (parsed.protocol === 'http:' && !isLoopbackHost(parsed.host)) return `has the address ${shown}; use https`;
  if (!isTexts(headers)) return 'has "headers" that are not an object of texts';
  const names = Object.keys(headers).map((header) => header.toLowerCase());
  if (new Set(names).size < names.length) return 'has the same header twice';
  const wrong = Object.entries(headers).find(([header, text]) => !TOKEN.test(header) || !FIELD_VALUE.test(text));
  if (wrong !== undefined) return `has the header ${quoted(wrong[0], 64)}, which is not valid in HTTP`;
  return { name, type: 'streamable-http', url, headers };
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t \x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** Names other than `localhost` can resolve to anything. */
function isLoopbackHost(authority: string): boolean {
  const host = readAuthority(authority, 80)?.host;
  if (host === undefined) return false;
  return host.isAddress ? readAddress(host.name)?.kind === 'loopback' : host.name === 'localhost';
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
}

/** Replaces both placeholders once; what a replacement contains is not expanded again, and other placeholders stay. */
export function expandPlaceholders(
  text: string,
  { root, data }: { readonly root: string; readonly data: string },
): string {
  return text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which: string) => (which === 'ROOT' ? root : data));
}
