import {
  STATUS_CODES,
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { isProblem, printable, readAuthority, type HostAndPort } from '#core';
import { joinSockets, type ByteMeter } from './joined-sockets.ts';
import type { NetworkDecision, NetworkGate, Refusal } from './network-gate.ts';
import { writeAuthority } from './user-proxy.ts';

export interface HttpProxyOptions {
  readonly gate: NetworkGate;
  readonly meter: ByteMeter;
  readonly onDecision: (decision: NetworkDecision) => void;
  /** Called when the head of a request is complete. */
  readonly onHead: (socket: Duplex) => void;
  readonly idleMs: number;
}

const MAX_HEAD_BYTES = 16 * 1024;
/** Characters of a malformed URL that are reported. */
const MAX_REPORTED = 200;

const STATUS: Readonly<Record<Refusal | 'malformed', number>> = {
  malformed: 400,
  'not-granted': 403,
  'not-public': 403,
  unresolved: 502,
  unreachable: 502,
};

/** Headers of one connection, not forwarded; `host` and the body framing are rewritten. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * A proxy that receives connections by `emit('connection', socket)`. It serves one request per connection: where one request ends and the
 * next begins is what request smuggling exploits.
 */
export function httpProxy(options: HttpProxyOptions): Server {
  const served = new WeakSet<Duplex>();
  const isFirst = (socket: Duplex): boolean => {
    options.onHead(socket);
    const first = !served.has(socket);
    served.add(socket);
    return first;
  };
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    requireHostHeader: false,
    insecureHTTPParser: false,
    keepAlive: false,
  });
  server.timeout = 0;
  server.on('request', (request, response) => {
    if (isFirst(request.socket)) forward(request, response, options).catch(() => response.destroy());
    else request.socket.destroy();
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Uint8Array) => {
    if (!isFirst(socket)) return void socket.destroy();
    if (head.length > 0) socket.unshift(head);
    tunnel(request, socket, options).catch(() => socket.destroy());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (served.has(socket) || !socket.writable) return void socket.destroy();
    served.add(socket);
    if (error.code === 'HPE_HEADER_OVERFLOW')
      answerRaw(socket, 431, `the request head is larger than ${String(MAX_HEAD_BYTES)} bytes`);
    else answerRaw(socket, 400, 'malformed or ambiguous request');
  });
  return server;
}

/** Writes a whole response to a socket without a response object. */
export function answerRaw(socket: Duplex, status: number, message: string): void {
  const body = toErrorBody(message);
  socket.end(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${String(Buffer.byteLength(body))}\r\nconnection: close\r\n\r\n${body}`,
  );
  // A client that keeps writing and never reads would keep the socket half open.
  socket.once('finish', () => socket.destroy());
}

function answer(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = toErrorBody(message);
  response.shouldKeepAlive = false;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function toErrorBody(message: string): string {
  return `skillwright: ${printable(message)}\n`;
}

async function tunnel(request: IncomingMessage, socket: Duplex, options: HttpProxyOptions): Promise<void> {
  const { gate, meter } = options;
  const asked = readAuthority(request.url ?? '');
  if (asked === undefined) {
    reportMalformed(request, options);
    return answerRaw(socket, 400, 'CONNECT needs a host and a port, for example example.org:443');
  }
  const gone = whenGone(socket);
  const reached = await gate.reach(asked, gone);
  if (isProblem(reached)) {
    if (!gone.aborted) answerRaw(socket, STATUS[reached.refusal], reached.message);
    return;
  }
  if (gone.aborted) return void reached.destroy();
  closeWhenIdle(reached, options.idleMs);
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  joinSockets(socket, reached, meter);
}

interface Target extends HostAndPort {
  readonly path: string;
}

/** The target of an absolute request, or what is wrong with it. */
function readTarget(url: string): Target | string {
  if (url.startsWith('/') || url === '*')
    return 'this is a proxy: request an absolute URL, for example http://example.org/';
  const match = /^http:\/\/([^/?#]*)([/?][^#]*)?(?:#.*)?$/i.exec(url);
  if (match === null) return 'only http:// URLs are forwarded; use CONNECT for https';
  const [, authority = '', path = '/'] = match;
  if (authority.includes('@')) return 'URLs with a user name or password are not forwarded';
  if (!/^[\x21-\x7e]*$/.test(path)) return 'the path must be ASCII; percent-encode other characters';
  const asked = readAuthority(authority, 80);
  if (asked === undefined) return 'the URL has an invalid or ambiguous host';
  return { ...asked, path: path.startsWith('?') ? `/${path}` : path };
}

async function forward(request: IncomingMessage, response: ServerResponse, options: HttpProxyOptions): Promise<void> {
  const { gate, meter } = options;
  const target = readTarget(request.url ?? '');
  const body = bodyHeaders(request);
  if (typeof target === 'string' || body === undefined) {
    reportMalformed(request, options);
    return answer(
      response,
      400,
      typeof target === 'string' ? target : 'the only supported transfer-encoding is chunked',
    );
  }
  const reached = await gate.reach(target, whenGone(request.socket));
  if (isProblem(reached)) return answer(response, STATUS[reached.refusal], reached.message);
  if (response.destroyed) return void reached.destroy();
  closeWhenIdle(reached, options.idleMs);
  response.once('close', () => reached.destroy());
  const { host, port, path } = target;
  const hostHeader = port === 80 ? writeAuthority(host, port).replace(/:80$/, '') : writeAuthority(host, port);
  const onward = sendRequest({
    method: request.method,
    path,
    headers: [...endToEnd(request), ...body, 'Host', hostHeader, 'Connection', 'close'],
    setHost: false,
    createConnection: () => reached,
  });
  onward.on('error', () => answer(response, 502, `${writeAuthority(host, port)} sent an invalid response`));
  onward.on('response', (answered) => respond(answered, response, meter));
  request.on('data', (chunk: Uint8Array) => {
    if (!meter.take(chunk.length)) request.destroy();
  });
  request.pipe(onward);
}

function respond(answered: IncomingMessage, response: ServerResponse, meter: ByteMeter): void {
  const status = answered.statusCode ?? 0;
  if (status < 200) return answer(response, 502, 'the server sent an invalid status');
  const length = answered.headers['content-length'];
  const isFramed = length !== undefined && answered.headers['transfer-encoding'] === undefined;
  response.shouldKeepAlive = false;
  response.sendDate = false;
  response.writeHead(status, [...endToEnd(answered), ...(isFramed ? ['Content-Length', length] : [])]);
  answered.on('data', (chunk: Uint8Array) => {
    if (!meter.take(chunk.length)) response.destroy();
  });
  // A truncated response must not look complete.
  answered.on('error', () => response.destroy());
  answered.on('aborted', () => response.destroy());
  answered.pipe(response);
}

/** The framing of the forwarded body: as received, by length or chunked. `undefined` for any other transfer-encoding. */
function bodyHeaders({ headers }: IncomingMessage): readonly string[] | undefined {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined)
    return coding.trim().toLowerCase() === 'chunked' ? ['Transfer-Encoding', 'chunked'] : undefined;
  const length = headers['content-length'];
  return length === undefined ? [] : ['Content-Length', length];
}

/** The end-to-end headers: names and values alternate, as in Node's raw headers. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const lower = name.toLowerCase();
    const isEndToEnd = !HOP_BY_HOP.has(lower) && !named.has(lower);
    if (isEndToEnd && HEADER_NAME.test(name) && !NOT_IN_VALUE.test(value)) kept.push(name, value);
  }
  return kept;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** Characters that Node's parser accepts and its writer rejects. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

function reportMalformed({ url = '' }: IncomingMessage, { onDecision }: HttpProxyOptions): void {
  onDecision({ host: printable(url.slice(0, MAX_REPORTED)), port: 0, allowed: false, rule: 'malformed' });
}

function whenGone(socket: Duplex): AbortSignal {
  const gone = new AbortController();
  if (socket.destroyed) gone.abort();
  socket.once('close', () => gone.abort());
  return gone.signal;
}

function closeWhenIdle(socket: Socket, idleMs: number): void {
  socket.setTimeout(idleMs, () => socket.destroy());
}
