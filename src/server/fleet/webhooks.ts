/**
 * Webhooks: a signed request for each run that ends. A delivery is a row that is written with the end of the run and tried until the
 * receiver accepts it, so none is lost when a server ends.
 */
import { createHmac, randomBytes } from 'node:crypto';

import type { Pool } from 'pg';

import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';

const MAX_TRIES = 8;
const TIMEOUT_MS = 10_000;

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly createdAt: Date;
}

/** Returns the secret that signs requests, once. Throws `input/invalid` unless the address is https, or http on the loopback. */
export async function addWebhook(
  pool: Pool,
  project: string,
  url: string,
): Promise<Webhook & { readonly secret: string }> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = parsed?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(parsed.hostname);
  if (parsed === undefined || (parsed.protocol !== 'https:' && !isLocal) || parsed.username !== '')
    throw new SkillError({
      code: 'input/invalid',
      message: `${quoted(url, 200)} cannot be a webhook`,
      hint: 'use an https address without user and password; http works on the loopback only',
      data: { expected: 'https://...' },
    });
  const secret = randomBytes(32).toString('base64url');
  const { rows } = await pool.query<Webhook>(
    `insert into skillwright.webhooks (id, project, url, secret) values ($1, $2, $3, $4)
     returning id, url, created_at as "createdAt"`,
    [randomBytes(6).toString('hex'), project, parsed.href, secret],
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

interface Due {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly body: object;
  readonly tries: number;
}

/** Sends what is due. Several servers may call this at once: each delivery is taken by one, for as long as a try may take. */
export async function deliver(pool: Pool, signal: AbortSignal): Promise<number> {
  const { rows } = await pool.query<Due>(
    `update skillwright.deliveries d set tries = tries + 1, due_at = now() + make_interval(secs => least(3600, 15 * 2 ^ d.tries))
     from skillwright.webhooks w
     where w.id = d.webhook and d.id in (
       select id from skillwright.deliveries where done_at is null and due_at <= now() and tries < $1
       order by due_at for update skip locked limit 20)
     returning d.id, w.url, w.secret, d.body, d.tries`,
    [MAX_TRIES],
  );
  await Promise.all(rows.map((due) => send(pool, due, signal)));
  return rows.length;
}

async function send(pool: Pool, { id, url, secret, body }: Due, signal: AbortSignal): Promise<void> {
  const text = JSON.stringify({ delivery: id, ...body });
  const time = String(Math.floor(Date.now() / 1_000));
  let problem: string | undefined;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'skillwright-signature': `t=${time},v1=${signatureOf(secret, time, text)}`,
      },
      body: text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await answer.body?.cancel();
    if (!answer.ok) problem = `the receiver answered ${String(answer.status)}`;
  } catch (error) {
    problem = error instanceof Error ? error.message : 'unknown error';
  }
  await pool.query(
    'update skillwright.deliveries set done_at = case when $2::text is null then now() end, problem = $2 where id = $1',
    [id, problem ?? null],
  );
}

/** HMAC-SHA256 over the time and the body, so that an old request cannot be sent again. */
export function signatureOf(secret: string, time: string, body: string): string {
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
}
