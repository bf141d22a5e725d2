/** One connection to an MCP server that the configuration names. */
import path from 'node:path';
import {
  Client,
  StreamableHTTPClientTransport,
  UnsupportedProtocolVersionError,
  type CallToolResult,
  type JsonSchemaValidator,
  type Transport,
  type jsonSchemaValidator,
} from '@modelcontextprotocol/client';
import { z } from 'zod';

import { isInside, makeFolders, timerMs } from '#platform';
import { docsPage, failure, quoted, type Config, type ActionProblem, type Surroundings, type ToolServers } from '#core';
import { VERSION } from '../version.ts';
import { toErrorMessage, programTransport, withPrinted } from './program-transport.ts';

export type ServerServices = Parameters<ToolServers['open']>[0];

export type McpServerConfig = NonNullable<Config['mcp_servers']>[string];

export interface ServerConnection {
  readonly client: Client;
  /** Why the connection ended; empty while it is open. */
  readonly ended: () => string;
  /** The tools as the server lists them, unchecked. */
  readonly listTools: () => Promise<readonly unknown[]>;
  readonly callTool: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ) => Promise<ToolResult>;
  readonly close: () => Promise<void>;
}

export type ToolResult = { readonly result: CallToolResult } | { readonly failure: ActionProblem };

const MAX_PAGES = 20;

export interface ConnectOptions {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly surroundings: Surroundings;
  readonly services: ServerServices;
  readonly folders?: ServerFolders | undefined;
}

/** Where the program of a plugin runs. */
export interface ServerFolders {
  readonly cwd: string;
  /** Created before the program starts. */
  readonly data: string;
}

/** Connects to a server, in the protocol version of 2025 that nearly all speak, or the newest one. */
export async function connectServer(options: ConnectOptions): Promise<ServerConnection | ActionProblem> {
  const { name, config } = options;
  const prepared = await prepare(options);
  if ('code' in prepared) return prepared;
  const timeout = timerMs((config.connect_timeout_seconds ?? 20) * 1_000);
  const attempt = async (pin?: string): Promise<ServerConnection> => {
    const { transport, end, printed } = prepared.open();
    const client = new Client(
      { name: 'skillwright', version: VERSION },
      {
        listMaxPages: MAX_PAGES,
        // Structured answers are not used, and compiling a schema of a stranger can take forever.
        jsonSchemaValidator: ANY_SCHEMA,
        versionNegotiation: pin === undefined ? undefined : { mode: { pin } },
      },
    );
    let isClosed = false;
    client.onclose = () => void (isClosed = true);
    try {
      await within(timeout, client.connect(transport, { timeout }));
    } catch (error) {
      const reason = end();
      await client.close().catch(() => undefined);
      await transport.close().catch(() => undefined);
      if (error instanceof UnsupportedProtocolVersionError) throw error;
      throw new Error(reason === '' ? withPrinted(toErrorMessage(error), printed()) : reason, { cause: error });
    }
    return {
      client,
      ended: () => (end() === '' && isClosed ? 'the connection was closed' : end()),
      async listTools() {
        if (client.getServerCapabilities()?.tools === undefined) return [];
        return within(timeout, listTools(client, timeout));
      },
      callTool: (tool, input, signal) => callTool(client, { name, tool, input, config, end, signal }),
      async close() {
        await client.close().catch(() => undefined);
        await transport.close().catch(() => undefined);
      },
    };
  };
  try {
    return await attempt().catch((error: unknown) => {
      if (error instanceof UnsupportedProtocolVersionError) return attempt('2026-07-28');
      throw error;
    });
  } catch (error) {
    return failure('server/unavailable', `the MCP server ${quoted(name)} cannot be used: ${toErrorMessage(error)}`, {
      hint: `check its command or address: skillwright mcp check ${name}`,
    });
  }
}

/** The method of the SDK refuses the whole list for one tool that is wrong. */
const TOOL_PAGE = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

async function listTools(client: Client, timeout: number): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, TOOL_PAGE, { timeout });
    found.push(...tools);
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
  return found;
}

const ANY_SCHEMA: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    // The SDK has one type for the data of every schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (data) => ({ valid: true, data: data as Value, errorMessage: undefined });
  },
};

interface ToolCall {
  readonly name: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly config: McpServerConfig;
  readonly end: () => string;
  readonly signal: AbortSignal | undefined;
}

async function callTool(client: Client, { name, tool, input, config, end, signal }: ToolCall): Promise<ToolResult> {
  const timeout = timerMs((config.timeout_seconds ?? 60) * 1_000);
  try {
    const result = await client.callTool(
      { name: tool, arguments: { ...input } },
      { timeout, maxTotalTimeout: timeout, signal },
    );
    return { result };
  } catch (error) {
    const reason = end();
    const message = `the MCP server ${quoted(name)} did not answer the call of ${quoted(tool)}: ${reason === '' ? toErrorMessage(error) : reason}`;
    return { failure: failure('server/failed', message) };
  }
}

async function within<Value>(timeout: number, value: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${String(timeout / 1_000)} s`)), timeout);
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}

interface Prepared {
  /** A transport for one attempt, why it ended, and what its program printed to stderr. */
  readonly open: () => { readonly transport: Transport; readonly end: () => string; readonly printed: () => string };
}

/** The environment or the headers of a server, with secrets fetched. */
export async function fetchValues({
  name,
  config,
  services,
}: Omit<ConnectOptions, 'surroundings' | 'folders'>): ReturnType<ServerServices['secrets']> {
  const { command, env = {}, headers = {}, bearer } = config;
  if (command !== undefined) return resolveValues(name, env, services);
  const [fetched, token] = await Promise.all([
    resolveValues(name, headers, services),
    resolveValues(name, bearer === undefined ? {} : { authorization: bearer }, services),
  ]);
  if ('failure' in fetched) return fetched;
  if ('failure' in token) return token;
  const { authorization } = token.values;
  return {
    values: { ...fetched.values, ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }) },
  };
}

async function prepare({ surroundings, folders, ...connection }: ConnectOptions): Promise<Prepared | ActionProblem> {
  const { name, config } = connection;
  const { command, args = [], url } = config;
  if ((command === undefined) === (url === undefined)) return unusable(name, 'it needs either a command or a url');
  const address = url === undefined ? undefined : readAddress(url);
  if (url !== undefined && address === undefined)
    return unusable(name, `${quoted(url, 200)} is not an https address, or http on this machine`);
  const fetched = await fetchValues(connection);
  if ('failure' in fetched) return fetched.failure;
  const { values } = fetched;
  if (address !== undefined)
    return {
      open: () => ({
        transport: new StreamableHTTPClientTransport(address, {
          fetch: limitedFetch,
          requestInit: { headers: { ...values } },
        }),
        end: () => '',
        printed: () => '',
      }),
    };
  const env = { ...inherited(surroundings), ...values };
  const secrets = Object.entries(config.env ?? {}).flatMap(([variable, value]) =>
    typeof value === 'string' || (values[variable] ?? '') === '' ? [] : [[variable, values[variable] ?? ''] as const],
  );
  const hide = (text: string): string =>
    secrets.reduce((rest, [variable, value]) => rest.replaceAll(value, `[secret ${variable}]`), text);
  return {
    open() {
      if (folders !== undefined) {
        makeFolders(folders.data, 0o700);
        // A folder below it is the plugin's own as well.
        if (isInside(folders.cwd, folders.data)) makeFolders(folders.cwd, 0o700);
      }
      const transport = programTransport({
        argv: [command ?? '', ...args],
        cwd: folders?.cwd ?? surroundings.cwd,
        env,
      });
      return { transport, end: () => hide(transport.end), printed: () => hide(transport.printed) };
    },
  };
}

function unusable(name: string, problem: string): ActionProblem {
  return failure('server/unavailable', `the MCP server ${quoted(name)} is not configured correctly: ${problem}`, {
    hint: `correct mcp_servers in ~/.agent/config.json; see ${docsPage('mcp')}`,
  });
}

const LOCAL: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

function readAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL.has(url.hostname)) ? url : undefined;
}

/** Variables that a program needs to start. Nothing else of the user's environment, which holds keys, reaches a server. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SystemRoot'];

function inherited({ env }: Surroundings): Readonly<Record<string, string>> {
  const found = INHERITED.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // The folder of this Node comes first, so that `npx` and `node` are the ones that run this program.
  const { PATH = '', ...rest } = Object.fromEntries(found);
  return { ...rest, PATH: [path.dirname(process.execPath), PATH].filter((part) => part !== '').join(path.delimiter) };
}

/** Plain texts and fetched secrets by name. The names of headers are not names of variables. */
async function resolveValues(
  server: string,
  texts: Readonly<Record<string, string | Parameters<ServerServices['secrets']>[1][string]>>,
  { secrets }: ServerServices,
): ReturnType<ServerServices['secrets']> {
  const entries = Object.entries(texts);
  const sources = entries.flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [[name.replaceAll('-', '_'), value] as const],
  );
  const fetched = sources.length === 0 ? { values: {} } : await secrets(`mcp:${server}`, Object.fromEntries(sources));
  if ('failure' in fetched) return fetched;
  const found: Readonly<Record<string, string>> = fetched.values;
  const values = Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (found[name.replaceAll('-', '_')] ?? ''),
    ]),
  );
  return { values };
}

/** Of one answer. A stream of events that exceeds it is opened again. */
const MAX_BYTES = 32 * 1024 * 1024;

/** `fetch` that reads no more than a limit of each answer and follows no redirect. */
async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (response.status >= 300 && response.status < 400)
    throw new Error(`the server redirects to ${response.headers.get('location')?.slice(0, 200) ?? 'another address'}`);
  if (response.body === null) return response;
  let left = MAX_BYTES;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left < 0) controller.error(new Error(`the answer has more than ${String(MAX_BYTES)} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
