import type { AgentOptions } from '#agent';
import type { Model } from '#core';
import type { RuntimeOptions } from '#runtime';
import type { ContentStore } from './content-store.ts';
import type { Database } from './database.ts';
import type { QueueLimits } from './dbos-queue.ts';
import type { RunAttempt } from './stored-attempt.ts';

export interface WorkerOptions {
  readonly pool: Database;
  readonly url: string;
  readonly contents: ContentStore;
  /** Opens the model of a run. */
  readonly openModel: () => Promise<Model>;
  /** A folder of this worker: fetched skills stay in it, records leave it with their run. */
  readonly directory: string;
  /** Options of every run: execution and policy. */
  readonly run?: AgentOptions['run'];
  /** Configuration of every run. */
  readonly settings?: Pick<RuntimeOptions, 'config' | 'configFile'>;
  /** Runs at the same time (default: 4). */
  readonly slots?: number;
  readonly limits?: Partial<QueueLimits>;
  /** Runs attempts of evaluations (default: they fail). */
  readonly runAttempt?: RunAttempt;
  readonly onNote?: (note: string) => void;
}
