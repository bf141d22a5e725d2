import type { Pool } from 'pg';

import type { HostPattern, Surroundings } from '#core';
import type { Runtime } from '#runtime';
import type { ContentStore } from './content-store.ts';
import type { RunQueue } from './run-queue.ts';
import type { Schedules } from './schedules.ts';
import type { RecordFolders } from './stored-records.ts';

/** What the console shows besides runs: the skills that submitted runs get, and the rules of this folder. */
export interface FleetPage {
  readonly runtime: Runtime;
  readonly surroundings: Surroundings;
  /** Folder of the built page. */
  readonly pages: string;
}

/** What the routes share. */
export interface FleetContext {
  readonly pool: Pool;
  readonly queue: RunQueue;
  readonly contents: ContentStore;
  /** A folder of this server, for records that are read. */
  readonly base: string;
  readonly folders: RecordFolders;
  readonly page: FleetPage;
  readonly schedules: Schedules;
  /** The skills of a run that is submitted now. */
  readonly skillSet: () => Promise<string>;
  /** Hosts that are not on the internet and may get webhooks (default: none). */
  readonly webhooksTo?: readonly HostPattern[];
}
