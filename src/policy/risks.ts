import type { Decision } from '#core';
/** Lowest first. */
export const RISKS = ['low', 'medium', 'high'] as const satisfies readonly Decision['risk'][];
