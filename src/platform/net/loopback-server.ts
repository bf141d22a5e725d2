/** An HTTP server on the loopback that answers only requests with the token and the right Host and Origin. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { invalidInput, isSkillError, visibleJson } from '#core';
import { limitConnections } from './connection-limit.ts';
import { sha256 } from '../hash.ts';

interface LoopbackOptions {
  /** At least 16 characters (default: a random token). */
  readonly token?: string | undefined;
  readonly host?: '127.0.0.1' | '::1' | undefined;
  /** Default: any free port. */
  readonly port?: number | undefined;
}

interface LoopbackServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Stops accepting connections, waits for `before`, and ends the connections that are left. Idempotent. */
  close(before?: () => Promise<unknown>): Promise<void>;
}

interface LoopbackParts extends LoopbackOptions {
  /** Concurrent connections. */
  readonly connections: number;
  /** Asked about a request without the token, with the right Host and Origin: returns why it is refused too, or undefined to admit it. */
  readonly admit?: (request: IncomingMessage, url: URL, port: number) => Refusal | undefined;
  /** Answers a request that was admitted. A `SkillError` that it throws becomes a 400. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;
}

const MIN_TOKEN_CHARACTERS = 16;

/** Resolves when the server listens. Throws `input/invalid` for a weak token, and system errors for the port. */
export async function openLoopbackServer(parts: LoopbackParts): Promise<LoopbackServer> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(32).toString('base64url'), connections } = parts;
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < MIN_TOKEN_CHARACTERS)
    throw invalidInput(
      'the token of the server is too short or contains invisible characters',
      `${String(MIN_TOKEN_CHARACTERS)} characters`,
      `pass at least ${String(MIN_TOKEN_CHARACTERS)} visible ASCII characters, or omit the token to get a random one`,
    );
  const server = createServer({
    maxHeaderSize: 8_192,
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    // Node checks both timeouts only this often (default: 30 s).
    connectionsCheckingInterval: 1_000,
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  acceptRequests(server, connections, (request, response) =>
    answerSafely(request, response, { ...parts, token, port: bound }),
  );
  let closed: Promise<void> | undefined;
  const close = async (before?: () => Promise<unknown>): Promise<void> => {
    const isClosed = once(server, 'close');
    server.close();
    await before?.();
    server.closeAllConnections();
    await isClosed;
  };
  const name = host === '::1' ? '[::1]' : host;
  return { url: `http://${name}:${String(bound)}`, token, close: (before) => (closed ??= close(before)) };
}

interface Admitting extends Pick<LoopbackParts, 'answer' | 'admit'> {
  readonly token: string;
  readonly port: number;
}

async function answerSafely(request: IncomingMessage, response: ServerResponse, admitting: Admitting): Promise<void> {
  // A client that disconnects is not an error.
  response.on('error', () => undefined);
  request.on('error', () => undefined);
  try {
    const url = readUrl(request.url);
    if (url === undefined) return refuse(response, { status: 400, message: 'invalid request target' });
    const first = checkAdmission(request, url, admitting);
    const refusal =
      first?.status === 401 && admitting.admit !== undefined ? admitting.admit(request, url, admitting.port) : first;
    if (refusal !== undefined) return refuse(response, refusal);
    await admitting.answer(request, response, url);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else if (isSkillError(error)) respond(response, 400, { error: error.message });
    else respond(response, 500, { error: 'internal server error' });
  }
}

/**
 * Answers at most `limit` requests at a time. Refuses repeated Host and Authorization headers: Node uses the first one, and a proxy in front may
 * have used another.
 */
export function acceptRequests(
  server: Server,
  limit: number,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): void {
  const hasRoom = limitConnections(server, limit);
  server.on('request', (request, response) => {
    const isRepeated = ['host', 'authorization'].some((name) => (request.headersDistinct[name] ?? []).length > 1);
    if (!hasRoom(request, response))
      refuse(response, { status: 503, message: `too many connections: the limit is ${String(limit)}` });
    else if (isRepeated) refuse(response, { status: 400, message: 'more than one Host or Authorization header' });
    else answer(request, response).catch(() => response.destroy());
  });
}

function readUrl(target = ''): URL | undefined {
  // Absolute targets are for proxies.
  return target.startsWith('/') && URL.canParse(target, 'http://localhost')
    ? new URL(target, 'http://localhost')
    : undefined;
}

/** No CORS header is sent. The address may contain the token, so it must not leak as a referrer. */
export const LOOPBACK_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  respond(response, status, { error: message });
}

export function respond(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, {
    ...LOOPBACK_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    // The rest of a refused body is not read.
    ...(status >= 400 ? { connection: 'close' } : {}),
  });
  response.end(`${visibleJson(JSON.stringify(value))}\n`);
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

interface Admission {
  readonly token: string;
  readonly port: number;
}

/** Returns why a request is refused, or undefined if it is accepted. */
function checkAdmission(request: IncomingMessage, url: URL, { token, port }: Admission): Refusal | undefined {
  const { host, origin } = request.headers;
  // A foreign host name that resolves to the loopback is a DNS rebinding attack.
  if (host === undefined || !NAMES.some((name) => host.toLowerCase() === `${name}:${String(port)}`))
    return { status: 421, message: 'invalid Host header: use 127.0.0.1, localhost or [::1] with the port' };
  if (origin !== undefined && !NAMES.some((name) => origin === `http://${name}:${String(port)}`))
    return { status: 403, message: 'requests from other origins are not allowed' };
  if (!isSame(readToken(request, url), token))
    return { status: 401, message: 'missing or invalid token: send Authorization: Bearer TOKEN' };
  return undefined;
}

const NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** The query parameter is accepted for GET only, because EventSource cannot send headers. */
function readToken({ headers, method }: IncomingMessage, url: URL): string {
  const [, bearer] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '') ?? [];
  return bearer ?? (method === 'GET' ? (url.searchParams.get('token') ?? '') : '');
}

/** Compares hashes in constant time, so that neither content nor length of the token leaks. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
}
