import { chmodSync, chownSync } from 'node:fs';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { quoted, SkillError } from '#core';
import { answerRaw, httpProxy } from './http-proxy.ts';
import { byteMeter, takeBytes } from './joined-sockets.ts';
import { networkGate, readGrant, type NetworkDecision, type ResolveHost } from './network-gate.ts';
import { SOCKS_VERSION, serveSocks } from './socks-proxy.ts';
import { isSystemError } from '../system-error.ts';

interface ProxyLimits {
  /** Bytes of all connections together, in both directions. */
  readonly bytes: number;
  /** Concurrent connections. */
  readonly connections: number;
  /** A connection without traffic is closed after this time. */
  readonly idleMs: number;
  /** From the first byte of a request to the end of its head. */
  readonly headMs: number;
  /** Timeout of a name lookup, and of each connection attempt. */
  readonly connectMs: number;
}

const DEFAULT_PROXY_LIMITS: ProxyLimits = {
  bytes: 512 * 1024 * 1024,
  connections: 64,
  idleMs: 120_000,
  headMs: 10_000,
  connectMs: 10_000,
};

export interface AllowProxyOptions {
  /** Host patterns; see core/network/host-pattern.ts. */
  readonly hosts: readonly string[];
  /** Unix socket for programs; only `owner` can connect (default: this user). */
  readonly socketPath?: string;
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Also listen on a port of 127.0.0.1, where every user of this machine can connect. */
  readonly loopback?: boolean;
  readonly resolve?: ResolveHost;
  readonly proxyFrom?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ProxyLimits>;
  readonly onDecision?: (decision: NetworkDecision) => void;
}

export interface AllowProxy {
  /** The port on 127.0.0.1, with `loopback`. */
  readonly port: number | undefined;
  /** Bytes transferred so far. */
  transferred(): number;
  /** Closes every connection. May be called twice. */
  close(): Promise<void>;
}

/** Maximum length of a unix socket path in bytes; the system truncates a longer one silently. */
const MAX_SOCKET_PATH = 103;

/**
 * A proxy for sandboxed programs without network: HTTP (absolute requests and CONNECT) and SOCKS 5 on one socket, to granted hosts only.
 * It resolves names itself, because programs in the sandbox cannot.
 */
export async function openAllowProxy(options: AllowProxyOptions): Promise<AllowProxy> {
  const {
    hosts,
    socketPath,
    owner,
    loopback = false,
    resolve,
    proxyFrom,
    signal,
    onDecision = () => undefined,
  } = options;
  const limits = { ...DEFAULT_PROXY_LIMITS, ...options.limits };
  const grants = hosts.map(readGrant);
  if (socketPath !== undefined) checkSocketPath(socketPath);
  signal?.throwIfAborted();

  const open = new Set<Socket>();
  const closing = new AbortController();
  const heads = new Map<Duplex, () => void>();
  const meter = byteMeter(limits.bytes, () => {
    for (const socket of open) socket.destroy();
  });
  const gate = networkGate({
    grants,
    connectMs: limits.connectMs,
    onDecision,
    resolve,
    proxyFrom,
  });
  const web = httpProxy({
    gate,
    meter,
    onDecision,
    idleMs: limits.idleMs,
    onHead: (socket) => heads.get(socket)?.(),
  });

  const accept = (socket: Socket): void => {
    if (open.size >= limits.connections || closing.signal.aborted) return void socket.destroy();
    open.add(socket);
    const gone = new AbortController();
    const deadline = setTimeout(() => {
      answerRaw(socket, 408, 'timeout: the request was not complete in time');
      gone.abort();
    }, limits.headMs);
    const headIsComplete = (): void => clearTimeout(deadline);
    heads.set(socket, headIsComplete);
    // Clients disconnect by a reset; `close` follows.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(limits.idleMs, () => socket.destroy());
    socket.once('close', () => {
      headIsComplete();
      heads.delete(socket);
      open.delete(socket);
      gone.abort();
    });
    serve(socket, gone.signal, headIsComplete).catch(() => socket.destroy());
  };
  const serve = async (socket: Socket, gone: AbortSignal, onHead: () => void): Promise<void> => {
    const first = await takeBytes(socket, 1, gone);
    const [kind] = first;
    if (kind === undefined) return void socket.destroy();
    socket.unshift(first);
    if (meter.total > limits.bytes)
      return answerRaw(socket, 403, `the limit of ${String(limits.bytes)} bytes is used up`);
    if (kind === SOCKS_VERSION) return await serveSocks(socket, { gate, meter, onDecision, onHead, signal: gone });
    // Every HTTP request begins with a letter; SOCKS 4 and TLS do not.
    if (kind < 0x41 || kind > 0x7a) return answerRaw(socket, 400, 'this proxy supports HTTP and SOCKS 5');
    web.emit('connection', socket);
  };

  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    closing.abort();
    signal?.removeEventListener('abort', onAbort);
    for (const socket of open) socket.destroy();
    await Promise.all(servers.splice(0).map(closeServer));
  };
  const onAbort = (): void => void close().catch(() => undefined);
  const listen = async (where: ListenOptions): Promise<Server> => {
    const server = createServer({ allowHalfOpen: true }, accept);
    servers.push(server);
    await listening(server, where);
    return server;
  };
  try {
    if (socketPath !== undefined) {
      await listen({ path: socketPath });
      chmodSync(socketPath, 0o600);
      if (owner !== undefined) chownSync(socketPath, owner.uid, owner.gid);
    }
    const onPort = loopback ? (await listen({ host: '127.0.0.1', port: 0 })).address() : null;
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) await close();
    return {
      port: typeof onPort === 'object' ? onPort?.port : undefined,
      transferred: () => meter.total,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function checkSocketPath(socketPath: string): void {
  if (Buffer.byteLength(socketPath) <= MAX_SOCKET_PATH) return;
  throw new SkillError({
    code: 'executor/failed',
    message: `the socket path ${quoted(socketPath)} is too long: the limit is ${String(MAX_SOCKET_PATH)} bytes`,
    hint: 'use a workspace folder with a shorter path',
    data: { executor: 'network', cause: 'socket path too long' },
  });
}

function listening(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        isSystemError(error)
          ? new SkillError({
              code: 'executor/failed',
              message: `the network proxy cannot listen: ${error.message}`,
              hint: 'check that the workspace folder exists and is writable',
              data: { executor: 'network', cause: error.code },
              cause: error,
            })
          : error,
      );
    });
    server.listen(where, resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
