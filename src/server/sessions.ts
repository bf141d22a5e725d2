/**
 * Sessions of browsers. A link works once and sets a cookie, so that the address of the page has no secret. Cookies are authenticated by a
 * key and bound to a purpose; with a key that outlives the process, an open page reconnects after a restart.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { openSeals, sha256 } from '#platform';

export interface SessionOptions {
  readonly key: Uint8Array;
  /** What a session is for; a cookie of another project or port is not accepted. */
  readonly purpose: string;
  readonly port: number;
}

export interface Sessions {
  /** Why a request has no session, or undefined. */
  readonly refusal: (request: IncomingMessage) => { readonly status: number; readonly message: string } | undefined;
  readonly newLink: () => string;
  /** Uses up a link token; returns the `Set-Cookie` header of the new session, or undefined. */
  readonly redeem: (link: string) => string | undefined;
}

const SESSION_MS = 7 * 24 * 60 * 60 * 1_000;
const MAX_LINKS = 100;

export function openSessions({ key, purpose, port }: SessionOptions): Sessions {
  const links = new Set<string>();
  const cookie = `skillwright-${String(port)}`;
  const seals = openSeals(key, `skillwright session 1 ${purpose} ${String(port)}`);
  const isSession = (value: string): boolean => {
    const [, body = '', issued = '', mac = ''] = /^((\d{10,16})\.[\w-]{22})\.([0-9a-f]{64})$/.exec(value) ?? [];
    const age = Date.now() - Number(issued);
    return body !== '' && age >= 0 && age < SESSION_MS && seals.isValid(mac, body);
  };
  return {
    refusal(request) {
      if (!isSession(readCookie(request, cookie)))
        return { status: 401, message: 'missing or invalid token: send Authorization: Bearer TOKEN' };
      // Browsers send cookies to every port of a host, also for pages of other ports.
      const site = request.headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin' && site !== 'none')
        return { status: 403, message: 'requests of other pages are not allowed' };
      // A wrong origin was refused before.
      if (request.method !== 'GET' && request.headers.origin === undefined)
        return { status: 403, message: 'a request with a session cookie needs an Origin header' };
      return undefined;
    },
    newLink() {
      const link = randomBytes(32).toString('base64url');
      links.add(link);
      const [oldest] = links;
      if (links.size > MAX_LINKS && oldest !== undefined) links.delete(oldest);
      return link;
    },
    redeem(link) {
      const found = [...links].find((known) => isSame(link, known));
      if (found === undefined) return undefined;
      links.delete(found);
      const body = `${String(Date.now())}.${randomBytes(16).toString('base64url')}`;
      const value = `${body}.${seals.compute(body)}`;
      return `${cookie}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${String(SESSION_MS / 1_000)}`;
    },
  };
}

function readCookie({ headers }: IncomingMessage, name: string): string {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return '';
}

/** Compares hashes in constant time, so that neither content nor length leaks. */
function isSame(secret: string, link: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(secret)), Buffer.from(sha256(link)));
}
