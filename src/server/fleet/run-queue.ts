/** The queue that hands runs to workers. A place in it is added in the transaction that changes the run. */
import type { PoolClient } from 'pg';

export interface QueuedRun {
  readonly run: string;
  readonly attempt: number;
}

export interface LostRun extends QueuedRun {
  readonly isWorkerSilent: boolean;
}

export interface QueueEntry extends QueuedRun {
  readonly project: string;
  readonly priority: number;
  readonly delaySeconds?: number;
}

export interface RunQueue {
  add(client: PoolClient, entry: QueueEntry): Promise<void>;
  /** Attempts that were handed to a worker which is silent now, or long ago to another one. Those that were claimed are among them. */
  lost(client: PoolClient, silentSeconds: number): Promise<readonly LostRun[]>;
  /** Removes an attempt that no worker has to work on any more. */
  forget(entry: QueuedRun): Promise<void>;
}
