import type { ModelAnswer } from '#core';

/** Why a model stopped. */
export const FINISHES = [
  'stop',
  'tool-calls',
  'length',
  'filtered',
  'other',
] as const satisfies readonly ModelAnswer['finish'][];
