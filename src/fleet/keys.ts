/**
 * Who may do what, and who did what. API keys are shown once, stored as a hash, and bound to one project and to rights. The audit has a row for
 * each act that changes something, queryable by SQL.
 */
import { randomBytes } from 'node:crypto';

import type { Pool } from 'pg';
import type { z } from 'zod';

import { invalidInput, quoted } from '#core';
import { sha256 } from '#platform';
import { httpError } from '#server';
import type { AuditList, Key, RIGHTS } from './api.ts';
import type { Submitter } from './queue.ts';

export type Right = (typeof RIGHTS)[number];

/** The actor is the id of the key. */
export interface Identity extends Submitter {
  readonly rights: readonly Right[];
}

export function hasRight({ rights }: Identity, right: Right): boolean {
  return rights.includes(right) || rights.includes('admin');
}

/** Throws a 403 if the key has no such right. */
export function needRight(identity: Identity, right: Right): void {
  if (!hasRight(identity, right))
    throw httpError(403, `this key has no right to ${right}`, `use a key with the right ${right}`);
}

type ApiKey = z.input<typeof Key>;

const COLUMNS = 'id, name, project, rights, created_at as "createdAt", revoked_at as "revokedAt"';

/** Creates a project if it does not exist. Throws `input/invalid` for a malformed name. */
export async function ensureProject(pool: Pool, project: string): Promise<void> {
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/.test(project))
    throw invalidInput(
      `${quoted(project)} is not a project name`,
      'a name such as docs-team',
      'use lower-case letters, digits, dots, hyphens and underscores, at most 63',
    );
  await pool.query('insert into skillwright.projects (name) values ($1) on conflict do nothing', [project]);
}

/** Returns the key itself, which cannot be read again. `actor` is for the audit. */
export async function createKey(
  pool: Pool,
  { name, project, rights }: Pick<ApiKey, 'name' | 'project'> & { readonly rights: readonly Right[] },
  actor: string,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  if (!/\S/.test(name) || name.length > 100)
    throw invalidInput(`${quoted(name)} is not a name of a key`, 'a name of 1 to 100 characters, such as ci');
  await ensureProject(pool, project);
  const id = randomBytes(6).toString('hex');
  const secret = `sw_${id}_${randomBytes(32).toString('base64url')}`;
  const { rows } = await pool.query<ApiKey>(
    `insert into skillwright.keys (id, name, hash, project, rights) values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
    [id, name, sha256(secret), project, rights],
  );
  const [key] = rows;
  if (key === undefined) throw new TypeError('the key was not stored');
  await recordAct(pool, { actor, project }, { act: 'key-create', target: id, detail: { name, rights } });
  return { key, secret };
}

export async function listKeys(pool: Pool, project: string): Promise<readonly ApiKey[]> {
  const { rows } = await pool.query<ApiKey>(
    `select ${COLUMNS} from skillwright.keys where project = $1 order by created_at`,
    [project],
  );
  return rows;
}

/** Returns false if the project has no such key. */
export async function revokeKey(pool: Pool, owner: Submitter, id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update skillwright.keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and project = $2',
    [id, owner.project],
  );
  if (rowCount === 1) await recordAct(pool, owner, { act: 'key-revoke', target: id });
  return rowCount === 1;
}

export async function hasKeys(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select 1 from skillwright.keys where revoked_at is null limit 1');
  return rowCount === 1;
}

/** A key that was looked up is used this long without asking again, so a revoked key works no longer than this. */
const REMEMBERED_MS = 1_000;
const MAX_REMEMBERED = 1_000;

/** Finds who a key belongs to. Looking up the hash leaks nothing about other keys. */
export function openKeyring(pool: Pool): (secret: string) => Promise<Identity | undefined> {
  const known = new Map<string, { readonly identity: Identity | undefined; readonly until: number }>();
  return async (secret) => {
    if (!/^sw_[0-9a-f]{12}_[\w-]{43}$/.test(secret)) return undefined;
    const hash = sha256(secret);
    const remembered = known.get(hash);
    if (remembered !== undefined && remembered.until > performance.now()) return remembered.identity;
    const { rows } = await pool.query<Identity>(
      'select id as actor, project, rights from skillwright.keys where hash = $1 and revoked_at is null',
      [hash],
    );
    const [identity] = rows;
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(hash, { identity, until: performance.now() + REMEMBERED_MS });
    return identity;
  };
}

type AuditEntry = z.input<typeof AuditList>['acts'][number];

export async function recordAct(
  pool: Pool,
  { actor, project }: Submitter,
  act: { readonly act: string; readonly target: string; readonly detail?: object },
): Promise<void> {
  await pool.query('insert into skillwright.audit (actor, project, act, target, detail) values ($1, $2, $3, $4, $5)', [
    actor,
    project,
    act.act,
    act.target,
    act.detail ?? {},
  ]);
}

/** The newest acts of a project; `before` is the last one of the page before. */
export async function newestActs(
  pool: Pool,
  project: string,
  { limit = 50, before }: { readonly limit?: number; readonly before?: number } = {},
): Promise<readonly AuditEntry[]> {
  const { rows } = await pool.query<AuditEntry>(
    `select id, at, actor, act, target, detail from skillwright.audit
     where project = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [project, before ?? null, limit],
  );
  return rows;
}
