import type { Surroundings } from '#core';
import type { RunStarter } from './run-starter.ts';
import type { RunServerLimits, RunServerOptions } from './server-options.ts';

export interface SkillContext {
  readonly options: Pick<RunServerOptions, 'runtime' | 'reach' | 'price'>;
  readonly surroundings: Surroundings;
}

export interface ServerContext extends SkillContext {
  readonly options: RunServerOptions;
  readonly limits: RunServerLimits;
  readonly closing: AbortSignal;
  readonly starter: RunStarter;
}
