/** Opens what servers and workers of a fleet share: the database, the queue and the contents. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { isSkillError, SkillError } from '#core';
import { openTableContents, recordedContents, rememberingContents, type ContentStore } from './content-store.ts';
import { RETRY_MS, openDatabase, type Database } from './database.ts';
import { migrateQueue } from './dbos-queue.ts';
import { SCHEMA_VERSION, migrate } from './migrations.ts';
import { openS3Contents } from './s3-contents.ts';

export interface FleetOptions {
  /** `postgres://...` */
  readonly database: string;
  /** `s3://bucket[/prefix]` (default: contents are kept in the database). */
  readonly artifacts?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Connections to the database (default: 10). */
  readonly connections?: number;
}

export interface Fleet {
  readonly pool: Database;
  readonly contents: ContentStore;
  close(): Promise<void>;
}

/** Brings the tables to this version first. Several processes may do that at once. */
export async function openFleet({ database, artifacts, env, connections = 10 }: FleetOptions): Promise<Fleet> {
  const pool = await openDatabase(database, { size: connections });
  try {
    await upgradeTables(pool, database);
    const store =
      artifacts === undefined
        ? openTableContents(pool)
        : recordedContents(pool, await openS3Contents({ address: artifacts, env }));
    const contents = rememberingContents(store);
    return { pool, contents, close: () => pool.end() };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

const MAX_TRIES = 5;

/** Upgrades of earlier versions and of other programs with DBOS do not take the lock, so a conflict with one is tried again. */
async function upgradeTables(pool: Pool, database: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await migrate(pool, SCHEMA_VERSION, () => migrateQueue(database));
      return;
    } catch (error) {
      if (isSkillError(error)) throw error;
      if (tries >= MAX_TRIES) throw notUpgraded(error);
      await sleep(RETRY_MS * tries);
    }
  }
}

function notUpgraded(error: unknown): SkillError {
  const cause = error instanceof Error ? error.message : String(error);
  return new SkillError({
    code: 'io/failed',
    message: `the tables cannot be created or upgraded: ${cause}`,
    hint: 'check that the user owns the database and may create schemas, and try again: skillwright fleet migrate',
    data: { path: 'skillwright.migrations', cause },
    cause: error,
  });
}
