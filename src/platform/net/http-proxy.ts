import { STATUS_CODES, createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { readAuthority, writeAuthority } from '../../core/network/host-pattern.ts';
import type { HostAndPort } from '../../core/network/host-pattern.ts';
import { printable } from '../../core/text/text.ts';
import { joinSockets } from './joined-sockets.ts';
import type { ByteMeter } from './joined-sockets.ts';
import { isRefused } from './network-gate.ts';
import type { NetworkDecision, NetworkGate, Refusal } from './network-gate.ts';

export interface HttpProxyOptions {
  readonly gate: NetworkGate;
  readonly meter: ByteMeter;
  readonly onDecision: (decision: NetworkDecision) => void;
  /** The head of a request is complete: its deadline is over. */
  readonly onHead: (socket: Duplex) => void;
  readonly idleMs: number;
}

const MAX_HEAD_BYTES = 16 * 1024;
/** Of an address that is told on: what does not fit is no host anyway. */
const MAX_TOLD = 200;

const STATUS: Readonly<Record<Refusal, number>> = {
  malformed: 400,
  limit: 403,
  'not-granted': 403,
  'not-public': 403,
  unresolved: 502,
  unreachable: 502,
};

/** Belongs to one connection and not to the message; `host` and what frames the body are written anew. */
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
 * A proxy that is given connections by `emit('connection', socket)`. One request a connection: the next one would have to be told from
 * the rest of the first, and disagreement about that is how requests are smuggled.
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
    if (isFirst(request.socket)) void forward(request, response, options);
    else request.socket.destroy();
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Uint8Array) => {
    if (!isFirst(socket)) return void socket.destroy();
    if (head.length > 0) socket.unshift(head);
    void tunnel(request, socket, options);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (served.has(socket) || !socket.writable) return void socket.destroy();
    served.add(socket);
    if (error.code === 'HPE_HEADER_OVERFLOW')
      answerRaw(socket, 431, `a head of more than ${String(MAX_HEAD_BYTES)} bytes`);
    else answerRaw(socket, 400, 'this is not a request that can be understood in only one way');
  });
  return server;
}

/** A whole answer on a connection that no response object belongs to. */
export function answerRaw(socket: Duplex, status: number, message: string): void {
  const body = bodyOf(message);
  socket.end(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${String(Buffer.byteLength(body))}\r\nconnection: close\r\n\r\n${body}`,
  );
  // A client that goes on writing and never reads would keep it half open.
  socket.once('finish', () => socket.destroy());
}

function answer(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = bodyOf(message);
  response.shouldKeepAlive = false;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function bodyOf(message: string): string {
  return `skillwright: ${printable(message)}\n`;
}

async function tunnel(request: IncomingMessage, socket: Duplex, options: HttpProxyOptions): Promise<void> {
  const { gate, meter } = options;
  const asked = readAuthority(request.url ?? '');
  if (asked === undefined) {
    tellMalformed(request, options);
    return answerRaw(socket, 400, 'CONNECT needs a host and a port, such as example.org:443');
  }
  const gone = whenGone(socket);
  const reached = await gate.reach(asked, gone);
  if (isRefused(reached)) {
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

/** The address of an absolute request, or what is wrong with it. */
function readTarget(url: string): Target | string {
  if (url.startsWith('/') || url === '*')
    return 'this is a proxy: ask for a whole address, such as http://example.org/';
  const match = /^http:\/\/([^/?#]*)([/?][^#]*)?(?:#.*)?$/i.exec(url);
  if (match === null) return 'only http:// is forwarded; https goes through CONNECT';
  const [, authority = '', path = '/'] = match;
  if (authority.includes('@')) return 'an address with a user or password in it is not forwarded';
  if (!/^[\x21-\x7e]*$/.test(path)) return 'a path is written in ASCII, with % for everything else';
  const asked = readAuthority(authority, 80);
  if (asked === undefined) return 'the address has no host that can be understood in only one way';
  return { ...asked, path: path.startsWith('?') ? `/${path}` : path };
}

async function forward(request: IncomingMessage, response: ServerResponse, options: HttpProxyOptions): Promise<void> {
  const { gate, meter } = options;
  const target = readTarget(request.url ?? '');
  const body = bodyHeaders(request);
  if (typeof target === 'string' || body === undefined) {
    tellMalformed(request, options);
    return answer(
      response,
      400,
      typeof target === 'string' ? target : 'only chunked is understood as transfer-encoding',
    );
  }
  const reached = await gate.reach(target, whenGone(request.socket));
  if (isRefused(reached)) return answer(response, STATUS[reached.refusal], reached.message);
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
  onward.on('error', () =>
    answer(response, 502, `${writeAuthority(host, port)} gave no answer that can be understood`),
  );
  onward.on('response', (answered) => respond(answered, response, meter));
  request.on('data', (chunk: Uint8Array) => {
    if (!meter.take(chunk.length)) request.destroy();
  });
  request.pipe(onward);
}

function respond(answered: IncomingMessage, response: ServerResponse, meter: ByteMeter): void {
  const status = answered.statusCode ?? 0;
  if (status < 200) return answer(response, 502, 'the answer has no status that can be understood');
  const length = answered.headers['content-length'];
  const isFramed = length !== undefined && answered.headers['transfer-encoding'] === undefined;
  response.shouldKeepAlive = false;
  response.sendDate = false;
  response.writeHead(status, [...endToEnd(answered), ...(isFramed ? ['Content-Length', length] : [])]);
  answered.on('data', (chunk: Uint8Array) => {
    if (!meter.take(chunk.length)) response.destroy();
  });
  // An answer that breaks off must not look complete.
  answered.on('error', () => response.destroy());
  answered.on('aborted', () => response.destroy());
  answered.pipe(response);
}

/** How the body is framed onward: as it came, counted or chunked, and never by what other headers claim. */
function bodyHeaders({ headers }: IncomingMessage): readonly string[] | undefined {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined)
    return coding.trim().toLowerCase() === 'chunked' ? ['Transfer-Encoding', 'chunked'] : undefined;
  const length = headers['content-length'];
  return length === undefined ? [] : ['Content-Length', length];
}

/** Names and values in turn, as Node's raw headers are. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const lower = name.toLowerCase();
    const isOfMessage = !HOP_BY_HOP.has(lower) && !named.has(lower);
    if (isOfMessage && HEADER_NAME.test(name) && !NOT_IN_VALUE.test(value)) kept.push(name, value);
  }
  return kept;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** What Node's parser lets pass and its writer does not. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

function tellMalformed({ url = '' }: IncomingMessage, { onDecision }: HttpProxyOptions): void {
  onDecision({ host: printable(url.slice(0, MAX_TOLD)), port: 0, allowed: false, rule: 'malformed' });
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
