import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createWebServer, type Server as WebServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openAllowProxy, type AllowProxy, type AllowProxyOptions } from '../../../src/platform/net/allow-proxy.ts';
import type { NetworkDecision } from '../../../src/platform/net/network-gate.ts';

/** A web server on loopback that remembers who came. */
export interface Site {
  readonly port: number;
  /** Heads and bodies, as they arrived. */
  readonly requests: readonly string[];
  /** How many connections it saw at all. */
  connections(): number;
  close(): Promise<void>;
}

export async function openSite(): Promise<Site> {
  const requests: string[] = [];
  let connections = 0;
  const server = createWebServer((request, response) => {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}`);
      requests.push([`${request.method ?? ''} ${request.url ?? ''}`, ...headers.sort(), body].join('\n'));
      const size = Number(/^\/bytes\/(\d+)$/.exec(request.url ?? '')?.[1] ?? -1);
      response.setHeader('connection', 'close, x-secret');
      response.setHeader('x-secret', 'hop');
      response.setHeader('x-kept', 'yes');
      response.sendDate = false;
      response.end(size >= 0 ? 'x'.repeat(size) : `hello from ${request.headers.host ?? ''}`);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listen(server);
  return { port, requests, connections: () => connections, close: async () => await close(server) };
}

/** A server of bytes: whatever `talk` does with a connection. */
export async function openPort(talk: (socket: Socket) => void): Promise<{ port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    talk(socket);
  });
  return {
    port: await listen(server),
    close: async () => {
      for (const socket of open) socket.destroy();
      await close(server);
    },
  };
}

async function listen(server: Server | WebServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function close(server: Server | WebServer): Promise<void> {
  if ('closeAllConnections' in server) server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
}

export interface ProxyWorld {
  readonly proxy: AllowProxy;
  readonly socketPath: string;
  readonly folder: string;
  readonly decisions: readonly NetworkDecision[];
  readonly lookups: readonly string[];
  /** Sends bytes and gives everything that came back until the proxy closed. */
  readonly say: (...pieces: readonly (string | Uint8Array)[]) => Promise<string>;
  close(): Promise<void>;
}

/** A proxy on a unix socket whose names are looked up in `names`. */
export async function openProxyWorld(
  hosts: readonly string[],
  names: Readonly<Record<string, readonly string[]>> = {},
  options: Partial<AllowProxyOptions> = {},
): Promise<ProxyWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'proxy-'));
  const socketPath = path.join(folder, 's');
  const decisions: NetworkDecision[] = [];
  const lookups: string[] = [];
  const proxy = await openAllowProxy({
    hosts,
    socketPath,
    resolve: async (name) => {
      lookups.push(name);
      return names[name] ?? [];
    },
    onDecision: (decision) => {
      decisions.push(decision);
    },
    ...options,
  });
  return {
    proxy,
    socketPath,
    folder,
    decisions,
    lookups,
    say: async (...pieces) => await exchange(socketPath, pieces),
    close: async () => {
      await proxy.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Until the other side closes. A reset counts as closing: what came before it is the answer. */
export async function exchange(where: string | number, pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = typeof where === 'string' ? connect({ path: where }) : connect({ host: '127.0.0.1', port: where });
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => socket.destroy());
  for (const piece of pieces) {
    socket.write(piece);
    // Each piece arrives by itself: parsers meet them in every split.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  return text;
}
