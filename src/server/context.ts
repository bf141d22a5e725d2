import type { Surroundings } from '../core/config/loaded-config.ts';
import type { RunStarter } from './run-starter.ts';
import type { RunServerLimits, RunServerOptions } from './server-options.ts';

/** What the routes share. */
export interface ServerContext {
  readonly options: RunServerOptions;
  readonly limits: RunServerLimits;
  readonly surroundings: Surroundings;
  readonly closing: AbortSignal;
  readonly starter: RunStarter;
}
