/** Authenticates requests to the loopback server. Any local program or web page can reach the port, so each request needs the token. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { sha256 } from '../hash.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

export interface Admission {
  readonly token: string;
  readonly port: number;
}

/** Returns why a request is refused, or undefined if it is accepted. */
export function checkAdmission(request: IncomingMessage, url: URL, { token, port }: Admission): Refusal | undefined {
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
