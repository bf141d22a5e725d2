/** An HTTP server on the loopback: the API under /api/v1, and the page that uses it. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { LOOPBACK_HEADERS, openLoopbackServer, readSealKey } from '#platform';
import { readSurroundings } from '#runtime';
import type { RunServerLimits, RunServerOptions } from './server-options.ts';
import { httpError, sendError } from './http-error.ts';
import { API_PATH } from './open-api.ts';
import { openPageFiles, type PageFiles } from './page-files.ts';
import { apiRoutes } from './routes.ts';
import { openRunStarter } from './run-starter.ts';
import { openSessions, type Sessions } from './sessions.ts';
import { answerApi, type ApiExchange } from './exchange.ts';

export type { RunServerLimits, RunServerOptions } from './server-options.ts';

export interface RunServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Creates an address that opens the page once, in one browser. */
  newLink(): string;
  /** Ends all streams, cancels all runs and waits for their records. Idempotent. */
  close(): Promise<void>;
}

const LIMITS: RunServerLimits = {
  bodyBytes: 65_536,
  uploadBytes: 33_554_432,
  connections: 32,
  runs: 4,
  stalledMs: 30_000,
};

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function createRunServer(options: RunServerOptions): Promise<RunServer> {
  const limits = { ...LIMITS, ...options.limits };
  const surroundings = options.surroundings ?? readSurroundings({});
  const closing = new AbortController();
  const starter = openRunStarter(options, limits, closing.signal);
  const routes = apiRoutes({ options, limits, surroundings, closing: closing.signal, starter });
  // The key of the user keeps a page open over a restart; otherwise a key of this process.
  const key = readSealKey(surroundings.home, { create: true }) ?? randomBytes(32);
  let sessions: Sessions | undefined;
  const findSessions = (port: number): Sessions =>
    (sessions ??= openSessions({ key, purpose: surroundings.cwd, port }));
  const exchange: Exchange = {
    routes,
    pages: openPageFiles(options.console),
    limits,
    closing: closing.signal,
  };
  const server = await openLoopbackServer({
    token: options.token,
    host: options.host,
    port: options.port,
    connections: limits.connections,
    // The first page explains itself, and takes links.
    admit: (request, url, port) =>
      isLogin(request, url, exchange.pages.isPresent) ? undefined : findSessions(port).refusal(request),
    answer: (request, response, url) =>
      isLogin(request, url, exchange.pages.isPresent)
        ? Promise.resolve(login(request, response, url, findSessions(Number(new URL(server.url).port)), exchange))
        : answer(request, response, url, exchange),
  });
  return {
    url: server.url,
    token: server.token,
    newLink: () => `${server.url}/?link=${findSessions(Number(new URL(server.url).port)).newLink()}`,
    close: () => {
      closing.abort();
      return server.close(() => starter.close());
    },
  };
}

/** The first page and its links; without a page, only links. */
function isLogin({ method }: IncomingMessage, { pathname, searchParams }: URL, hasPage: boolean): boolean {
  return method === 'GET' && pathname === '/' && (hasPage || searchParams.has('link'));
}

interface Exchange extends ApiExchange {
  readonly pages: PageFiles;
}

/** Errors with a status of their own; the others are answered by the server below. */
async function answer(request: IncomingMessage, response: ServerResponse, url: URL, exchange: Exchange): Promise<void> {
  try {
    if (url.pathname.startsWith(`${API_PATH}/`)) await answerApi(request, response, url, exchange);
    else answerPage(url, request, response, exchange);
  } catch (error) {
    if (!sendError(response, error)) throw error;
  }
}

/** Exchanges a one-time link for a session, so that the address of the page has no secret. */
function login(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  sessions: Sessions,
  exchange: Exchange,
): void {
  const link = url.searchParams.get('link');
  const hasSession = sessions.refusal(request) === undefined;
  if (link === null) return hasSession ? answerPage(url, request, response, exchange) : explainLogin(response);
  const cookie = sessions.redeem(link);
  if (cookie === undefined && !hasSession) return explainLogin(response);
  response.writeHead(303, {
    ...LOOPBACK_HEADERS,
    'set-cookie': cookie,
    location: '/',
  });
  response.end();
}

function explainLogin(response: ServerResponse): void {
  response.writeHead(401, { ...LOOPBACK_HEADERS, 'content-type': 'text/plain; charset=utf-8' });
  response.end(
    'This link was used already, or is not complete. Run skillwright ui again and open the link that it prints.\n',
  );
}

function answerPage(url: URL, request: IncomingMessage, response: ServerResponse, exchange: Exchange): void {
  if (!exchange.pages.has(url.pathname) || request.method !== 'GET')
    throw httpError(404, `not found; the routes are in ${API_PATH}/openapi.json`);
  exchange.pages.send(response, url.pathname);
}
