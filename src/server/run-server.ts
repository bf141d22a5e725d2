/** An HTTP server on the loopback that starts runs and streams their events as server-sent events. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';

import { runAgent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/agent-options.ts';
import { followRun } from '../journal/journal-reader.ts';
import { isRunId, listRuns, runIds } from '../journal/run-folder.ts';
import { serverSentEvents } from '../journal/export/server-sent-events.ts';
import { LOOPBACK_HEADERS, openLoopbackServer, refuse, respond } from '../platform/net/loopback-server.ts';
import type { LoopbackOptions } from '../platform/net/loopback-server.ts';
import { readJsonBody } from './request-body.ts';

export interface RunServerOptions extends Pick<AgentOptions, 'runtime' | 'model'>, LoopbackOptions {
  /** The folder in which runs are recorded and listed. */
  readonly directory: string;
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

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function createRunServer(options: RunServerOptions): Promise<RunServer> {
  const limits = { ...LIMITS, ...options.limits };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const context: Context = { options, limits, closing: closing.signal, running };
  const { host, port, token } = options;
  const server = await openLoopbackServer({
    host,
    port,
    token,
    connections: limits.connections,
    answer: (request, response, url) => route(request, response, url, context),
  });
  return {
    url: server.url,
    token: server.token,
    close() {
      closing.abort();
      return server.close(() => Promise.allSettled(running));
    },
  };
}

interface Context {
  readonly options: RunServerOptions;
  readonly limits: RunServerLimits;
  readonly closing: AbortSignal;
  /** Unfinished runs. */
  readonly running: Set<Promise<unknown>>;
}

const PATH = /^\/runs(?:\/([^/]+)\/events)?$/;

async function route(request: IncomingMessage, response: ServerResponse, url: URL, context: Context): Promise<void> {
  const found = PATH.exec(url.pathname);
  if (found === null)
    return refuse(response, {
      status: 404,
      message: 'not found; routes are GET /runs, POST /runs and GET /runs/:id/events',
    });
  const [, id] = found;
  if (request.method === 'GET')
    return id === undefined ? list(response, context) : stream(id, request, response, context);
  if (request.method === 'POST' && id === undefined) return start(request, response, context);
  response.setHeader('allow', id === undefined ? 'GET, POST' : 'GET');
  return refuse(response, { status: 405, message: `method ${request.method ?? ''} is not allowed here` });
}

function list(response: ServerResponse, { options: { directory }, limits }: Context): void {
  const runs = listRuns(directory)
    .slice(0, limits.listed)
    .map(({ id, reading }) => {
      if (reading.type !== 'run') return { run: id };
      const { request, outcome, startedAt, endedAt } = reading.info;
      return { run: id, request, outcome, startedAt, ...(endedAt === undefined ? {} : { endedAt }) };
    });
  respond(response, 200, { runs });
}

async function start(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { limits, closing } = context;
  const body = await readJsonBody(request, limits.bodyBytes);
  if (body.type === 'refused') return refuse(response, body);
  const wanted = requestIn(body.value);
  if (wanted === undefined)
    return refuse(response, { status: 400, message: 'the body must be {"request": "..."} without other keys' });
  if (closing.aborted) return refuse(response, { status: 503, message: 'the server is shutting down' });
  if (context.running.size >= limits.runs)
    return refuse(response, { status: 429, message: `too many runs: the limit is ${String(limits.runs)} at a time` });
  const run = await startRun(wanted, context);
  respond(response, 201, { run, events: `/runs/${run}/events` });
}

function requestIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { request, ...more }: Record<string, unknown> = { request: undefined, ...value };
  return typeof request === 'string' && /\S/.test(request) && Object.keys(more).length === 0 ? request : undefined;
}

/** Returns the run id as soon as its record exists. Rejects if the run fails before that. */
async function startRun(request: string, { options, closing, running }: Context): Promise<string> {
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
  { options: { directory }, closing }: Context,
): Promise<void> {
  if (!isRunId(id) || !runIds(directory).includes(id)) return refuse(response, { status: 404, message: 'no such run' });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  const last = request.headers['last-event-id'];
  const lines = followRun(path.join(directory, id), { signal });
  response.writeHead(200, { ...LOOPBACK_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  const lastEventId = typeof last === 'string' ? last : undefined;
  for await (const frame of serverSentEvents(lines, { signal, lastEventId })) {
    // Applies backpressure, so that a slow reader does not fill the memory.
    if (!response.write(frame) && !signal.aborted) await once(response, 'drain', { signal }).catch(() => undefined);
    if (signal.aborted) break;
  }
  response.end();
}
