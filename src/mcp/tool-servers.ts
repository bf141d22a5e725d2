/** The MCP servers of the configuration: their tools for a session, and the connections behind them. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import {
  toolTokens,
  countText,
  compileGlob,
  configProblem,
  failure,
  isObject,
  isServerName,
  parseJson,
  quoted,
  serverOfSource,
  stableJson,
  type ActionProblem,
  type ServerTool,
  type SkillEntry,
  type ToolServers,
} from '#core';
import { sha256, cacheEntry, isDirectory, timerMs } from '#platform';
import { serverSkillsFolder, type Runtime } from '#runtime';
import type { OfferedServer } from './plugin-servers.ts';
import { toErrorMessage } from './program-transport.ts';
import {
  connectServer,
  fetchValues,
  type McpServerConfig,
  type ServerConnection,
  type ServerFolders,
  type ToolResult,
  type ServerServices,
} from './server-connection.ts';
import {
  askForSkill,
  forgetSkills,
  knownSkill,
  openServerSkill,
  openSkillsClient,
  readMissing,
  syncSkills,
  type ServerSkills,
  type SkillFolders,
} from './server-skills.ts';
import { toolCalled } from './tool-answer.ts';
import { readTool } from './tool-schema.ts';

export interface ToolServersOptions {
  readonly only?: string | undefined;
  /** Servers of Agent Plugins, from `pluginServers`; those that are not trusted are left out. */
  readonly plugins?: readonly OfferedServer[];
  /** Called when a server is connected to, which can take seconds. */
  readonly onConnect?: (server: string) => void;
}

/** What is known about one server. */
export interface ServerState {
  readonly name: string;
  readonly tools: readonly ServerTool[];
  readonly skills: readonly string[];
  /** Why it or some of its tools and skills cannot be used. */
  readonly problems: readonly string[];
  readonly isConnected: boolean;
}

export function describeServer({ tools, skills, isConnected }: ServerState): string {
  if (!isConnected) return 'not usable';
  const cost = tools.length === 0 ? '' : `, about ${String(toolTokens(tools))} tokens in every request`;
  return `connected, ${countText(tools.length, 'tool')}${skills.length === 0 ? '' : `, ${countText(skills.length, 'skill')}`}${cost}`;
}

export interface ConnectedServers extends ToolServers {
  /** Connects every server and returns its current tools, whatever is remembered. */
  check(services: ServerServices): Promise<readonly ServerState[]>;
}

/** Tools of one server beyond this number are left out: every request would carry them. */
const MAX_TOOLS = 128;
const MAX_PROBLEMS = 10;
const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
/** A server that keeps ending is not started again. */
const MAX_STARTS = 3;

export { pluginServers } from './plugin-servers.ts';

/** Opens nothing yet: a server is connected when its tools are not known, or when one of them is called. */
export function openToolServers(runtime: Runtime, options: ToolServersOptions = {}): ConnectedServers {
  const servers = Object.entries(runtime.config.mcp_servers ?? {})
    .filter(([name, { enabled }]) => (options.only === undefined ? enabled !== false : name === options.only))
    .map(([name, config]) => openServer(name, config, { runtime, ...options }));
  for (const { name, config, folders, unused } of options.plugins ?? [])
    if (unused === undefined && (options.only === undefined || name === options.only))
      servers.push(openServer(name, config, { runtime, ...options, folders }));
  return {
    async open(services) {
      const states = await Promise.all(servers.map((server) => server.known(services)));
      return {
        tools: states.flatMap(({ tools }) => tools),
        problems: states.flatMap(({ problems }) => problems),
      };
    },
    async call({ name, input }, { signal, ...services }) {
      const server = servers.find((each) => each.has(name));
      if (server === undefined) return failure('server/unavailable', `no MCP server offers the tool ${quoted(name)}`);
      const called = await server.call(name, input, services, signal);
      return 'failure' in called ? called.failure : toolCalled(name, called.result);
    },
    async openSkill(skill, { wanted, signal, ...services }) {
      const server = servers.find(({ name }) => name === serverOfSource(skill.source));
      const unknown = `the MCP server of the skill ${quoted(skill.name)} is not configured`;
      return server?.openSkill(skill, wanted, services, signal) ?? failure('server/unavailable', unknown);
    },
    async findSkill(reference, services) {
      const [, label, uri = ''] = /^(?:mcp:([^/]+)\/)?(.*)$/s.exec(reference) ?? [];
      const asked = servers.filter(({ name }) => label === undefined || name === label);
      const [server, ...more] = asked;
      // The same URI is another skill on another server.
      if (server === undefined || more.length > 0)
        return failure('input/invalid', `${quoted(reference, 200)} does not name the MCP server of the skill`, {
          hint: `name it by mcp:SERVER/${uri}; the servers are ${servers.map(({ name }) => name).join(', ')}`,
        });
      return server.findSkill(uri, services);
    },
    async check(services) {
      const configured = runtime.config.mcp_servers ?? {};
      if (configProblem(runtime.diagnostics) === undefined)
        for (const name of serversWithSkills(runtime))
          if (configured[name] === undefined) await forgetSkills(skillFolders(runtime, name));
      return Promise.all(servers.map((server) => server.current(services)));
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface KnownTools {
  /** By the name that models use. */
  readonly tools: ReadonlyMap<string, { readonly tool: ServerTool; readonly original: string }>;
  readonly problems: readonly string[];
}

interface Server {
  readonly name: string;
  readonly has: (tool: string) => boolean;
  /** The remembered tools, or those of a new connection. */
  readonly known: (services: ServerServices) => Promise<ServerState>;
  readonly current: (services: ServerServices) => Promise<ServerState>;
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    services: ServerServices,
    signal?: AbortSignal,
  ) => Promise<ToolResult>;
  readonly openSkill: (
    skill: SkillEntry,
    wanted: readonly string[] | undefined,
    services: ServerServices,
    signal?: AbortSignal,
  ) => ReturnType<ToolServers['openSkill']>;
  /** The name in the index of a skill that may not be listed. */
  readonly findSkill: (uri: string, services: ServerServices) => ReturnType<ToolServers['findSkill']>;
  readonly close: () => Promise<void>;
}

/** Two folders of one server: what it says about its skills, and their files. */
function skillFolders({ cacheDir = '', executionPlaces }: Runtime, server: string): SkillFolders {
  const stubs = serverSkillsFolder(cacheDir, server);
  return { stubs, contents: path.join(cacheDir, 'mcp/contents', server), home: executionPlaces.user.home };
}

function serversWithSkills({ cacheDir }: Runtime): readonly string[] {
  const folder = cacheDir === undefined ? '' : path.dirname(serverSkillsFolder(cacheDir, 'any'));
  return isDirectory(folder) ? readdirSync(folder).filter(isServerName) : [];
}

function openServer(
  name: string,
  config: McpServerConfig,
  { runtime, onConnect, folders }: ToolServersOptions & { readonly runtime: Runtime; readonly folders?: ServerFolders },
): Server {
  const { cacheDir, executionPlaces } = runtime;
  const timeout = (config.connect_timeout_seconds ?? 20) * 1_000;
  const callTimeout = timerMs((config.timeout_seconds ?? 60) * 1_000);
  const surroundings = { ...executionPlaces.user, cwd: executionPlaces.project };
  const file =
    cacheDir === undefined
      ? undefined
      : path.join(cacheDir, 'mcp', `tools-${sha256(stableJson([name, config])).slice(0, 32)}.bin`);
  /** What sessions were offered; it does not change, whatever the server says later. */
  let offered: KnownTools | undefined;
  let current: KnownTools | undefined;
  let opening: Promise<ServerConnection | ActionProblem> | undefined;
  let starts = 0;
  let failed: ServerState | undefined;

  const start = async (services: ServerServices): Promise<ServerConnection | ActionProblem> => {
    if (!isServerName(name))
      return failure('server/unavailable', `${quoted(name)} cannot be the name of an MCP server`, {
        hint: 'use up to 32 letters, digits, - and single _ in mcp_servers',
      });
    starts += 1;
    if (starts > MAX_STARTS)
      return failure('server/unavailable', `the MCP server ${quoted(name)} ended ${String(MAX_STARTS)} times`);
    onConnect?.(name);
    const connection = await connectServer({ name, config, surroundings, services, folders });
    if ('code' in connection) return connection;
    // A server that changes its tools is asked again when one of them is called.
    connection.client.setNotificationHandler('notifications/tools/list_changed', () => void (current = undefined));
    return connection;
  };
  const reopen = async (
    before: typeof opening,
    services: ServerServices,
  ): Promise<ServerConnection | ActionProblem> => {
    const known = await before;
    if (known !== undefined && !('code' in known)) {
      if (known.ended() === '') return known;
      await known.close();
    }
    current = undefined;
    return start(services);
  };
  const connect = (services: ServerServices): Promise<ServerConnection | ActionProblem> =>
    (opening = reopen(opening, services));
  const list = async (connection: ServerConnection): Promise<KnownTools | ActionProblem> => {
    try {
      current ??= readTools(name, config, await connection.listTools());
      cacheEntry(file).write(rememberedText(current));
      return current;
    } catch (error) {
      const reason = connection.ended() === '' ? toErrorMessage(error) : connection.ended();
      return failure('server/unavailable', `the MCP server ${quoted(name)} does not list its tools: ${reason}`);
    }
  };
  const skillsOf = async ({ client }: ServerConnection): Promise<ServerSkills> => {
    if (cacheDir === undefined || config.skills === false) return { names: [], problems: [] };
    try {
      return await syncSkills(openSkillsClient(client), skillFolders(runtime, name), timeout);
    } catch (error) {
      return { names: [], problems: [`its skills cannot be listed: ${toErrorMessage(error)}`] };
    }
  };
  const ask = async (services: ServerServices): Promise<ServerState> => {
    const unusable = ({ message }: ActionProblem): ServerState =>
      (failed = { name, tools: [], skills: [], problems: [message], isConnected: false });
    const connection = await connect(services);
    if ('code' in connection) return unusable(connection);
    const tools = await list(connection);
    if ('code' in tools) return unusable(tools);
    const { names, problems } = await skillsOf(connection);
    offered ??= tools;
    const state = toServerState(name, tools, true);
    return {
      ...state,
      skills: names,
      problems: [...state.problems, ...problems.map((problem) => `MCP server ${name}: ${problem}`)],
    };
  };
  return {
    name,
    has: (tool) => offered?.tools.has(tool) === true,
    async known(services) {
      offered ??= remembered(file);
      if (offered === undefined) return failed ?? ask(services);
      // Another session has its own list of what must not be shown.
      if (opening !== undefined) await fetchValues({ name, config, services });
      return toServerState(name, offered, false);
    },
    current: ask,
    async call(tool, input, services, signal) {
      const connection = await connect(services);
      if ('code' in connection) return { failure: connection };
      const now = await list(connection);
      if ('code' in now) return { failure: now };
      const known = offered?.tools.get(tool);
      const found = now.tools.get(tool);
      if (found === undefined || stableJson(found) !== stableJson(known))
        return { failure: changed(name, tool, found === undefined) };
      return connection.callTool(found.original, input, signal);
    },
    async openSkill(skill, wanted, services, signal) {
      const broken = (error: unknown): ActionProblem =>
        failure(
          'server/failed',
          `the skill ${quoted(skill.name)} of the MCP server ${quoted(name)} cannot be used: ${toErrorMessage(error)}`,
          { hint: `its server may have changed it; ask again with skillwright mcp check ${name}` },
        );
      try {
        const opened = openServerSkill(skill, skillFolders(runtime, name), wanted);
        if (opened.missing.length === 0) return opened;
        const connection = await connect(services);
        if ('code' in connection) return connection;
        await readMissing(openSkillsClient(connection.client), opened, { timeout: callTimeout, signal });
        return openServerSkill(skill, skillFolders(runtime, name), []);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return broken(error);
      }
    },
    async findSkill(uri, services) {
      const folders = skillFolders(runtime, name);
      const known = knownSkill(folders, uri);
      if (known !== undefined) return { name: known, source: `mcp:${name}` };
      const connection = await connect(services);
      if ('code' in connection) return connection;
      try {
        const found = await askForSkill(openSkillsClient(connection.client), folders, uri, timeout);
        return { name: found, source: `mcp:${name}` };
      } catch (error) {
        const reason = toErrorMessage(error);
        return failure(
          'skill/unknown',
          `the MCP server ${quoted(name)} has no usable skill ${quoted(uri, 200)}: ${reason}`,
        );
      }
    },
    async close() {
      const connection = await opening;
      opening = undefined;
      starts = 0;
      if (connection !== undefined && !('code' in connection)) await connection.close();
    },
  };
}

function changed(server: string, tool: string, isGone: boolean): ActionProblem {
  const how = isGone ? 'no longer offers' : 'changed';
  return failure(
    'server/unavailable',
    `the MCP server ${quoted(server)} ${how} ${quoted(tool)} after this session was told about it`,
    { hint: 'continue without it; a new session is told about its tools again' },
  );
}

function toServerState(name: string, { tools, problems }: KnownTools, isConnected: boolean): ServerState {
  return { name, tools: [...tools.values()].map(({ tool }) => tool), skills: [], problems, isConnected };
}

function readTools(server: string, { tools: patterns }: McpServerConfig, listed: readonly unknown[]): KnownTools {
  const globs = patterns?.map((pattern) => compileGlob(pattern, { hidden: true }));
  const tools = new Map<string, { readonly tool: ServerTool; readonly original: string }>();
  const problems: string[] = [];
  for (const each of listed) {
    const read = readTool(server, each);
    if ('problem' in read) problems.push(read.problem);
    else if (globs !== undefined && !globs.some((glob) => glob.matches(read.original))) continue;
    else if (tools.has(read.tool.name))
      problems.push(`the tool ${quoted(read.original)} is left out: another one has its name`);
    else if (tools.size < MAX_TOOLS) tools.set(read.tool.name, read);
    else {
      problems.push(`only ${String(MAX_TOOLS)} tools are offered: choose them with mcp_servers.${server}.tools`);
      break;
    }
  }
  const more = problems.length - MAX_PROBLEMS;
  const shown = [...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${String(more)} more`] : [])];
  return { tools, problems: shown.map((problem) => `MCP server ${server}: ${problem}`) };
}

function rememberedText({ tools, problems }: KnownTools): string {
  return JSON.stringify({ schema: 1, at: Date.now(), tools: [...tools.values()], problems });
}

/** Remembered tools that are not too old. The file is in the user's own cache folder. */
function remembered(file: string | undefined): KnownTools | undefined {
  const bytes = cacheEntry(file).read();
  const value = bytes === undefined ? undefined : parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(value) || value['schema'] !== 1 || !Array.isArray(value['tools'])) return undefined;
  if (typeof value['at'] !== 'number' || Math.abs(Date.now() - value['at']) > REMEMBERED_MS) return undefined;
  const tools = value['tools'].filter(isRememberedTool);
  const problems = Array.isArray(value['problems']) ? value['problems'].map(String) : [];
  return { tools: new Map(tools.map((each) => [each.tool.name, each])), problems };
}

function isRememberedTool(value: unknown): value is { readonly tool: ServerTool; readonly original: string } {
  if (!isObject(value) || typeof value['original'] !== 'string' || !isObject(value['tool'])) return false;
  const { name, description, inputSchema } = value['tool'];
  return (
    typeof name === 'string' &&
    typeof description === 'string' &&
    isObject(inputSchema) &&
    isObject(inputSchema['properties'])
  );
}
