/** Opens what servers and workers of a fleet share: the database, the queue and the contents. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { isSkillError } from '#core';
import { openTableContents, recordedContents, rememberingContents, type ContentStore } from './content-store.ts';
import { RETRY_MS, ioFailed, openDatabase, reasonText, type Database } from './database.ts';
import { loadDbos, openQueue, type Queue } from './queue.ts';
import { SCHEMA_VERSION, migrate } from './migrations.ts';
import { openS3Contents } from './s3-contents.ts';

export interface FleetOptions {
  readonly database: string;
  /** `s3://bucket[/prefix]` (default: contents are kept in the database). */
  readonly artifacts?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Connections to the database (default: 10). */
  readonly connections?: number;
}

export interface Fleet {
  readonly url: string;
  readonly pool: Database;
  readonly queue: Queue;
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
    const queue = await openQueue(database, pool);
    const close = async (): Promise<void> => {
      await queue.destroy();
      await pool.end();
    };
    return { url: database, pool, queue, contents: rememberingContents(store), close };
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
      // The tables of DBOS too, which announces that on stdout.
      await migrate(pool, SCHEMA_VERSION, async () => (await loadDbos()).DBOS.migrate(database));
      return;
    } catch (error) {
      if (isSkillError(error)) throw error;
      if (tries >= MAX_TRIES)
        throw ioFailed(
          `the tables cannot be created or upgraded: ${reasonText(error)}`,
          'check that the user owns the database and may create schemas, and try again: skillwright fleet migrate',
          { path: 'skillwright.migrations', error },
        );
      await sleep(RETRY_MS * tries);
    }
  }
}
