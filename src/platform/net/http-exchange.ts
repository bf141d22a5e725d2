/** One request on a connection that the gate reached, and the head of its answer. No cookies, no proxies, no agent. */
import { request as openRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectSecurely, rootCertificates } from 'node:tls';

import type { HostAndPort } from '../../core/network/host-pattern.ts';

/** An address that one connection goes to. */
export interface HttpTarget extends HostAndPort {
  readonly type: 'target';
  readonly url: URL;
  readonly isSecure: boolean;
  /** `host:port` in one spelling. */
  readonly authority: string;
}

export interface HttpExchange {
  readonly target: HttpTarget;
  readonly method: string;
  /** Names in lower case. The host and the end of the connection are added, and the length of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Certificates to trust besides those that Node knows, in PEM. */
  readonly certificates?: readonly string[] | undefined;
  /** Ends the connection, also after the head has come. */
  readonly stop: AbortSignal;
}

const MAX_HEADER_SIZE = 32 * 1024;

/** Takes the connection over, and destroys it where it throws the errors of connections. */
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

/** Certificates are verified whatever the surroundings of the process say. */
function secured(socket: Socket, { host }: HttpTarget, certificates: HttpExchange['certificates']): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connectSecurely({
      socket,
      host: host.name,
      // Only names are told: an address is no server name.
      servername: host.isAddress ? '' : host.name,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(certificates === undefined ? {} : { ca: [...rootCertificates, ...certificates] }),
    });
    secure.once('secureConnect', () => resolve(secure));
    secure.on('error', reject);
    secure.once('close', () => reject(lost('the connection closed before it was secure')));
  });
}

function sendOver(socket: Socket, { target: { url }, method, headers, body }: HttpExchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = openRequest({
      // Only without an agent, `false` included, is this asked: any agent would connect by itself, past the gate.
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
    // Also after the answer: what breaks later ends in the body, and must not end the process.
    sent.on('error', reject);
    sent.once('upgrade', (_response, upgraded) => {
      upgraded.destroy();
      reject(lost('the server wants to speak something else than HTTP'));
    });
    sent.once('close', () => reject(lost('the connection closed before an answer')));
    sent.end(body);
  });
}

function lost(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
