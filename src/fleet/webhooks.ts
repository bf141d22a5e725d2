/**
 * Webhooks: a signed request for each run that ends. A delivery is a row that is written with the end of the run and tried until the
 * receiver accepts it, so none is lost when a server ends. The owner of a key chooses the address, so a request goes to the internet only:
 * what is on this machine or in its network must be granted to the server.
 */
import { createHmac, randomBytes } from 'node:crypto';

import type { Pool } from 'pg';
import type { z } from 'zod';

import { isProblem, findGrant, invalidInput, quoted, readAddress, type HostPattern } from '#core';
import { readGrant, httpTarget, requestGuarded } from '#platform';
import type { Webhook as WebhookRow } from './api.ts';
import { reasonText } from './database.ts';

const MAX_TRIES = 8;
const TIMEOUT_MS = 10_000;
const CONNECT_MS = 5_000;

type Webhook = z.input<typeof WebhookRow>;

/** Returns the secret that signs requests, once. Throws `input/invalid` for an address that no request may be sent to. */
export async function addWebhook(
  pool: Pool,
  project: string,
  url: string,
  granted: readonly HostPattern[],
): Promise<Webhook & { readonly secret: string }> {
  const address = checkAddress(url, granted);
  const secret = randomBytes(32).toString('base64url');
  const { rows } = await pool.query<Webhook>(
    `insert into skillwright.webhooks (id, project, url, secret) values ($1, $2, $3, $4)
     returning id, url, created_at as "createdAt"`,
    [randomBytes(6).toString('hex'), project, address, secret],
  );
  const [webhook] = rows;
  if (webhook === undefined) throw new TypeError('the webhook was not stored');
  return { ...webhook, secret };
}

export async function listWebhooks(pool: Pool, project: string): Promise<readonly Webhook[]> {
  const { rows } = await pool.query<Webhook>(
    'select id, url, created_at as "createdAt" from skillwright.webhooks where project = $1 order by created_at',
    [project],
  );
  return rows;
}

export async function removeWebhook(pool: Pool, project: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from skillwright.webhooks where id = $1 and project = $2', [
    id,
    project,
  ]);
  return rowCount === 1;
}

/** Returns the address as it is stored. Throws `input/invalid` for one that no request may be sent to. */
export function checkAddress(url: string, granted: readonly HostPattern[]): string {
  const target = resolveTarget(url, granted);
  if (typeof target !== 'string') return target.url.href;
  throw invalidInput(
    `${quoted(url, 200)} cannot be a webhook: ${target}`,
    'https://...',
    'use an https address on the internet; for others start the server with --webhooks-to private://HOST:PORT',
  );
}

/** Where a request is sent, or why none is. A name is checked when it is resolved, before each request. */
function resolveTarget(
  address: string,
  granted: readonly HostPattern[],
): NonNullable<ReturnType<typeof httpTarget>> | string {
  const target = URL.canParse(address) ? httpTarget(new URL(address)) : undefined;
  if (target === undefined) return 'it is not an http address';
  const { url, host, port, isSecure } = target;
  if (url.username !== '' || url.password !== '') return 'it has a user or a password';
  const isGranted = findGrant(granted, host, port) !== undefined;
  if (!isSecure && !isGranted) return 'the connection would not be encrypted';
  if (host.isAddress && readAddress(host.name)?.kind !== 'public' && !isGranted)
    return `${host.name} is not an address on the internet`;
  return target;
}

interface Due {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly body: object;
}

/** Sends what is due. Several servers may call this at once: each delivery is taken by one, for as long as a try may take. */
export async function deliver(pool: Pool, signal: AbortSignal, granted: readonly HostPattern[]): Promise<number> {
  const { rows } = await pool.query<Due>(
    // The result of the last try was not stored.
    `with given_up as (
       update skillwright.deliveries set done_at = now(), problem = coalesce(problem, 'the last try was interrupted')
       where done_at is null and due_at <= now() and tries >= $1)
     update skillwright.deliveries d set tries = tries + 1, due_at = now() + make_interval(secs => least(3600, 15 * 2 ^ d.tries))
     where d.id in (
       select id from skillwright.deliveries where done_at is null and due_at <= now() and tries < $1
       order by due_at for update skip locked limit 20)
     returning d.id, d.body, coalesce(d.url, (select w.url from skillwright.webhooks w where w.id = d.webhook)) as url,
       coalesce(d.secret, (select w.secret from skillwright.webhooks w where w.id = d.webhook)) as secret`,
    [MAX_TRIES],
  );
  await Promise.all(
    rows.map(async (due) => {
      const stop = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const problem = await post(due, granted, stop).catch(reasonText);
      // If this is not stored, the receiver gets the same delivery again.
      await pool.query(
        'update skillwright.deliveries set done_at = case when $2::text is null or tries >= $3 then now() end, problem = $2 where id = $1',
        [due.id, problem ?? null, MAX_TRIES],
      );
    }),
  );
  return rows.length;
}

/** Returns what went wrong, or undefined. Redirections are not followed. */
async function post(
  { id, url, secret, body }: Due,
  granted: readonly HostPattern[],
  stop: AbortSignal,
): Promise<string | undefined> {
  const target = resolveTarget(url, granted);
  if (typeof target === 'string') return target;
  const text = JSON.stringify({ delivery: id, ...body });
  const time = String(Math.floor(Date.now() / 1_000));
  const headers = {
    'content-type': 'application/json',
    'skillwright-signature': `t=${time},v1=${signWebhook(secret, time, text)}`,
  };
  const result = await requestGuarded(
    { target, method: 'POST', headers, body: Buffer.from(text) },
    {
      stop,
      connectMs: CONNECT_MS,
      grants: ({ host, port, authority }) => [findGrant(granted, host, port) ?? readGrant(authority)],
      unreached: (problem) => problem,
    },
  );
  if (isProblem(result)) return result.message;
  const { statusCode = 0, socket } = result.response;
  socket.destroy();
  return statusCode >= 200 && statusCode < 300 ? undefined : `the receiver answered ${String(statusCode)}`;
}

/** HMAC-SHA256 over the time and the body, so that an old request cannot be sent again. */
export function signWebhook(secret: string, time: string, body: string): string {
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
}
