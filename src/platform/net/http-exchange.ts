/** One HTTP request on a connection from the network gate, up to the head of the response. No cookies, proxies or agent. */
import { request as openRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectSecurely, rootCertificates } from 'node:tls';

import type { HostAndPort } from '#core';

/** The URL and server of one connection. */
export interface HttpTarget extends HostAndPort {
  readonly type: 'target';
  readonly url: URL;
  readonly isSecure: boolean;
  /** `host:port`, normalized. */
  readonly authority: string;
}

export interface HttpExchange {
  readonly target: HttpTarget;
  readonly method: string;
  /** Names in lower case. `host`, `connection` and `content-length` are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Additional trusted certificates, in PEM. */
  readonly certificates?: readonly string[] | undefined;
  /** Closes the connection, also after the head was received. */
  readonly stop: AbortSignal;
}

const MAX_HEADER_SIZE = 32 * 1024;

/** Takes over the connection. Throws connection errors, and destroys the connection then. */
export async function exchangeOver(reached: Socket, exchange: HttpExchange): Promise<IncomingMessage> {
  const { target, stop, certificates } = exchange;
  const end = (): void => {
    reached.destroy();
  };
  stop.addEventListener('abort', end, { once: true });
  reached.once('close', () => stop.removeEventListener('abort', end));
  try {
    const socket = target.isSecure ? await secured(reached, target, certificates) : reached;
    return await sendOver(socket, exchange);
  } catch (error) {
    reached.destroy();
    throw error;
  }
}

/** Certificates are always verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
function secured(socket: Socket, { host }: HttpTarget, certificates: HttpExchange['certificates']): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connectSecurely({
      socket,
      host: host.name,
      // SNI carries host names only, no addresses.
      servername: host.isAddress ? '' : host.name,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ca: certificates === undefined ? undefined : [...rootCertificates, ...certificates],
    });
    secure.once('secureConnect', () => resolve(secure));
    secure.on('error', reject);
    secure.once('close', () => reject(lost('the connection closed during the TLS handshake')));
  });
}

function sendOver(socket: Socket, { target: { url }, method, headers, body }: HttpExchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = openRequest({
      // Used only without an `agent` option, even `false`: an agent would connect by itself and bypass the gate.
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      setHost: false,
      maxHeaderSize: MAX_HEADER_SIZE,
      insecureHTTPParser: false,
      headers: {
        'user-agent': 'skillwright',
        accept: '*/*',
        ...headers,
        host: url.host,
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
    });
    sent.once('response', resolve);
    // Stays registered: a later error surfaces in the body and must not crash the process.
    sent.on('error', reject);
    sent.once('upgrade', (_response, upgraded) => {
      upgraded.destroy();
      reject(lost('the server switched to another protocol'));
    });
    sent.once('close', () => reject(lost('the connection closed before a response')));
    sent.end(body);
  });
}

function lost(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
