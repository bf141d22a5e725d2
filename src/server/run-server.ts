/** Runs behind HTTP on this machine: started by a request, watched as server-sent events. Nothing of it leaves the loopback. */
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
import type { Refusal } from './admission.ts';
import { readJsonBody } from './request-body.ts';

export interface RunServerOptions extends Pick<AgentOptions, 'runtime' | 'model'> {
  /** The folder of runs: they are recorded here, and only these are shown. */
  readonly directory: string;
  /** At least 16 characters; one of chance where nothing is said. */
  readonly token?: string;
  readonly host?: '127.0.0.1' | '::1';
  /** Any that is free where nothing is said. */
  readonly port?: number;
  /** What every run is started with. */
  readonly agent?: Omit<AgentOptions, 'runtime' | 'model' | 'request' | 'signal'>;
  readonly limits?: Partial<RunServerLimits>;
}

export interface RunServerLimits {
  readonly bodyBytes: number;
  readonly connections: number;
  /** At the same time. */
  readonly runs: number;
  /** In one list. */
  readonly listed: number;
}

export interface RunServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Ends every stream, cancels every run and waits for their records. May be called twice. */
  close(): Promise<void>;
}

const LIMITS: RunServerLimits = { bodyBytes: 65_536, connections: 32, runs: 4, listed: 100 };
const SHORTEST_TOKEN = 16;

/** Listens when it is given. Throws `input/invalid` for a token that could be guessed, and what the system says of a port. */
export async function createRunServer(options: RunServerOptions): Promise<RunServer> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(32).toString('base64url') } = options;
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < SHORTEST_TOKEN)
    throw new SkillError({
      code: 'input/invalid',
      message: 'the token of a run server must not be guessed',
      hint: `give at least ${String(SHORTEST_TOKEN)} visible characters, or none: then one is made`,
      data: { expected: `${String(SHORTEST_TOKEN)} characters` },
    });
  const limits = { ...LIMITS, ...options.limits };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const context: Context = { options, limits, closing: closing.signal, running };
  const server = createServer({ maxHeaderSize: 8_192, headersTimeout: 5_000, requestTimeout: 10_000 });
  server.maxConnections = limits.connections;
  server.listen(port, host);
  await once(server, 'listening');
  const bound = portOf(server);
  server.on('request', (request, response) => void answer(request, response, { ...context, token, port: bound }));
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
  /** Runs that have not ended. */
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
  // A client that goes away while it is answered is nobody's failure.
  response.on('error', () => undefined);
  request.on('error', () => undefined);
  try {
    await route(request, response, exchange);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else if (isSkillError(error)) say(response, 400, { error: error.message });
    else say(response, 500, { error: 'the server broke' });
  }
}

const PATH = /^\/runs(?:\/([^/]+)\/events)?$/;

async function route(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const url = readUrl(request.url);
  if (url === undefined) return refuse(response, { status: 400, message: 'the address is none' });
  const refusal = refusalOf(request, url, exchange);
  if (refusal !== undefined) return refuse(response, refusal);
  const found = PATH.exec(url.pathname);
  if (found === null) return refuse(response, { status: 404, message: 'there is /runs and /runs/ID/events' });
  const [, id] = found;
  if (request.method === 'GET')
    return id === undefined ? list(response, exchange) : stream(id, request, response, exchange);
  if (request.method === 'POST' && id === undefined) return start(request, response, exchange);
  response.setHeader('allow', id === undefined ? 'GET, POST' : 'GET');
  return refuse(response, { status: 405, message: 'this cannot be done here' });
}

function readUrl(target = ''): URL | undefined {
  // Addresses of other servers are for proxies.
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
  say(response, 200, { runs });
}

async function start(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { limits, closing } = exchange;
  const body = await readJsonBody(request, limits.bodyBytes);
  if (body.type === 'refused') return refuse(response, body);
  const wanted = requestIn(body.value);
  if (wanted === undefined)
    return refuse(response, { status: 400, message: 'give {"request": "..."} and nothing else' });
  if (closing.aborted) return refuse(response, { status: 503, message: 'the server closes' });
  if (exchange.running.size >= limits.runs)
    return refuse(response, { status: 429, message: `${String(limits.runs)} runs are going on already` });
  const run = await startRun(wanted, exchange);
  say(response, 201, { run, events: `/runs/${run}/events` });
}

function requestIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { request, ...more }: Record<string, unknown> = { request: undefined, ...value };
  return typeof request === 'string' && /\S/.test(request) && Object.keys(more).length === 0 ? request : undefined;
}

/** Its name, as soon as its record has begun. Rejects where it never does. */
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
  if (!isRunId(id) || !runIds(directory).includes(id))
    return refuse(response, { status: 404, message: 'there is no such run' });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  const last = request.headers['last-event-id'];
  const lines = followRun(path.join(directory, id), { signal });
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  const lastEventId = typeof last === 'string' ? last : undefined;
  for await (const frame of serverSentEvents(lines, { signal, lastEventId })) {
    // No faster than it is taken: a reader who sleeps must not fill the memory.
    if (!response.write(frame) && !signal.aborted) await once(response, 'drain', { signal }).catch(() => undefined);
    if (signal.aborted) break;
  }
  response.end();
}

/** No page of another server reads an answer: nothing here allows it. The address may hold the token and goes nowhere. */
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  say(response, status, { error: message });
}

function say(response: ServerResponse, status: number, value: object): void {
  const isOver = status >= 400;
  response.writeHead(status, {
    ...HEADERS,
    'content-type': 'application/json; charset=utf-8',
    // What is left of a body that was refused is not read.
    ...(isOver ? { connection: 'close' } : {}),
  });
  response.end(`${visibleJson(JSON.stringify(value))}\n`);
}
