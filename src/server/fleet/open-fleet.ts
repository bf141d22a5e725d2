/** Opens what servers and workers of a fleet share: the database, the queue and the contents. */
import type { ContentStore } from './content-store.ts';
import { openTableContents, recordedContents, rememberingContents } from './content-store.ts';
import { openDatabase } from './database.ts';
import type { Database } from './database.ts';
import { migrateQueue } from './dbos-queue.ts';
import { migrate } from './migrations.ts';
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
    await migrate(pool);
    await migrateQueue(database);
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
