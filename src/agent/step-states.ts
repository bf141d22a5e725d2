import type { Plan } from '#core';
/** The plan of an agent (AGT-3): created with its first decision, then replaced or patched. */

export const STEP_STATES = [
  'pending',
  'in_progress',
  'completed',
] as const satisfies readonly Plan['steps'][number]['status'][];
