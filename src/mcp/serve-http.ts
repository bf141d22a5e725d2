/** The MCP server over streamable HTTP on the loopback, for clients that do not start it themselves. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

import {
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isLegacyRequest,
} from '@modelcontextprotocol/server';

import { LOOPBACK_HEADERS, openLoopbackServer, respond, timerMs } from '#platform';
import type { SkillServer } from './server.ts';

export interface ServeHttpOptions extends Pick<Parameters<typeof openLoopbackServer>[0], 'token' | 'host' | 'port'> {
  /** Receives errors that no client gets to see. */
  readonly onWarning: (message: string) => void;
  /** Ends a session that no request used for so long (default: 30 minutes). */
  readonly idleMs?: number;
}

const PATH = '/mcp';
const METHODS = ['GET', 'POST', 'DELETE'];
const CONNECTIONS = 64;
/** Of clients of the protocol before 2026-07-28, which has sessions. The one that was unused the longest ends first. */
const MAX_SESSIONS = 32;
const IDLE_MS = 30 * 60_000;
const MAX_BODY = 4 * 1024 * 1024;

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function serveHttp(
  server: SkillServer,
  options: ServeHttpOptions,
): Promise<Awaited<ReturnType<typeof openLoopbackServer>>> {
  const { onWarning, idleMs = IDLE_MS, ...loopback } = options;
  const onerror = (error: Error): void => onWarning(error.message);
  const handler = createMcpHandler(() => server.connect(), { legacy: 'reject', maxRequestBodySize: MAX_BODY, onerror });
  server.onChange(() => {
    handler.notify.toolsChanged();
    handler.notify.resourcesChanged();
  });
  const sessions = openSessions(server, { onerror, idleMs });
  const http = await openLoopbackServer({
    ...loopback,
    connections: CONNECTIONS,
    async answer(request, response, url) {
      if (url.pathname !== PATH) return respond(response, 404, { error: `not found; the route is ${PATH}` });
      // `Request` throws for TRACE, among others.
      if (!METHODS.includes(request.method ?? '')) {
        response.setHeader('allow', METHODS.join(', '));
        return respond(response, 405, { error: `method ${request.method ?? ''} is not allowed here` });
      }
      const asked = toWebRequest(request, response, url);
      // Reading the body for the decision uses it up.
      const isLegacy = await isLegacyRequest(asked.clone(), undefined, { maxRequestBodySize: MAX_BODY });
      if (isLegacy) return sessions.answer(asked, (answer) => send(answer, response));
      return send(await handler.fetch(asked), response);
    },
  });
  return {
    url: `${http.url}${PATH}`,
    token: http.token,
    close: (before) =>
      http.close(async () => {
        await before?.();
        await Promise.allSettled([handler.close(), sessions.close()]);
      }),
  };
}

interface HttpSessions {
  readonly answer: (request: Request, respond: (answer: Response) => Promise<void>) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Requests that are being answered, among them streams of notifications. */
  open: number;
  timer?: NodeJS.Timeout;
}

/** Each client of an earlier protocol version has a session of its own: loaded skills, approvals, workspace and record. */
function openSessions(
  server: SkillServer,
  { onerror, idleMs }: { readonly onerror: (error: Error) => void; readonly idleMs: number },
): HttpSessions {
  // The one that was used the longest ago is the first.
  const sessions = new Map<string, HttpSession>();
  const closeQuietly = ({ transport }: HttpSession): void => void transport.close().catch(onerror);
  const makeRoom = (): boolean => {
    if (sessions.size < MAX_SESSIONS) return true;
    const unused = [...sessions.values()].find(({ open }) => open === 0);
    if (unused !== undefined) closeQuietly(unused);
    return unused !== undefined;
  };
  const start = async (): Promise<HttpSession> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: HttpSession = { transport, open: 0 };
    transport.onerror = onerror;
    await server.connect({ isOwn: true }).connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      clearTimeout(session.timer);
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
      onclose?.();
    };
    return session;
  };
  const use = async (
    session: HttpSession,
    request: Request,
    respond: (answer: Response) => Promise<void>,
  ): Promise<void> => {
    const { transport } = session;
    clearTimeout(session.timer);
    session.open += 1;
    try {
      await respond(await transport.handleRequest(request));
    } finally {
      session.open -= 1;
      if (transport.sessionId === undefined) await transport.close();
      else if (session.open === 0) session.timer = setTimeout(closeQuietly, timerMs(idleMs), session).unref();
    }
  };
  return {
    async answer(request, respond) {
      const id = request.headers.get('mcp-session-id');
      if (id === null)
        return makeRoom()
          ? use(await start(), request, respond)
          : respond(problem(503, `${String(MAX_SESSIONS)} sessions are in use: try again later`));
      const known = sessions.get(id);
      if (known === undefined) return respond(problem(404, 'the session has ended: start a new one'));
      sessions.delete(id);
      sessions.set(id, known);
      return use(known, request, respond);
    },
    async close() {
      await Promise.allSettled([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

function problem(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_001, message } }, { status });
}

function toWebRequest(request: IncomingMessage, response: ServerResponse, url: URL): Request {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  const { method = 'GET' } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(url, {
    method,
    headers,
    signal: gone.signal,
    // `duplex` is required for streams and missing in the types of Node 20.
    ...(hasBody ? { body: toWebStream(request), duplex: 'half' } : {}),
  });
}

function toWebStream(request: IncomingMessage): ReadableStream {
  return Readable.toWeb(request);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...LOOPBACK_HEADERS });
  if (answer.body === null) return void response.end();
  const reader = answer.body.getReader();
  // A stream of notifications has no end of its own.
  response.once('close', () => void reader.cancel().catch(() => undefined));
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    // Applies backpressure, so that a slow reader does not fill the memory.
    if (!response.write(next.value) && !response.destroyed)
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}
