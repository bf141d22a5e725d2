/** An HTTP server on the loopback that starts runs and streams their events as server-sent events. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import path from 'node:path';

import { runAgent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/agent-options.ts';
import { followRun } from '../journal/journal-reader.ts';
import { isRunId, listRuns, runIds } from '../journal/run-folder.ts';
import { serverSentEvents } from '../journal/export/server-sent-events.ts';
import { SkillError, isSkillError } from '../core/errors.ts';
import { visibleJson } from '../core/json/visible-json.ts';
import { refusalOf } from './admission.ts';
import { limitConnections } from './connections.ts';
import type { Refusal } from './admission.ts';
import { readJsonBody } from './request-body.ts';

export interface RunServerOptions extends Pick<AgentOptions, 'runtime' | 'model'> {
  /** The folder in which runs are recorded and listed. */
  readonly directory: string;
  /** At least 16 characters (default: a random token). */
  readonly token?: string;
  readonly host?: '127.0.0.1' | '::1';
  /** Default: any free port. */
  readonly port?: number;
  /** Options for every run. */
  readonly agent?: Omit<AgentOptions, 'runtime' | 'model' | 'request' | 'signal'>;
  readonly limits?: Partial<RunServerLimits>;
}

export interface RunServerLimits {
  readonly bodyBytes: number;
  readonly connections: number;
  /** Concurrent runs. */
  readonly runs: number;
  /** Runs in one list. */
  readonly listed: number;
}

export interface RunServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Ends all streams, cancels all runs and waits for their records. Idempotent. */
  close(): Promise<void>;
}

const LIMITS: RunServerLimits = { bodyBytes: 65_536, connections: 32, runs: 4, listed: 100 };
const MIN_TOKEN_CHARACTERS = 16;

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function createRunServer(options: RunServerOptions): Promise<RunServer> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(32).toString('base64url') } = options;
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < MIN_TOKEN_CHARACTERS)
    throw new SkillError({
      code: 'input/invalid',
      message: 'the token of the run server is too short or contains invisible characters',
      hint: `pass at least ${String(MIN_TOKEN_CHARACTERS)} visible ASCII characters, or omit the token to get a random one`,
      data: { expected: `${String(MIN_TOKEN_CHARACTERS)} characters` },
    });
  const limits = { ...LIMITS, ...options.limits };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const context: Context = { options, limits, closing: closing.signal, running };
  const server = createServer({
    maxHeaderSize: 8_192,
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    // Node checks both timeouts only this often (default: 30 s).
    connectionsCheckingInterval: 1_000,
  });
  const hasRoom = limitConnections(server, limits.connections);
  server.listen(port, host);
  await once(server, 'listening');
  const bound = portOf(server);
  server.on('request', (request, response) => {
    if (hasRoom(request, response)) void answer(request, response, { ...context, token, port: bound });
    else refuse(response, { status: 503, message: `too many connections: the limit is ${String(limits.connections)}` });
  });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    const isClosed = once(server, 'close');
    server.close();
    await Promise.allSettled(running);
    server.closeAllConnections();
    await isClosed;
  };
  const name = host === '::1' ? '[::1]' : host;
  return { url: `http://${name}:${String(bound)}`, token, close: () => (closed ??= close()) };
}

interface Context {
  readonly options: RunServerOptions;
  readonly limits: RunServerLimits;
  readonly closing: AbortSignal;
  /** Unfinished runs. */
  readonly running: Set<Promise<unknown>>;
}

interface Exchange extends Context {
  readonly token: string;
  readonly port: number;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answer(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  // A client that disconnects is not an error.
  response.on('error', () => undefined);
  request.on('error', () => undefined);
  try {
    await route(request, response, exchange);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else if (isSkillError(error)) respond(response, 400, { error: error.message });
    else respond(response, 500, { error: 'internal server error' });
  }
}

const PATH = /^\/runs(?:\/([^/]+)\/events)?$/;

async function route(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const url = readUrl(request.url);
  if (url === undefined) return refuse(response, { status: 400, message: 'invalid request target' });
  const refusal = refusalOf(request, url, exchange);
  if (refusal !== undefined) return refuse(response, refusal);
  const found = PATH.exec(url.pathname);
  if (found === null)
    return refuse(response, {
      status: 404,
      message: 'not found; routes are GET /runs, POST /runs and GET /runs/:id/events',
    });
  const [, id] = found;
  if (request.method === 'GET')
    return id === undefined ? list(response, exchange) : stream(id, request, response, exchange);
  if (request.method === 'POST' && id === undefined) return start(request, response, exchange);
  response.setHeader('allow', id === undefined ? 'GET, POST' : 'GET');
  return refuse(response, { status: 405, message: `method ${request.method ?? ''} is not allowed here` });
}

function readUrl(target = ''): URL | undefined {
  // Absolute targets are for proxies.
  return target.startsWith('/') && URL.canParse(target, 'http://localhost')
    ? new URL(target, 'http://localhost')
    : undefined;
}

function list(response: ServerResponse, { options: { directory }, limits }: Exchange): void {
  const runs = listRuns(directory)
    .slice(0, limits.listed)
    .map(({ id, reading }) => {
      if (reading.type !== 'run') return { run: id };
      const { request, outcome, startedAt, endedAt } = reading.info;
      return { run: id, request, outcome, startedAt, ...(endedAt === undefined ? {} : { endedAt }) };
    });
  respond(response, 200, { runs });
}

async function start(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { limits, closing } = exchange;
  const body = await readJsonBody(request, limits.bodyBytes);
  if (body.type === 'refused') return refuse(response, body);
  const wanted = requestIn(body.value);
  if (wanted === undefined)
    return refuse(response, { status: 400, message: 'the body must be {"request": "..."} without other keys' });
  if (closing.aborted) return refuse(response, { status: 503, message: 'the server is shutting down' });
  if (exchange.running.size >= limits.runs)
    return refuse(response, { status: 429, message: `too many runs: the limit is ${String(limits.runs)} at a time` });
  const run = await startRun(wanted, exchange);
  respond(response, 201, { run, events: `/runs/${run}/events` });
}

function requestIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { request, ...more }: Record<string, unknown> = { request: undefined, ...value };
  return typeof request === 'string' && /\S/.test(request) && Object.keys(more).length === 0 ? request : undefined;
}

/** Returns the run id as soon as its record exists. Rejects if the run fails before that. */
async function startRun(request: string, { options, closing, running }: Exchange): Promise<string> {
  const { runtime, model, directory, agent = {} } = options;
  let begin = (_run: string): void => undefined;
  const begun = new Promise<string>((resolve) => {
    begin = resolve;
  });
  const ended = runAgent({
    ...agent,
    runtime,
    model,
    request,
    signal: closing,
    run: {
      ...agent.run,
      directory,
      sinks: [...(agent.run?.sinks ?? []), ({ event }) => event.type === 'run-start' && begin(event.run)],
    },
  });
  running.add(ended);
  ended.catch(() => undefined).finally(() => running.delete(ended));
  return Promise.race([begun, ended.then(({ run = '' }) => run)]);
}

async function stream(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
  { options: { directory }, closing }: Exchange,
): Promise<void> {
  if (!isRunId(id) || !runIds(directory).includes(id)) return refuse(response, { status: 404, message: 'no such run' });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  const last = request.headers['last-event-id'];
  const lines = followRun(path.join(directory, id), { signal });
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  const lastEventId = typeof last === 'string' ? last : undefined;
  for await (const frame of serverSentEvents(lines, { signal, lastEventId })) {
    // Applies backpressure, so that a slow reader does not fill the memory.
    if (!response.write(frame) && !signal.aborted) await once(response, 'drain', { signal }).catch(() => undefined);
    if (signal.aborted) break;
  }
  response.end();
}

/** No CORS header is sent. The address may contain the token, so it must not leak as a referrer. */
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  respond(response, status, { error: message });
}

function respond(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, {
    ...HEADERS,
    'content-type': 'application/json; charset=utf-8',
    // The rest of a refused body is not read.
    ...(status >= 400 ? { connection: 'close' } : {}),
  });
  response.end(`${visibleJson(JSON.stringify(value))}\n`);
}
