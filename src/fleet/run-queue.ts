/** The queue that hands runs to workers. A place in it is added in the transaction that changes the run. */
import type { Pool, PoolClient } from 'pg';

export interface QueuedRun {
  readonly run: string;
  readonly attempt: number;
}

export interface LostRun extends QueuedRun {
  readonly isWorkerSilent: boolean;
}

interface QueueEntry extends QueuedRun {
  readonly project: string;
  readonly priority: number;
  readonly delaySeconds?: number;
  /** The run goes before those that were submitted later (default: now). */
  readonly submittedAt?: Date;
}

/** A page of places in the queue. `next` is undefined after the last one. */
export interface QueuePage {
  readonly entries: readonly QueuedRun[];
  readonly next: unknown;
}

export interface RunQueue {
  add(client: PoolClient, entry: QueueEntry): Promise<void>;
  /** Attempts that were handed to a worker which is silent now, or long ago to another one. Those that were claimed are among them. */
  lost(client: PoolClient, silentSeconds: number): Promise<readonly LostRun[]>;
  /** Those that no worker was handed or will be handed: their place is finished, cancelled or was never there. */
  missing(client: Pool | PoolClient, entries: readonly QueuedRun[]): Promise<readonly QueuedRun[]>;
  /** Places that no worker was handed yet, in the order of an index. */
  waiting(client: Pool | PoolClient, page: { readonly after: unknown; readonly limit: number }): Promise<QueuePage>;
  /** Gives the times of schedules to other workers that a worker took which is silent now. */
  resumeSchedules(client: Pool | PoolClient, silentSeconds: number): Promise<void>;
  /** Removes an attempt that no worker has to work on any more. */
  forget(entry: QueuedRun): Promise<void>;
}
