/**
 * Links that need no key: to an output file of a run, or to its state and answer. A link is signed with the stored hash of the key that made
 * it, so every server of the fleet can check it, and it ends with that key.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Pool } from 'pg';

import { hasRight, type Identity } from './keys.ts';

const LINKED = /^\/api\/v1\/(?:runs\/[^/]+\/files\/.+|fleet\/runs\/[^/]+)$/;

export interface SignedLink {
  /** Below the address of the server. */
  readonly path: string;
  readonly expiresAt: Date;
}

export async function signLink(
  pool: Pool,
  { actor }: Pick<Identity, 'actor'>,
  { run, file, seconds }: { readonly run: string; readonly file?: string | undefined; readonly seconds: number },
): Promise<SignedLink> {
  const { rows } = await pool.query<{ hash: string; expires: string }>(
    `select hash, ceil(extract(epoch from now()) + $2)::text as expires from skillwright.keys where id = $1`,
    [actor, seconds],
  );
  const [row] = rows;
  if (row === undefined) throw new TypeError('the key of a request is stored');
  const { hash, expires } = row;
  const name = file?.split('/').map(encodeURIComponent).join('/');
  const id = encodeURIComponent(run);
  const path = name === undefined ? `/api/v1/fleet/runs/${id}` : `/api/v1/runs/${id}/files/${name}`;
  const query = new URLSearchParams({ key: actor, expires, signature: signature(hash, path, expires) });
  return { path: `${path}?${query.toString()}`, expiresAt: new Date(Number(expires) * 1_000) };
}

/** Who signed the address of a request; undefined if it is not signed, or the link or its key has ended. It may only be read. */
export async function linkIdentity(pool: Pool, { pathname, searchParams }: URL): Promise<Identity | undefined> {
  const [key, expires, given] = ['key', 'expires', 'signature'].map((name) => searchParams.get(name) ?? '');
  if (!LINKED.test(pathname) || !/^\d{1,12}$/.test(expires ?? '') || !/^[0-9a-f]{64}$/.test(given ?? ''))
    return undefined;
  const { rows } = await pool.query<Identity & { readonly hash: string }>(
    `select id as actor, project, rights, hash from skillwright.keys
     where id = $1 and revoked_at is null and $2::bigint > extract(epoch from now())`,
    [key, expires],
  );
  const [signer] = rows;
  if (signer === undefined) return undefined;
  const expected = Buffer.from(signature(signer.hash, pathname, expires ?? ''), 'hex');
  if (!timingSafeEqual(expected, Buffer.from(given ?? '', 'hex'))) return undefined;
  const { actor, project } = signer;
  return { actor, project, rights: hasRight(signer, 'read') ? ['read'] : [] };
}

function signature(hash: string, path: string, expires: string): string {
  return createHmac('sha256', hash).update(`${path}\n${expires}`).digest('hex');
}
