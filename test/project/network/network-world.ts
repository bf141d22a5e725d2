import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createPlainServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

import type { NetworkRequest } from '../../../src/core/action.ts';
import { networkRequest, type NetworkRequestOptions } from '../../../src/project/network/network-request.ts';
import { CERTIFICATE, KEY } from './certificate.ts';

export interface Site {
  readonly port: number;
  readonly origin: string;
  /** `METHOD path`, headers as they came, body. */
  readonly requests: readonly {
    readonly line: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
  /** Once every connection that was made is over. */
  readonly allOver: () => Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback, closed when the test is over. */
export async function openSite(answer: Answer, { secure = false, host = '127.0.0.1' } = {}): Promise<Site> {
  const requests: Site['requests'][number][] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      requests.push({ line: `${request.method ?? ''} ${request.url ?? ''}`, headers, body });
      response.sendDate = false;
      response.on('error', () => undefined);
      answer(request, response);
    });
  };
  const server = secure ? createSecureServer({ cert: CERTIFICATE, key: KEY }, listener) : createServer(listener);
  const open: Promise<unknown>[] = [];
  server.on('connection', (socket) => {
    open.push(
      new Promise((resolve) => {
        socket.once('close', resolve);
      }),
    );
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  const port = portOf(server.address());
  const name = host.includes(':') ? `[${host}]` : host;
  const allOver = async (): Promise<void> => {
    await Promise.all(open);
  };
  return { port, origin: `${secure ? 'https' : 'http'}://${name}:${String(port)}`, requests, allOver };
}

/** A server of bytes. */
export async function openPort(
  talk: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly origin: string }> {
  const open = new Set<Socket>();
  const server = createPlainServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  const port = portOf(server.address());
  return { port, origin: `http://127.0.0.1:${String(port)}` };
}

function portOf(address: ReturnType<ReturnType<typeof createPlainServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Asks with the ports of the sites granted, and every host decided for. */
export async function ask(
  sites: readonly { readonly origin: string }[],
  action: Omit<NetworkRequest, 'type'>,
  options: Partial<NetworkRequestOptions> = {},
) {
  const grants = sites.map(({ origin }) => `private://${origin.replace(/^https?:\/\//, '')}`);
  return await networkRequest({ type: 'network_request', ...action }, { grants, decideHost: () => true, ...options });
}

/** The code of the failure, or the status of the answer. */
export async function outcome(asked: ReturnType<typeof ask>): Promise<string | number> {
  const received = await asked;
  return received.type === 'failed' ? received.code : received.status;
}
