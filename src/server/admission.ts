/** Who may speak to a server on this machine. Every program and every page of a browser can reach a port: only a token tells them apart. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { sha256 } from '../platform/hash.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

export interface Admission {
  readonly token: string;
  readonly port: number;
}

/** Why a request is not listened to; nothing where it is. */
export function refusalOf(request: IncomingMessage, url: URL, { token, port }: Admission): Refusal | undefined {
  // A name of somebody else's that leads here is how a page reaches a server that is not its own.
  if (!isOurName(request.headers.host, port)) return { status: 421, message: 'this server goes by another name' };
  const { origin } = request.headers;
  if (origin !== undefined && !isOurOrigin(origin, port))
    return { status: 403, message: 'pages of other servers are not answered' };
  if (!isSame(givenToken(request, url), token))
    return { status: 401, message: 'the token is missing or wrong: Authorization: Bearer TOKEN' };
  return undefined;
}

const NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

function isOurName(host: string | undefined, port: number): boolean {
  return host !== undefined && NAMES.some((name) => host.toLowerCase() === `${name}:${String(port)}`);
}

function isOurOrigin(origin: string, port: number): boolean {
  return NAMES.some((name) => origin === `http://${name}:${String(port)}`);
}

/** In the address only where a page reads events, for which browsers send no headers of its own. */
function givenToken({ headers, method }: IncomingMessage, url: URL): string {
  const [, given] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '') ?? [];
  return given ?? (method === 'GET' ? (url.searchParams.get('token') ?? '') : '');
}

/** Takes as long for every token: what is compared are hashes, which have one length. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
}
