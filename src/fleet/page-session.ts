/** Sessions of browsers: a person exchanges a key for a cookie, so that the page never has the key. Every server of the fleet knows them. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Pool } from 'pg';

import { LOOPBACK_HEADERS, sha256 } from '#platform';
import { httpError, readForm } from '#server';
import type { Identity } from './keys.ts';

const COOKIE = 'skillwright-fleet';
const SESSION_SECONDS = 12 * 60 * 60;

/** The token of the session of a request; empty without one. Throws a 403 for a request of another page. */
export function sessionToken({ headers, method }: IncomingMessage): string {
  const [, token = ''] = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{43})(?:;|$)`).exec(headers.cookie ?? '') ?? [];
  if (token === '') return '';
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw httpError(403, 'requests of other pages are not allowed');
  if (method !== 'GET' && !isOwnOrigin(headers))
    throw httpError(403, 'a request with a session cookie needs the Origin header of this server');
  return token;
}

/** A proxy in front names the host that the browser sees. Pages cannot set either header. */
function isOwnOrigin({ origin, host, 'x-forwarded-host': forwarded }: IncomingMessage['headers']): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  return [host, forwarded].includes(new URL(origin).host);
}

export async function sessionIdentity(pool: Pool, token: string): Promise<Identity | undefined> {
  const { rows } = await pool.query<Identity>(
    `select k.id as actor, k.project, k.rights from skillwright.sessions s join skillwright.keys k on k.id = s.key
     where s.hash = $1 and s.expires_at > now() and k.revoked_at is null`,
    [sha256(Buffer.from(token))],
  );
  return rows[0];
}

/** Answers `POST /login`: checks the key of the form and opens a session. */
export async function logIn(
  request: IncomingMessage,
  response: ServerResponse,
  { pool, keyring }: { readonly pool: Pool; readonly keyring: (key: string) => Promise<Identity | undefined> },
): Promise<void> {
  if (!isOwnOrigin(request.headers)) throw httpError(403, 'log in on the page of this server');
  const form = await readForm(request, 4_096);
  const identity = await keyring((form.get('key') ?? '').trim());
  if (identity === undefined) return sendLogin(response, 'This key is not known, or was revoked.');
  const token = randomBytes(32).toString('base64url');
  await pool.query('delete from skillwright.sessions where expires_at < now()');
  await pool.query(
    'insert into skillwright.sessions (hash, key, expires_at) values ($1, $2, now() + make_interval(secs => $3))',
    [sha256(Buffer.from(token)), identity.actor, SESSION_SECONDS],
  );
  const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  response.writeHead(303, {
    ...LOOPBACK_HEADERS,
    'set-cookie': `${COOKIE}=${token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${String(SESSION_SECONDS)}${secure}`,
    location: '/',
  });
  response.end();
}

/** The page that asks for a key. It has no script. */
export function sendLogin(response: ServerResponse, problem = ''): void {
  response.writeHead(problem === '' ? 200 : 401, {
    ...LOOPBACK_HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-frame-options': 'DENY',
    // With no-referrer a browser sends the form with `Origin: null`, which is refused.
    'referrer-policy': 'same-origin',
  });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Skillwright</title>
<h1>Skillwright</h1>
<form method="post" action="/login">
<p><label>Key of your project <input name="key" type="password" autocomplete="current-password" required autofocus></label>
<button>Open the console</button></p>
${problem === '' ? '' : `<p role="alert">${problem}</p>`}
<p>An administrator creates keys: <code>skillwright fleet keys create NAME --rights read --rights submit --rights approve</code></p>
</form>
</html>
`);
}
