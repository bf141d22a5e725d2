/** The queue that hands runs to workers. A place in it is added in the transaction that changes the run. */
import type { Pool, PoolClient } from 'pg';

export interface QueuedRun {
  readonly run: string;
  readonly attempt: number;
}

export interface QueueEntry extends QueuedRun {
  readonly project: string;
  readonly priority: number;
  readonly delaySeconds?: number;
}

export interface RunQueue {
  add(client: PoolClient, entry: QueueEntry): Promise<void>;
  /** Attempts that were handed to workers which are silent now, or long ago. Those that were claimed are among them. */
  lost(client: PoolClient, silentSeconds: number): Promise<readonly QueuedRun[]>;
  /** Attempts whose worker has not been seen for a while. At most 100. */
  abandoned(pool: Pool, silentSeconds: number): Promise<readonly QueuedRun[]>;
  /** Removes an attempt that no worker has to work on any more. */
  forget(entry: QueuedRun): Promise<void>;
}
